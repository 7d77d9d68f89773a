// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/next_view.h"

namespace peal::order::paxos {
namespace {

// A node with a pending list may not know all members. It is admitted if this node has the same
// pending list, and all members that seem alive are in that list.
bool may_come(const Parts& parts, const OrderState& tip, const Peer& peer) {
  const NodeList* next = parts.given.next(parts.state);
  const std::uint64_t own = next == nullptr ? 0 : next->hash;
  const std::uint64_t its = peer.self ? own : peer.state.next_list;
  return its == 0 || (its == own && parts.given.holds_all(tip.members(), parts.peers));
}

}  // namespace

bool is_served(const Parts& parts, const Peer& peer, Instant now) {
  return peer.self || (!peer.suspected && peer.serve && !parts.peers.is_stuck(now, peer));
}

// A member of the view stays while is_served() is true for it. Other nodes are admitted once they
// are nearly up to date. If such a node was in a view before, it must have consumed the end of that
// view, so that it has nothing of that view left to deliver.
std::vector<wire::ViewMember> wanted_members(const Parts& parts, const ViewBasis& basis) {
  const OrderState& tip = basis.tip;
  std::vector<wire::ViewMember> wanted;
  for (const Peer& peer : parts.peers.all()) {
    if (!peer.listed || peer.state.leaving || !is_served(parts, peer, basis.now)) continue;
    if (tip.has(peer.member)) {
      wanted.push_back({peer.member, tip.view().number});
      continue;
    }
    const Instance next = peer.self ? parts.state.next() : peer.state.next;
    if (next == 0) continue;
    if (peer.state.visiting || peer.state.disk_hangs || !may_come(parts, tip, peer)) continue;
    const bool finished = !peer.state.joined && next > basis.view_at;
    if (!finished || next + join_lag(parts.config.options) < parts.state.next()) continue;
    wanted.push_back({peer.member, peer.state.view});
  }
  return wanted;
}

}  // namespace peal::order::paxos
