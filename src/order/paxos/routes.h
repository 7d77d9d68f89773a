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

/// What routes are made from: parts of their engine.
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
  std::uint32_t behind{};  ///< everything below instance - behind is decided
  wire::ValueHead head;
  bool vote = false;     ///< this node is asked for its vote
  bool decided = false;  ///< no vote is needed any more
  bool own = false;      ///< a unit of this node, which came without its bytes
  /// What this node has heard of in the round below instance - behind was decided by votes of it.
  bool tells_decided = false;
  std::uint16_t chain{};
};

/// The ways of values and votes between the nodes. What may be proposed, who votes for what and
/// when it is decided are the same, whatever the ways are: they bring news, and any of it may be
/// lost, late or doubled.
class Routes {
 public:
  virtual ~Routes() = default;

  /// What stands in front of a value that is proposed.
  virtual std::size_t header_bytes() const = 0;
  /// Do nodes say what a majority has voted for? Else everybody hears all votes.
  virtual bool tells_decided() const = 0;
  /// Do values go on to most nodes once they are decided? Then nobody's votes tell how full the
  /// links are that they take.
  virtual bool distributes() const = 0;
  /// Nodes that send a value on at most until the last one has it. As long as nothing behind a
  /// value has come, it may be on its way for so many times as long as from one node to the next.
  virtual std::uint32_t hops() const = 0;

  // For a coordinator.
  /// Whom to ask for votes from now on. True: not the same as before, so that what is under way has
  /// to be proposed to them too. `anew`: this node has just become coordinator.
  virtual bool choose(Instant now, bool anew) = 0;
  /// Is this acceptor asked for its vote?
  virtual bool asks(const Peer& acceptor) const = 0;
  /// This acceptor was asked again and again, and did not vote.
  virtual void note_slow(Instant now, NodeId acceptor) = 0;
  /// The packet that proposes a value in a round of this node; empty without a buffer. `fresh`:
  /// nobody else uses the headroom in front of the bytes.
  virtual BufferRef pack(const Arrival& proposal, const BufferRef& bytes, bool fresh) = 0;
  virtual void propose(const BufferRef& packet, Effects& out) = 0;
  /// Proposes a unit without its bytes, if nobody but its sender is to be sent it first. May be
  /// tried once: a packet with the bytes does for whoever does not have them any more.
  virtual bool propose_own(const Arrival& proposal, Effects& out) = 0;

  // For everybody.
  /// Reads a packet with a value. `from` sent it.
  virtual wire::Drop read(const Peer& from, wire::PaxosKind kind, ByteView packet,
                          Arrival& out) const = 0;
  /// Sends it on, if it has to go anywhere. `fresh`: nobody else uses the headroom in front of the
  /// bytes.
  virtual void pass_on(const Arrival& arrival, const BufferRef& bytes, bool fresh,
                       Effects& out) = 0;
  /// More votes of this node are on disk, or it is in another view.
  virtual void tell_votes(const wire::State& said, const Peer* coordinator, Effects& out) = 0;
  /// More is decided. Called before any of it is consumed. True: tell_votes() is to say so to
  /// others.
  virtual bool tell_decided(Instant now, const wire::State& said, Effects& out) = 0;
  /// The engine has done all that it can for now: what was to go along with something else, and did
  /// not, goes by itself.
  virtual void end_turn(const wire::State& said, Effects& out) = 0;

  /// Another list of nodes counts: whatever is known of acceptors is of the one before.
  virtual void nodes_changed() = 0;

  virtual void add_to(Digest& digest) const = 0;
};

using MakeRoutes = std::unique_ptr<Routes> (*)(const Links& links);

/// As the other make_engine(), with other ways.
std::unique_ptr<Engine> make_engine(const Config& config, BufferPool& packets, Host& host,
                                    MakeRoutes make_routes);

/// The classic ways: the coordinator proposes to all, and acceptors tell everybody of their votes.
std::unique_ptr<Routes> make_broadcast(const Links& links);

}  // namespace peal::order::paxos
