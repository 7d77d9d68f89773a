// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/digest.h"
#include "order/engine.h"
#include "order/paxos/outbox.h"
#include "order/paxos/peers.h"
#include "order/paxos/store.h"

namespace peal::order::paxos {

/// The parts of the engine that routes use.
struct Links {
  const Config& config;
  const Peers& peers;
  Store& store;
  const OrderState& state;
  Outbox& outbox;
};

/// A value that came from another node: proposed in a round, or decided.
struct Arrival {
  Round round{};
  Instance instance{};
  std::uint32_t behind{};  ///< all instances below `instance` - `behind` are decided
  wire::ValueHead head;
  bool vote = false;     ///< this node is asked for its vote
  bool decided = false;  ///< no vote is needed any more
  bool own = false;      ///< a unit of this node; the packet lacks its bytes
  /// True: for each instance below `instance` - `behind`, the proposal of `round`, if this node has
  /// it, was decided by votes in `round`.
  bool tells_decided = false;
  std::uint16_t chain{};
};

/// How values and votes travel between the nodes. Routes do not change which values may be
/// proposed, which acceptors vote, or when a value is decided. Routes only carry information, which
/// may be lost, late or duplicated.
class Routes {
 public:
  virtual ~Routes() = default;

  /// Size of the header in front of a proposed value.
  virtual std::size_t header_bytes() const = 0;
  /// True if nodes announce the instance up to which a majority has voted. If false, all nodes
  /// receive all votes.
  virtual bool tells_decided() const = 0;
  /// True if values are sent to most nodes only after the decision. Then votes do not show how full
  /// the links to these nodes are.
  virtual bool distributes() const = 0;
  /// The maximum number of hops of a value on its way to the last node. While no later value has
  /// arrived, a value may be in transit for this many times the delay between two nodes.
  virtual std::uint32_t hops() const = 0;

  // For a coordinator.

  /// Chooses the acceptors to be asked for votes. True: the choice changed, so proposals in
  /// progress must be sent to the chosen acceptors too. `anew`: this node has just become
  /// coordinator.
  virtual bool choose(Instant now, bool anew) = 0;
  /// True if this acceptor is asked for its vote.
  virtual bool asks(const Peer& acceptor) const = 0;
  /// This acceptor was asked repeatedly for its vote, and did not vote.
  virtual void note_slow(Instant now, NodeId acceptor) = 0;
  /// Builds the packet that proposes a value in a round of this node; empty if no buffer is free.
  /// `fresh`: nothing else uses the headroom in front of the bytes.
  virtual BufferRef pack(const Arrival& proposal, const BufferRef& bytes, bool fresh) = 0;
  virtual void propose(const BufferRef& packet, Effects& out) = 0;
  /// Proposes a unit without its bytes, if its sender is the first node on the route. False:
  /// nothing was sent. Call it only once for each proposal: later the sender may no longer have the
  /// bytes, so a retransmission needs them.
  virtual bool propose_own(const Arrival& proposal, Effects& out) = 0;

  // For all nodes.

  /// Decodes a packet with a value that `from` sent.
  virtual wire::Drop read(const Peer& from, wire::PaxosKind kind, ByteView packet,
                          Arrival& out) const = 0;
  /// Forwards the value, if the route continues. `fresh`: nothing else uses the headroom in front
  /// of the bytes.
  virtual void pass_on(const Arrival& arrival, const BufferRef& bytes, bool fresh,
                       Effects& out) = 0;
  /// Announces `said`, the STATE of this node: more of its votes are durable, or its view or list
  /// changed.
  virtual void tell_votes(const wire::State& said, const Peer* coordinator, Effects& out) = 0;
  /// More instances are decided. Called before any of them is consumed. True: the engine must
  /// announce the decision with tell_votes().
  virtual bool tell_decided(Instant now, const wire::State& said, Effects& out) = 0;
  /// The engine has done all that it can for now. Information that was to be carried by another
  /// packet is now sent in a packet of its own.
  virtual void end_turn(const wire::State& said, Effects& out) = 0;

  /// Another list of nodes is active: the routes' information about acceptors is obsolete.
  virtual void nodes_changed() = 0;

  virtual void add_to(Digest& digest) const = 0;
};

using MakeRoutes = std::unique_ptr<Routes> (*)(const Links& links);

/// As make_engine() in options.h, but with the routes that `make_routes` creates.
std::unique_ptr<Engine> make_engine(const Config& config, BufferPool& packets, Host& host,
                                    MakeRoutes make_routes);

/// The classic routes: the coordinator sends proposals to all nodes, and acceptors send their votes
/// to all nodes.
std::unique_ptr<Routes> make_broadcast(const Links& links);

}  // namespace peal::order::paxos
