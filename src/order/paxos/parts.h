// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/engine.h"
#include "order/paxos/acceptor.h"
#include "order/paxos/early.h"
#include "order/paxos/given_list.h"
#include "order/paxos/kept_words.h"
#include "order/paxos/options.h"
#include "order/paxos/outbox.h"
#include "order/paxos/peers.h"
#include "order/paxos/routes.h"
#include "order/paxos/store.h"

namespace peal::order::paxos {

/// The objects that the classes of one engine share. Each class also has state of its own. A class
/// changes the state of another class only by calling that class's functions.
struct Parts {
  const Config& config;
  Host& host;
  Peers& peers;
  Store& store;
  OrderState& state;
  const GivenList& given;
  Acceptor* acceptor;  ///< null on nodes that never vote
  KeptWords& kept;
  Outbox& outbox;
  Routes& routes;
  Early* early;  ///< with optimistic delivery, else null

  bool in_memory() const { return config.storage == Storage::memory; }
  /// True if this node is in the active view.
  bool joined() const { return state.has(config.self); }
  /// True if the peer has the same order as this node. Then the instances in the peer's reports
  /// mean the same here. A packet belongs to the order of its sender, because no node ever changes
  /// its order.
  bool shares_order(const Peer& peer) const {
    return state.known() && peer.state.next != 0 && peer.state.first_list == state.nodes().first;
  }
  /// True if the round's coordinator has the same order as this node. The list number in the round
  /// does not show that: while this node knows no order, its own list has the number of a first
  /// list, but may differ from the order's first list.
  bool knows_order_of(const Round& round) const {
    const Peer* peer = peers.find(round.coordinator.node);
    return peer != nullptr && peer->has_state && peer->state.first_list == state.nodes().first;
  }
};

}  // namespace peal::order::paxos
