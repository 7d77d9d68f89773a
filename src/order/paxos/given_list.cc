// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/given_list.h"

#include <algorithm>

namespace peal::order::paxos {
namespace {

bool holds(const std::vector<NodeId>& nodes, NodeId node) {
  return std::binary_search(nodes.begin(), nodes.end(), node);
}

/// The incarnation that the list names for this acceptor; 0: the node is not an acceptor of the
/// list.
std::uint64_t life_of(const wire::Nodes& nodes, NodeId node) {
  const auto at = std::lower_bound(nodes.acceptors.begin(), nodes.acceptors.end(), node);
  if (at == nodes.acceptors.end() || *at != node) return 0;
  return nodes.lives[static_cast<std::size_t>(at - nodes.acceptors.begin())];
}

/// The acceptor incarnation that the peer reports, if the peer knows the active list. Otherwise
/// returns `named`, because the peer's report may be late, and name an earlier incarnation than the
/// list does.
std::uint64_t life_said(const OrderState& state, const Peer& peer, std::uint64_t named) {
  const bool knows = peer.self || (peer.has_state && peer.state.list == state.nodes().number &&
                                   peer.state.first_list == state.nodes().first);
  return knows && peer.has_life != 0 ? peer.has_life : named;
}

}  // namespace

wire::Nodes nodes_of(const NodeList& list) {
  wire::Nodes nodes;
  nodes.first = nodes.hash = list.hash;
  nodes.all = list.nodes;
  nodes.acceptors = list.acceptors;
  return nodes;
}

bool GivenList::has(NodeId node) const { return holds(list_.nodes, node); }

bool GivenList::holds_all(const std::vector<wire::ViewMember>& members, const Peers& peers) const {
  return std::all_of(members.begin(), members.end(), [&](const wire::ViewMember& each) {
    const Peer* peer = peers.find(each.member.node);
    const bool stays =
        peer != nullptr && peer->member == each.member && !peer->suspected && !peer->state.leaving;
    return !stays || has(each.member.node);
  });
}

/// True if the peer knows this order and is nearly up to date.
bool GivenList::is_near(const OrderState& state, const Peer& peer) const {
  if (peer.self || state.has(peer.member)) return true;
  return peer.state.next != 0 && peer.state.next + lag_ >= state.next();
}

bool GivenList::is_able(const OrderState& state, const Peer* peer) const {
  if (peer == nullptr || peer->suspected || peer->state.leaving) return false;
  if (peer->silent) return false;
  return wants(*peer) && is_near(state, *peer);
}

wire::Nodes GivenList::value(const OrderState& state, const Peers& peers) const {
  wire::Nodes nodes = nodes_of(list_);
  for (const NodeId node : nodes.acceptors) {
    const Peer* peer = peers.find(node);
    const std::uint64_t named = life_of(state.nodes(), node);
    nodes.lives.push_back(is_able(state, peer) ? life_said(state, *peer, named) : named);
  }
  return nodes;
}

/// The incarnation in which the acceptor with this index is to vote: the one that the acceptor
/// reports, if it is heard and nearly up to date. Otherwise the one that the active list names.
std::uint64_t GivenList::life_now(const OrderState& state, const Peers& peers,
                                  std::size_t index) const {
  const wire::Nodes& nodes = state.nodes();
  const Peer* peer = peers.find(nodes.acceptors[index]);
  const bool heard = peer != nullptr && !peer->suspected && peer->has_state && !peer->state.leaving;
  // An acceptor that knows this order takes no part in the bootstrap of another one, whatever it
  // reported before.
  const bool comes = heard && is_near(state, *peer);
  return comes ? life_said(state, *peer, nodes.lives[index]) : nodes.lives[index];
}

bool GivenList::wants_lives(const OrderState& state, const Peers& peers) const {
  const auto& lives = state.nodes().lives;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    if (life_now(state, peers, i) != lives[i]) return true;
  }
  return false;
}

wire::Nodes GivenList::renewed(const OrderState& state, const Peers& peers) const {
  wire::Nodes nodes = state.nodes();
  for (std::size_t i = 0; i < nodes.lives.size(); ++i) nodes.lives[i] = life_now(state, peers, i);
  return nodes;
}

/// True if other nodes of the pending list are in the view, but none of them has this list. Then
/// the pending list is outdated. A new list that removes a node is given to all nodes that stay. An
/// outdated list remains at a single node.
bool GivenList::is_alone_with_it(const OrderState& state, const Peers& peers) const {
  bool any = false;
  for (const wire::ViewMember& each : state.members()) {
    const Peer* peer = peers.find(each.member.node);
    if (peer == nullptr || peer->self || !has(peer->node)) continue;
    if (wants(*peer)) return false;
    any = true;
  }
  return any;
}

// All members of the view must have the pending list, because they must know the addresses of its
// nodes. All members must also be nodes of the pending list, because a removed node must have
// stopped. Majorities of the list's nodes and of its acceptors must be heard and up to date, so
// that they can continue at once.
NodesWait GivenList::waits(const OrderState& state, const Peers& peers) const {
  using Kind = NodesWait::Kind;
  if (next(state) == nullptr) return {};
  if (!state.known() || state.view().number == 0) return {Kind::view, {}};
  // A majority of the new acceptors must be nodes of the active list. Otherwise acceptors that
  // never heard of this cluster's order could bootstrap another order.
  const auto strangers =
      std::count_if(list_.acceptors.begin(), list_.acceptors.end(),
                    [&state](NodeId node) { return !holds(state.nodes().all, node); });
  const auto majority = static_cast<std::ptrdiff_t>(list_.acceptors.size() / 2 + 1);
  if (strangers >= majority) return {Kind::strangers, {}};
  for (const wire::ViewMember& each : state.members()) {
    if (has(each.member.node)) continue;
    return {is_alone_with_it(state, peers) ? Kind::outdated : Kind::running, each.member};
  }
  for (const wire::ViewMember& each : state.members()) {
    const Peer* peer = peers.find(each.member.node);
    if (peer == nullptr || peer->member != each.member || !wants(*peer)) {
      return {Kind::member, each.member};
    }
  }
  const auto able = [&](const Peer* peer) { return is_able(state, peer); };
  std::ptrdiff_t ready = 0;
  bool all_live = true;
  MemberId silent;
  for (const NodeId node : list_.acceptors) {
    const Peer* peer = peers.find(node);
    if (able(peer) && life_said(state, *peer, life_of(state.nodes(), node)) != 0) {
      ++ready;
      continue;
    }
    const MemberId who{node, peer == nullptr ? 0 : peer->member.epoch};
    // A new acceptor must be heard, because it has to report its incarnation.
    const bool live = life_of(state.nodes(), node) != 0;
    if (silent == MemberId{} || (all_live && !live)) silent = who;
    all_live = all_live && live;
  }
  if (ready < majority || !all_live) return {Kind::acceptor, silent};
  const auto present = static_cast<std::size_t>(
      std::count_if(peers.all().begin(), peers.all().end(),
                    [&](const Peer& peer) { return has(peer.node) && able(&peer); }));
  return {present * 2 > list_.nodes.size() ? Kind::nothing : Kind::majority, {}};
}

}  // namespace peal::order::paxos
