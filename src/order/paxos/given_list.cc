// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/given_list.h"

#include <algorithm>

namespace peal::order::paxos {
namespace {

bool holds(const std::vector<NodeId>& nodes, NodeId node) {
  return std::binary_search(nodes.begin(), nodes.end(), node);
}

/// 0: it is none of the acceptors.
std::uint64_t life_of(const wire::Nodes& nodes, NodeId node) {
  const auto at = std::lower_bound(nodes.acceptors.begin(), nodes.acceptors.end(), node);
  if (at == nodes.acceptors.end() || *at != node) return 0;
  return nodes.lives[static_cast<std::size_t>(at - nodes.acceptors.begin())];
}

/// The life that it has, if it knows the list that counts: else it may be a word of an incarnation
/// before, and the list names the later one.
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

/// It knows this order, and where it stands.
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

/// Of the acceptor with this index: the one that it has, if it is to vote in it.
std::uint64_t GivenList::life_now(const OrderState& state, const Peers& peers,
                                  std::size_t index) const {
  const wire::Nodes& nodes = state.nodes();
  const Peer* peer = peers.find(nodes.acceptors[index]);
  const bool heard = peer != nullptr && !peer->suspected && peer->has_state && !peer->state.leaving;
  // It knows this order already: what it said of beginning another one says nothing any more.
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

/// Others are in the view that the list has, and none of them was given it. Whoever removes a node
/// gives all the others a list without it; an outdated list is one node's alone.
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

// Members must know where the others of the list are, and who is removed must have stopped: so all
// of the view have been given the list, and are in it. Enough of those who come in must be there
// and up to date, so that they can go on together at once, without anybody who is not.
NodesWait GivenList::waits(const OrderState& state, const Peers& peers) const {
  using Kind = NodesWait::Kind;
  if (next(state) == nullptr) return {};
  if (!state.known() || state.view().number == 0) return {Kind::view, {}};
  // Else those who never heard of this cluster's order could begin one of their own.
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
    // One that comes in needs a life to vote in: it must be there to say which.
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
