// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/ids.h"
#include "base/time.h"
#include "order/vocabulary.h"

// The contract between an ordering protocol and the node that runs it. An engine is a state
// machine: it has no socket, clock or thread, and its only randomness is a seeded generator. The
// caller passes the time as an argument. The engine requests every action through Effects; the
// caller carries the actions out in the order requested.
//
// Laws: the same seed and inputs give the same outputs and digest. `now` never goes back. The work
// of one call is bounded; if work is left over, next_deadline() is not after `now`. Effects and
// Host never call back into the engine. The engine places units with originate() in the order in
// which it took them, at once or later. With the install() of a regular view, units that have no
// place yet go back to the node, whose next_unit() builds them anew. The engine keeps a unit's
// bytes alive until it places or returns the unit.

namespace peal::order {

/// The bytes that get one position in the order: a run of small messages packed by the node, or a
/// fragment of a large message. The engine never looks inside.
struct Unit {
  BufferRef bytes;  ///< the unit, with at least wire::kUnitHeadroomBytes free bytes in front of it
  Service service = Service::agreed;  ///< agreed or safe
};

/// The destinations of a message: 0 means all nodes, and i the nodes of domain i (Setup::domains).
/// A node sends only in domains to which it belongs.
using Domain = std::uint8_t;

/// What a running engine asks of its node.
class Host {
 public:
  virtual ~Host() = default;
  /// Estimated number of units that wait to be handed over; at least 1 if any waits.
  virtual std::uint32_t backlog_units() const = 0;
  /// Builds the next unit, at most `unit_bytes_max` long; false if none waits or no buffer is free.
  /// The engine may take several units before it places the first, and decides how many. The
  /// messages in these units stay in the node's queues, and count towards the node's limits, until
  /// the units are placed.
  virtual bool next_unit(std::uint32_t unit_bytes_max, Unit& out) = 0;
  /// The destinations of the unit that next_unit() would build now. Only engines with domains ask.
  virtual Domain next_domain() const { return 0; }
  /// Number of units that the application can still take; the ring slows down as this number
  /// shrinks.
  virtual std::uint32_t receive_room_units() const = 0;
};

/// The result of ordering: one unit at its place.
struct Delivery {
  ViewId view{};              ///< the regular view in which the unit was originated
  bool transitional = false;  ///< delivered in the transitional view that follows `view`
  Seq seq{};                  ///< position in `view`'s order
  MemberId origin{};
  Service service = Service::agreed;
  BufferRef unit;
  Seq guess{};  ///< the position given to opt_deliver(); 0 without optimistic delivery
};

/// Whether a view may act for the whole cluster; `unclaimed` if no option sets a rule.
enum class Primary : std::uint8_t { unclaimed, yes, no };

struct View {
  bool transitional = false;
  ViewId id{};                        ///< of this regular view; for a transitional view, of the
                                      ///< next regular view
  ViewId old{};                       ///< for a transitional view, the previous regular view; else
                                      ///< an id with number 0
  std::span<const MemberId> members;  ///< sorted; valid during the call of install()
  Primary primary = Primary::unclaimed;
};

/// A report for people or counters. Engines format no text: an event has a kind and integers, whose
/// meaning the kind defines.
struct Event {
  const EventKind* kind = nullptr;
  ViewId view{};
  MemberId who{};
  std::uint64_t a{};
  std::uint64_t b{};
  const GatherReason* reason = nullptr;  ///< for gather_started and member_accused
};

/// All actions of an engine. The node carries them out in the order of the calls.
class Effects {
 public:
  virtual ~Effects() = default;
  virtual void send(NodeId to, Lane lane, const BufferRef& packet) = 0;
  /// Sends to every configured node but this one.
  virtual void multicast(Lane lane, const BufferRef& packet) = 0;
  /// Assigns a place to the oldest unit that next_unit() handed over and that has no place yet. The
  /// place is after the places of earlier units. Called before the unit is delivered at this node.
  virtual void originate(const ViewId& view, Seq seq) = 0;
  virtual void deliver(const Delivery& delivery) = 0;
  /// Optimistic delivery: the unit probably comes next in the order, at Delivery::guess, but has no
  /// place yet. The engine calls this at most once per unit and view, in the sender's order, and
  /// before it delivers the unit. deliver() says whether the guess was right. If a unit is not
  /// delivered before the next regular view, its announcement is void.
  virtual void opt_deliver(const Delivery& /*early*/) {}
  /// With a regular view, the node takes back the units that got no place in the previous view. The
  /// engine forgets these units, and reads backlog_units() again.
  virtual void install(const View& view) = 0;
  virtual void report(const Event& event) = 0;
  /// The node must stop for this reason, such as another live process with this node's id.
  virtual void fatal(std::string_view reason) = 0;
};

/// What delays the next delivery or submission.
struct WaitReason {
  const WaitKind* kind = &wait::nothing;
  MemberId who{};
  Seq seq{};
  Domain domain{};  ///< the domain whose order has to advance
  /// All awaited members, sorted; may be empty if only `who` is awaited. Allocation does no harm:
  /// why() is not on the hot path.
  std::vector<MemberId> all{};
};

/// A statistic of a running engine.
struct Counter {
  std::string_view name;
  std::uint64_t value;
};

/// The configured nodes, with a hash that is equal for equal lists and never 0.
struct NodeList {
  std::uint64_t hash = 1;
  std::vector<NodeId> nodes;        ///< sorted, 1 to 128
  std::vector<NodeId> acceptors{};  ///< for engines with acceptors: sorted, in `nodes`, at least
                                    ///< one; else empty
};

/// What keeps an engine from reconfiguring to its pending list of nodes.
struct NodesWait {
  enum class Kind : std::uint8_t {
    nothing,    ///< no list is pending, or the pending list becomes active next
    view,       ///< the node is in no view at the moment
    member,     ///< `who` does not have the pending list yet
    running,    ///< `who` is not in the pending list but still runs
    too_many,   ///< the lists differ by more than one node, and a majority rule applies
    majority,   ///< the view lacks a majority of the nodes of one of the two lists
    acceptor,   ///< `who`, an acceptor of the pending list, is not heard or lags
    strangers,  ///< most acceptors of the pending list are not nodes of the active list
    outdated,   ///< no other node has this list pending; the list lacks `who`, a view member
  };
  Kind kind = Kind::nothing;
  MemberId who{};
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual void start(Instant now, Effects& out) = 0;
  /// `packet` is one whole datagram with arbitrary bytes. The engine keeps references to it. `lane`
  /// is the lane by which the packet arrived: Lane::data, or Lane::token, which control packets
  /// take too.
  virtual void on_packet(Instant now, Lane lane, const BufferRef& packet, Effects& out) = 0;
  /// Authentication rejected a packet of an earlier incarnation of a node, because the incarnation
  /// `newest` is known. The sender may be a live process whose clock was set back; the engine may
  /// notify it. Engines without incarnations ignore this call.
  virtual void on_old_incarnation(Instant /*now*/, const MemberId& /*newest*/, Effects& /*out*/) {}
  virtual void on_timer(Instant now, Effects& out) = 0;
  /// The host has units to order, or its application can take units again. The host calls this
  /// after each submission, and whenever receive_room_units() grows from zero.
  virtual void on_work(Instant now, Effects& out) = 0;
  /// The engine's log made records durable (see port::Log::durable()), or failed. Engines without a
  /// log ignore this call.
  virtual void on_durable(Instant /*now*/, Effects& /*out*/) {}
  /// The process did not run for `gap`; packets read before on_drained() may date from before the
  /// pause.
  virtual void on_pause(Instant now, Duration gap, Effects& out) = 0;
  /// After on_pause(), the caller has once read all sockets until they were empty: packets read
  /// from now on are newer than the pause.
  virtual void on_drained(Instant now, Effects& out) = 0;
  /// Tells the other nodes that this one leaves. The engine sends and delivers nothing afterwards.
  virtual void leave(Instant now, Effects& out) = 0;
  /// Sets the pending list of nodes, which contains this node. The engine reconfigures to that list
  /// once all members of the view have the same pending list. Passing the active list withdraws the
  /// pending one. Until event::nodes_adopted, the engine needs packets of the nodes of both lists.
  virtual void set_nodes(Instant /*now*/, const NodeList& /*nodes*/, Effects& /*out*/) {}
  /// What the pending list waits for.
  virtual NodesWait nodes_wait() const { return {}; }
  /// When to call on_timer(); nullopt means never.
  virtual std::optional<Instant> next_deadline() const = 0;
  /// Which lane to drain first. Lane::token: token and control packets before data. Lane::data:
  /// data first. Lane::control: both in turn, for engines whose heartbeats must not wait until all
  /// data is read.
  virtual Lane preferred_lane() const = 0;
  virtual MemberId self() const = 0;
  virtual WaitReason why() const = 0;
  /// All counters, in a fixed order; valid until the next call into the engine.
  virtual std::span<const Counter> counters() const = 0;
  /// Asserts the invariants of the state. The simulator calls it after every input.
  virtual void check_invariants() const = 0;
  /// A digest of the state, for tests of replay.
  virtual std::uint64_t digest() const = 0;
};

}  // namespace peal::order
