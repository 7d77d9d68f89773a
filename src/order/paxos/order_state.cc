// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/order_state.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {

std::uint64_t stamp_of(const wire::ValueHead& head, ByteView bytes, bool placed) {
  if (head.kind != wire::ValueKind::unit) return head.number;
  wire::Placing placing;
  const bool says = placed && wire::decode_placing(bytes, placing) == wire::Drop::none;
  return says ? placing.stamp : 0;
}

void add_to(Digest& digest, const Round& round) {
  digest.add(round.count);
  digest.add(round.coordinator.node.value);
  digest.add(round.coordinator.epoch);
}

void add_to(Digest& digest, const Value& value) {
  digest.add(static_cast<std::uint64_t>(value.head.kind));
  digest.add(static_cast<std::uint64_t>(value.head.service));
  digest.add(value.head.view);
  digest.add(value.head.origin.node.value);
  digest.add(value.head.origin.epoch);
  digest.add(value.head.number);
  digest.add(value.bytes.view());
}

std::size_t OrderState::index_of(const MemberId& member) const {
  const auto at = std::lower_bound(
      at_.members.begin(), at_.members.end(), member,
      [](const wire::ViewMember& each, const MemberId& wanted) { return each.member < wanted; });
  if (at == at_.members.end() || at->member != member) return kNobody;
  return static_cast<std::size_t>(at - at_.members.begin());
}

OrderState::Outcome OrderState::apply(const wire::ValueHead& head, ByteView bytes,
                                      std::uint64_t stamp) {
  PEAL_ASSERT(known());
  ++at_.next;
  at_.key = std::max(stamp <= wire::kStampMax ? stamp : 0, at_.key + 1);
  switch (head.kind) {
    case wire::ValueKind::nothing: return Outcome::ignored;
    case wire::ValueKind::unit: {
      if (head.view != at_.view.number && !PEAL_MUTANT(px_old_view_counts)) return Outcome::ignored;
      const std::size_t index = index_of(head.origin);
      if (index == kNobody) return Outcome::ignored;
      std::uint64_t& units = at_.numbers[index];
      if (head.number != units + 1 && !PEAL_MUTANT(px_twice)) return Outcome::ignored;
      units = head.number;
      return Outcome::unit;
    }
    case wire::ValueKind::view: {
      std::vector<wire::ViewMember> members;
      if (head.view != next_view()) return Outcome::ignored;
      if (wire::decode_view_members(bytes, members) != wire::Drop::none) return Outcome::ignored;
      at_.view = {head.view, head.origin};
      at_.members = std::move(members);
      at_.numbers.assign(at_.members.size(), 0);
      return Outcome::view;
    }
    case wire::ValueKind::nodes: {
      wire::Nodes nodes = at_.nodes;
      nodes.number = head.view;
      if (head.view != at_.nodes.number + 1) return Outcome::ignored;
      if (wire::decode_nodes(bytes, nodes) != wire::Drop::none) return Outcome::ignored;
      at_.nodes = std::move(nodes);
      return Outcome::nodes;
    }
  }
  PEAL_ASSERT(false && "unknown kind of value");
}

void OrderState::add_to(Digest& digest) const {
  digest.add(at_.next);
  digest.add(at_.key);
  digest.add(at_.nodes.number);
  digest.add(at_.nodes.hash);
  for (const std::uint64_t epoch : at_.nodes.lives) digest.add(epoch);
  digest.add(at_.view.number);
  digest.add(at_.view.representative.node.value);
  digest.add(at_.view.representative.epoch);
  digest.add(at_.members.size());
  for (std::size_t i = 0; i < at_.members.size(); ++i) {
    digest.add(at_.members[i].member.node.value);
    digest.add(at_.members[i].member.epoch);
    digest.add(at_.members[i].came_from);
    digest.add(at_.numbers[i]);
  }
}

}  // namespace peal::order::paxos
