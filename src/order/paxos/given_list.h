// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/digest.h"
#include "order/engine.h"
#include "order/paxos/order_state.h"
#include "order/paxos/peers.h"

namespace peal::order::paxos {

/// The pending list of nodes, which this node received from its file or while it runs. The change
/// to that list is a decided value (README.md). This class only determines when a coordinator may
/// propose that value, and what the change waits for.
class GivenList {
 public:
  /// `lag`: a node that lags by more instances is not up to date. Members of the view always count
  /// as up to date.
  GivenList(NodeList list, Instance lag) : list_(std::move(list)), lag_(lag) {}

  void give(NodeList list) { list_ = std::move(list); }
  const NodeList& list() const { return list_; }
  /// The pending list; null if it is the active one.
  const NodeList* next(const OrderState& state) const {
    return list_.hash == state.nodes().hash ? nullptr : &list_;
  }
  /// What the change to next() waits for, as far as this node knows.
  NodesWait waits(const OrderState& state, const Peers& peers) const;

  /// The value that makes list() active. It names the present incarnation of each acceptor that is
  /// up to date, even if the acceptor is amnesiac: no incarnation has promised or voted in rounds
  /// of that list yet. For an acceptor that is not heard, or that lags, the value names the same
  /// incarnation as the active list, because the acceptor may return with all its votes.
  wire::Nodes value(const OrderState& state, const Peers& peers) const;

  /// True if an acceptor of the active list is heard and up to date, but the list names another
  /// incarnation of it.
  bool wants_lives(const OrderState& state, const Peers& peers) const;
  /// The active list with the present incarnations of its acceptors: a value that lets amnesiac
  /// acceptors vote again.
  wire::Nodes renewed(const OrderState& state, const Peers& peers) const;

  /// True if list() contains all members that seem alive.
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

/// Converts a list of nodes to a value.
wire::Nodes nodes_of(const NodeList& list);

}  // namespace peal::order::paxos
