// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/waiting_units.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// Maximum number of gaps in members' units that are requested at a time. Further gaps are
/// requested later.
constexpr std::size_t kGapsMax = 64;

}  // namespace

void WaitingUnits::begin_view() {
  units_.assign(tip_.members().size(), {});
  came_.assign(tip_.members().size(), {});
  gaps_.clear();  // the gaps name members of the previous view
}

bool WaitingUnits::take(const wire::ValueHead& head, const BufferRef& bytes, bool fresh,
                        std::uint64_t stamp) {
  if (head.view != tip_.view().number) return false;
  const std::size_t index = tip_.index_of(head.origin);
  if (index == OrderState::kNobody) return false;
  const std::uint64_t placed = tip_.units_of(index);
  if (head.number <= placed || head.number - placed > p_.config.options.member_window) return false;
  if (!units_[index].emplace(head.number, Waiting{bytes, head.service, fresh, stamp}).second) {
    return false;
  }
  note_came(index, head.number);
  return true;
}

// Notes the gap before the unit, if there is one: a member's units arrive in order, unless some are
// lost.
void WaitingUnits::note_came(std::size_t index, std::uint64_t number) {
  Came& came = came_[index];
  const std::uint64_t next = std::max(came.newest, tip_.units_of(index)) + 1;
  if (number > next && gaps_.size() < kGapsMax) gaps_.push_back({index, next, number});
  came.newest = std::max(came.newest, number);
}

void WaitingUnits::look_for_gaps() {
  for (std::size_t index = 0; index < units_.size(); ++index) {
    const std::uint64_t next = tip_.units_of(index) + 1;
    const auto first = units_[index].begin();
    const bool lacks = first != units_[index].end() && first->first > next;
    const bool again = lacks && came_[index].gap == next;
    came_[index].gap = lacks ? next : 0;
    if (again && gaps_.size() < kGapsMax) gaps_.push_back({index, next, first->first});
  }
}

void WaitingUnits::ask_for_gaps(Effects& out) {
  for (const Gap& gap : gaps_) {
    const NodeId from = tip_.members()[gap.index].member.node;
    if (from == p_.config.self.node) continue;  // this node has all units of its own
    PEAL_PROBE("paxos.unit_lacking");
    const auto count = std::min<std::uint64_t>(gap.end - gap.first, wire::kLacksMax);
    const wire::Lacks lacks{tip_.view().number, gap.first, static_cast<std::uint16_t>(count)};
    p_.outbox.send(from, Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
      return wire::encode_lacks(header, lacks, bytes);
    });
  }
  gaps_.clear();
}

bool WaitingUnits::has_next(std::size_t index) const {
  const auto first = units_[index].begin();
  return first != units_[index].end() && first->first == tip_.units_of(index) + 1;
}

std::optional<std::size_t> WaitingUnits::lowest() const {
  std::optional<std::size_t> best;
  for (std::size_t index = 0; index < units_.size(); ++index) {
    if (has_next(index) && (!best || stamp_of(index) < stamp_of(*best))) best = index;
  }
  return best;
}

WaitingUnits::Next WaitingUnits::remove_next(std::size_t index) {
  PEAL_ASSERT(has_next(index));
  const auto first = units_[index].begin();
  Waiting unit = std::move(first->second);
  wire::ValueHead head;
  head.kind = wire::ValueKind::unit;
  head.service = unit.service;
  head.view = tip_.view().number;
  head.origin = tip_.members()[index].member;
  head.number = first->first;
  units_[index].erase(first);
  return {{head, std::move(unit.bytes)}, unit.fresh};
}

void WaitingUnits::check_invariants() const {
  PEAL_ASSERT(units_.size() == tip_.members().size() && came_.size() == units_.size());
  PEAL_ASSERT(gaps_.size() <= kGapsMax);
  for (std::size_t index = 0; index < units_.size(); ++index) {
    PEAL_ASSERT(units_[index].empty() || units_[index].rbegin()->first <= came_[index].newest);
  }
}

void WaitingUnits::add_to(Digest& digest) const {
  for (const auto& units : units_) {
    digest.add(units.size());
    for (const auto& [number, unit] : units) digest.add(number);
  }
  for (const Came& came : came_) {
    digest.add(came.newest);
    digest.add(came.gap);
  }
}

}  // namespace peal::order::paxos
