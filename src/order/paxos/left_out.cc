// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/left_out.h"

#include <algorithm>
#include <utility>

#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// True if the member may still need values below `end`. Also true as long as this node has not
/// heard the member, for example after a restart of this node.
bool needs_until(const Peers& peers, const MemberId& member, Instance end) {
  const Peer* peer = peers.find(member.node);
  if (peer == nullptr || peer->member.epoch > member.epoch) return false;
  if (peer->member != member || !peer->has_state) return true;  // the member was not heard yet
  return peer->state.next < end && !peer->state.leaving;
}

bool is_of(const OwedRange& range, const OwedPart& part) {
  if (PEAL_MUTANT(px_owed_of_any_order)) return range.part.ensemble == part.ensemble;
  return range.part == part;
}

}  // namespace

LeftOut::LeftOut(std::uint64_t bytes_max, port::Log* log) : ranges_(bytes_max) {
  if (log != nullptr) log_.emplace(*log, ranges_);
}

bool LeftOut::restore(std::span<const std::uint8_t> parts) { return !log_ || log_->replay(parts); }

void LeftOut::keep(const OwedPart& part, MemberSet members, Instance first, const Store& store) {
  first = std::max(first, store.oldest());
  if (first >= store.next()) return;
  // If a range is retained for the same members, and contains `first` or ends at `first`, that
  // range grows up to the end of this view.
  std::deque<OwedRange>& all = ranges_.all();
  const auto same = std::find_if(all.begin(), all.end(), [&](const OwedRange& range) {
    return range.part == part && range.members == members && range.first <= first &&
           range.end() >= first;
  });
  OwedRange range;
  if (same == all.end()) {
    range.id = ranges_.new_id();
    range.part = part;
    range.members = std::move(members);
    range.first = first;
  } else {
    range = ranges_.take(same);
  }
  std::uint64_t bytes = 0;
  for (Instance k = range.end(); k < store.next(); ++k) bytes += store.decided(k)->bytes.size();
  const std::uint64_t count = store.next() - std::min(range.end(), store.next());
  const std::uint64_t more = bytes + count * sizeof(OwedRange::Kept);
  // Perhaps the members lack only the values that are retained for them already. New values that do
  // not fit must not replace those values.
  if (ranges_.make_room(range.memory() + more)) {
    range.bytes.reserve(range.bytes.size() + bytes);
    range.values.reserve(range.values.size() + count);
    while (range.end() < store.next()) {
      const Store::Decided value = *store.decided(range.end());
      range.add(value.head, value.bytes);
    }
    PEAL_PROBE("paxos.kept_for_left_out");
  } else {
    ranges_.note_dropped(range.members, count);
  }
  if (!range.values.empty()) ranges_.push(std::move(range));
}

void LeftOut::look(const OwedPart& part, const Peers& peers) {
  std::deque<OwedRange>& all = ranges_.all();
  for (auto range = all.begin(); range != all.end();) {
    const bool needed =
        range->part.ensemble != part.ensemble ||
        (is_of(*range, part) &&
         std::any_of(range->members.begin(), range->members.end(), [&](const MemberId& member) {
           return needs_until(peers, member, range->end());
         }));
    range = needed ? std::next(range) : ranges_.erase(range);
  }
}

std::optional<Store::Decided> LeftOut::decided(const OwedPart& part, Instance instance) const {
  for (const OwedRange& range : ranges_.all()) {
    if (!is_of(range, part) || instance < range.first || instance >= range.end()) continue;
    const OwedRange::Kept& kept = range.values[instance - range.first];
    return Store::Decided{kept.head, range.bytes_of(kept)};
  }
  return std::nullopt;
}

void LeftOut::write() {
  if (log_) log_->write();
}

void LeftOut::add_to(Digest& digest) const {
  for (const OwedRange& range : ranges_.all()) {
    digest.add(range.part.ensemble);
    digest.add(range.part.order);
    digest.add(range.first);
    digest.add(range.values.size());
    for (const MemberId& member : range.members) {
      digest.add(member.node.value);
      digest.add(member.epoch);
    }
  }
  if (log_) log_->add_to(digest);
}

}  // namespace peal::order::paxos
