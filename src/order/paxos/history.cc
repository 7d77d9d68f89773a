// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/history.h"

#include <algorithm>
#include <utility>

#include "base/hooks.h"
#include "order/member_set.h"
#include "order/paxos/ensemble.h"

namespace peal::order::paxos {

History::History(const Parts& parts)
    : p_(parts),
      own_(
          p_.config.left_out != nullptr
              ? nullptr
              : std::make_unique<LeftOut>(2 * p_.config.options.history_bytes_max, p_.config.owed)),
      retained_(p_.config.left_out != nullptr ? *p_.config.left_out : *own_) {}

bool History::restore() { return !own_ || own_->restore({&p_.config.part, 1}); }

std::optional<Store::Decided> History::decided(Instance instance) const {
  if (const auto known = p_.store.decided(instance)) return known;
  if (const auto retained = retained_.decided(part(), instance)) return retained;
  const auto word = p_.kept.find(instance);
  if (!word || !word->decided) return std::nullopt;
  return Store::Decided{word->head, word->bytes};
}

void History::send(NodeId to, Instance instance, bool again, Effects& out) {
  const auto known = decided(instance);
  if (!known) return;
  wire::ValueFrame frame;
  frame.instance = instance;
  frame.head = known->head;
  const BufferRef packet = p_.outbox.value_packet(wire::PaxosKind::decided, frame, known->bytes);
  if (!packet) return;
  // If an earlier packet was lost, perhaps packets on the data lane do not reach the node.
  const bool control = again && !PEAL_MUTANT(px_repairs_one_lane);
  out.send(to, control ? Lane::control : p_.outbox.lane_for(packet), packet);
  ++sent_;
}

// With several ensembles, the views of each ensemble end at other places than the merged views. So
// the merger also calls Ensemble::keep_for(), with the members that a merged view excluded.
void History::retain_for_excluded(const std::vector<wire::ViewMember>& before) {
  MemberSet excluded;
  for (const wire::ViewMember& each : before) {
    if (!p_.state.has(each.member)) excluded.push_back(each.member);
  }
  retain_for(excluded);
  if (p_.config.merger != nullptr && !excluded.empty()) p_.config.merger->on_excluded(excluded);
}

void History::retain_for(std::span<const MemberId> excluded) {
  if (!p_.state.known()) return;
  // The coordinator was never more than `most` instances ahead of a member that seemed alive.
  const Instance most = p_.config.options.max_gap + p_.config.options.window;
  const Instance next = p_.store.next();
  const Instance guess = next - std::min(most, next);
  MemberSet members;
  Instance first = next;
  for (const MemberId& member : excluded) {
    const Peer* peer = p_.peers.find(member.node);
    if (peer == nullptr || peer->self || peer->member.epoch > member.epoch) continue;
    const bool heard = peer->member == member && peer->has_state;
    // A member that leaves needs nothing. A member that is too far behind cannot be helped.
    if (heard && (peer->state.leaving || !reaches(peer->state.next))) continue;
    members.push_back(member);
    first = std::min(first, heard ? peer->state.next : guess);
  }
  if (members.empty()) return;
  retained_.keep(part(), std::move(members), first, p_.store);
  retained_.write();
}

/// Does this node have all values from `instance` on? Values that the history has dropped may be
/// retained for members that an earlier view excluded. If the first and the last of the dropped
/// values are retained, the values between them are retained too.
bool History::reaches(Instance instance) const {
  const Instance oldest = p_.store.oldest();
  return instance >= oldest ||
         (retained_.decided(part(), instance) && retained_.decided(part(), oldest - 1));
}

OwedPart History::part() const {
  return {p_.config.part, p_.state.known() ? p_.state.nodes().first : 0};
}

void History::look(ViewId view, Effects& out) {
  if (p_.state.known()) retained_.look(part(), p_.peers);
  for (const OwedRanges::Dropped& each : retained_.take_dropped()) {
    out.report({&event::owed_dropped, view, each.member, each.instances, 0});
  }
}

}  // namespace peal::order::paxos
