// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/digest.h"
#include "order/engine.h"
#include "order/paxos/order_state.h"
#include "order/paxos/peers.h"

namespace peal::order::paxos {

/// The list of nodes that this node was given, by its file or while it runs, and what keeps the
/// cluster from going over to it. Going over is decided like everything else (README.md): here is
/// only when a coordinator may propose it.
class GivenList {
 public:
  /// `lag`: who is further behind is not up to date; members of the view always are.
  GivenList(NodeList list, Instance lag) : list_(std::move(list)), lag_(lag) {}

  void give(NodeList list) { list_ = std::move(list); }
  const NodeList& list() const { return list_; }
  /// The list to go over to; null if it is the one that counts.
  const NodeList* next(const OrderState& state) const {
    return list_.hash == state.nodes().hash ? nullptr : &list_;
  }
  /// What going over to next() waits for, as far as is known here.
  NodesWait waits(const OrderState& state, const Peers& peers) const;

  /// The list as a value that takes the place of the one that counts. Acceptors are in it in the
  /// lives that they have now, those who forgot too: they are up to date, and have said nothing in
  /// its rounds. One that is not heard, or is behind, stays as it was: it may come back, with all
  /// its votes.
  wire::Nodes value(const OrderState& state, const Peers& peers) const;

  /// Does an acceptor have another life than the list that counts says, and is it heard and up to
  /// date?
  bool wants_lives(const OrderState& state, const Peers& peers) const;
  /// The list that counts, with its acceptors in the lives that they have now: a value that lets
  /// those vote again.
  wire::Nodes renewed(const OrderState& state, const Peers& peers) const;

  /// Are all members that seem alive in it?
  bool holds_all(const std::vector<wire::ViewMember>& members, const Peers& peers) const;

  void add_to(Digest& digest) const { digest.add(list_.hash); }

 private:
  bool wants(const Peer& peer) const { return peer.self || peer.state.next_list == list_.hash; }
  bool has(NodeId node) const;
  bool is_alone_with_it(const OrderState& state, const Peers& peers) const;
  bool is_near(const OrderState& state, const Peer& peer) const;
  std::uint64_t life_now(const OrderState& state, const Peers& peers, std::size_t index) const;
  bool is_able(const OrderState& state, const Peer* peer) const;

  NodeList list_;
  Instance lag_;
};

/// A list as a value: what it says of its nodes.
wire::Nodes nodes_of(const NodeList& list);

}  // namespace peal::order::paxos
