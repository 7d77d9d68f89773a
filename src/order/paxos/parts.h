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

/// What the classes of one engine share. Each class also has state of its own, and changes the
/// state of another class only by calling its functions.
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
  /// This node is in the active view.
  bool joined() const { return state.has(config.self); }
  /// The peer has the same order as this node, so its reports of instances can be used here. A
  /// packet belongs to the order of its sender, since no node ever changes its order.
  bool shares_order(const Peer& peer) const {
    return state.known() && peer.state.next != 0 && peer.state.first_list == state.nodes().first;
  }
  /// The round's coordinator has the order of this node. The number of a list does not show this: a
  /// node that knows no order yet may have a list that was never active, and a round of the first
  /// list may then be of another list than this node's.
  bool knows_order_of(const Round& round) const {
    const Peer* peer = peers.find(round.coordinator.node);
    return peer != nullptr && peer->has_state && peer->state.first_list == state.nodes().first;
  }
};

}  // namespace peal::order::paxos
