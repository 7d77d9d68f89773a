// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/given_list.h"

#include <algorithm>

namespace peal::order::paxos {
namespace {

bool holds(const std::vector<NodeId>& nodes, NodeId node) {
  return std::binary_search(nodes.begin(), nodes.end(), node);
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
    if (!has(each.member.node)) return {Kind::running, each.member};
  }
  for (const wire::ViewMember& each : state.members()) {
    const Peer* peer = peers.find(each.member.node);
    if (peer == nullptr || peer->member != each.member || !wants(*peer)) {
      return {Kind::member, each.member};
    }
  }
  const auto able = [&](const Peer* peer) {
    if (peer == nullptr || peer->suspected || peer->state.leaving) return false;
    if (peer->self || state.has(peer->member)) return wants(*peer);
    return wants(*peer) && peer->state.next != 0 && peer->state.next + lag_ >= state.next();
  };
  std::ptrdiff_t ready = 0;
  MemberId silent;
  for (const NodeId node : list_.acceptors) {
    const Peer* peer = peers.find(node);
    if (able(peer)) {
      ++ready;
    } else if (silent == MemberId{}) {
      silent = {node, peer == nullptr ? 0 : peer->member.epoch};
    }
  }
  if (ready < majority) return {Kind::acceptor, silent};
  const auto present = static_cast<std::size_t>(
      std::count_if(peers.all().begin(), peers.all().end(),
                    [&](const Peer& peer) { return has(peer.node) && able(&peer); }));
  return {present * 2 > list_.nodes.size() ? Kind::nothing : Kind::majority, {}};
}

}  // namespace peal::order::paxos
