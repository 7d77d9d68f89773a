// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/domain_set.h"
#include "base/ids.h"
#include "base/time.h"
#include "order/vocabulary.h"

// The contract between an ordering protocol and the node that runs it. An engine is a state
// machine: it has no socket, clock or thread, and its only randomness is a seeded generator. The
// caller passes the time as an argument. The engine requests every action through Effects; the
// caller carries out the actions in the order of the requests.
//
// Laws: The same seed and inputs give the same outputs and digest. `now` never goes back. The work
// of one call is bounded; if work is left over, next_deadline() is not after `now`. Effects and
// Host never call back into the engine. The engine takes units with next_unit(), and places them
// with originate() in the same order, at once or later. When the engine installs a regular view,
// it returns the units without a place to the node, and next_unit() builds them again. The engine
// keeps the bytes of a unit alive until it has placed or returned the unit.

namespace peal::order {

/// The bytes that get one position in the order: several small messages, packed by the node, or a
/// fragment of a large message. The engine never reads the messages.
struct Unit {
  BufferRef bytes;  ///< the unit, with at least wire::kUnitHeadroomBytes free bytes in front of it
  Service service = Service::agreed;  ///< agreed or safe; causal, if Traits::causal
};

/// One domain, or 0: all nodes.
using Domain = DomainId;

/// The functions of the node that a running engine calls to get units and limits.
class Host {
 public:
  virtual ~Host() = default;
  /// Estimated number of units that wait for next_unit(); at least 1 if any unit waits.
  virtual std::uint32_t backlog_units() const = 0;
  /// Builds the next unit, at most `unit_bytes_max` long. False if no unit waits or no buffer is
  /// free. The engine decides how many units it takes before it places the first of them. The
  /// messages in these units stay in the node's queues, and count towards the node's limits, until
  /// the engine has placed the units.
  virtual bool next_unit(std::uint32_t unit_bytes_max, Unit& out) = 0;
  /// The destinations of the unit that next_unit() would build now, as domains of Setup::domains.
  /// Unless Traits::genuine: none, which means all nodes, or one domain, which this node belongs
  /// to. Only engines with domains call this function.
  virtual DomainSet next_domains() const { return {}; }
  /// Number of units that the application can still take. A member of a ring originates at most
  /// this number of units per visit of the token.
  virtual std::uint32_t receive_room_units() const = 0;
};

/// The result of ordering: one unit at its place.
struct Delivery {
  ViewId view{};              ///< the regular view in which the unit was originated
  bool transitional = false;  ///< delivered in the transitional view that follows `view`
  Seq seq{};                  ///< position in `view`'s order; 0 for a causal unit
  MemberId origin{};
  Service service = Service::agreed;
  DomainSet domains{};  ///< the destinations of the unit, as Host::next_domains() named them
  BufferRef unit;
  Seq guess{};  ///< the position that opt_deliver() announced; 0 without optimistic delivery
  /// With Traits::companies: number, in `view`, of the set of units that were decided together. The
  /// members that leave the view together have equal sets. 0 for a causal unit.
  std::uint64_t set{};
};

/// Whether a view may act for the whole cluster; `unclaimed` if no option sets a rule.
enum class Primary : std::uint8_t { unclaimed, yes, no };

struct View {
  bool transitional = false;
  /// If this view is regular, its id. If this view is transitional, the next regular view's id.
  ViewId id{};
  /// If this view is transitional, the previous regular view's id; otherwise an id with number 0.
  ViewId old{};
  std::span<const MemberId> members;  ///< sorted; valid during the call of install()
  Primary primary = Primary::unclaimed;
};

/// A report for people or counters. Engines format no text. The kind of the event defines the
/// meaning of the other fields (vocabulary.h).
struct Event {
  const EventKind* kind = nullptr;
  ViewId view{};
  MemberId who{};
  std::uint64_t a{};
  std::uint64_t b{};
  const GatherReason* reason = nullptr;  ///< for gather_started, member_accused and bad_record
};

/// All actions of an engine. The node carries them out in the order of the calls.
class Effects {
 public:
  virtual ~Effects() = default;
  virtual void send(NodeId to, Lane lane, const BufferRef& packet) = 0;
  /// Sends `packet` to every configured node except this node.
  virtual void multicast(Lane lane, const BufferRef& packet) = 0;
  /// Gives the position `seq` of `view` to the oldest unit from next_unit() that has no position
  /// yet. Positions of later units are higher. Called before the unit is delivered at this node.
  virtual void originate(const ViewId& view, Seq seq) = 0;
  virtual void deliver(const Delivery& delivery) = 0;
  /// Optimistic delivery: the unit has no position yet, but will probably get the position
  /// Delivery::guess. The engine calls this function at most once per unit and view, in the
  /// sender's order, before it delivers the unit. At deliver(), Delivery::seq shows whether the
  /// guess was right. If the next regular view is installed before the unit is delivered, the guess
  /// is void.
  virtual void opt_deliver(const Delivery& /*early*/) {}
  /// If `view` is regular, the node takes back the units that got no place in the previous view.
  /// The engine forgets these units, and reads backlog_units() again.
  virtual void install(const View& view) = 0;
  virtual void report(const Event& event) = 0;
  /// The node must stop because of `reason`, for example because another live process has this
  /// node's id.
  virtual void fatal(std::string_view reason) = 0;
};

/// What delays the next delivery or submission.
struct WaitReason {
  const WaitKind* kind = &wait::nothing;
  MemberId who{};
  Seq seq{};
  Domain domain{};  ///< the domain whose order has to advance
  /// All awaited members, sorted; may be empty if only `who` is awaited. The vector may allocate
  /// memory, because why() is not on the hot path.
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
  std::vector<NodeId> nodes;  ///< sorted, 1 to 128
  /// Sorted; a subset of `nodes`. Empty if the engine has no acceptors.
  std::vector<NodeId> acceptors{};
};

/// What keeps an engine from reconfiguring to its pending list of nodes.
struct NodesWait {
  enum class Kind : std::uint8_t {
    nothing,    ///< no list is pending, or nothing keeps the pending list from becoming active
    view,       ///< the node is in no view at the moment
    member,     ///< `who` does not have the pending list yet
    running,    ///< `who` is not in the pending list but still runs
    too_many,   ///< the lists differ by more than one node, and a majority rule applies
    majority,   ///< the view lacks a majority of the nodes of one of the two lists
    acceptor,   ///< `who`, an acceptor of the pending list, is not heard or lags
    strangers,  ///< most acceptors of the pending list are not nodes of the active list
    outdated,   ///< only this node has the pending list, which lacks `who`, a view member
  };
  Kind kind = Kind::nothing;
  MemberId who{};
};

/// See Engine::leadership().
struct Leadership {
  MemberId leader{};
  std::uint64_t round{};
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual void start(Instant now, Effects& out) = 0;
  /// `packet` is one whole datagram with arbitrary bytes. The engine may keep references to the
  /// buffer. `lane` is Lane::data if the packet arrived on the data lane, and Lane::token if it
  /// arrived on the token lane or the control lane.
  virtual void on_packet(Instant now, Lane lane, const BufferRef& packet, Effects& out) = 0;
  /// Authentication rejected a packet because its sender is an earlier incarnation of a node, and
  /// the node's incarnation `newest` is known. The sender may be a live process whose clock was set
  /// back; the engine may notify that process. Engines without incarnations ignore this call.
  virtual void on_old_incarnation(Instant /*now*/, const MemberId& /*newest*/, Effects& /*out*/) {}
  virtual void on_timer(Instant now, Effects& out) = 0;
  /// The host has units to order, or the application can take units again. The host calls
  /// on_work() after each submission, and whenever receive_room_units() grows from zero.
  virtual void on_work(Instant now, Effects& out) = 0;
  /// The engine's log made records durable (see port::Log::durable()), or failed. Engines without a
  /// log ignore this call.
  virtual void on_durable(Instant /*now*/, Effects& /*out*/) {}
  /// Bytes arrived in the engine's memory, or writes of the engine ended (see port::Memory). The
  /// host may call this function without a reason, and once for many writes. Engines without such
  /// memory ignore this call.
  virtual void on_memory(Instant /*now*/, Effects& /*out*/) {}
  /// The process did not run for the time `gap`. Packets that are read before on_drained() may have
  /// arrived before or during the pause.
  virtual void on_pause(Instant now, Duration gap, Effects& out) = 0;
  /// Since on_pause(), the caller has read all sockets until they were empty. Packets that are read
  /// from now on are newer than the pause.
  virtual void on_drained(Instant now, Effects& out) = 0;
  /// Notifies the other nodes that this node leaves. The engine sends and delivers nothing
  /// afterwards.
  virtual void leave(Instant now, Effects& out) = 0;
  /// Sets the pending list of nodes, which contains this node. The engine reconfigures to `nodes`
  /// once all members of the view have the same pending list. A call with the active list withdraws
  /// the pending list. Until event::nodes_adopted, the engine needs packets from the nodes of both
  /// lists.
  virtual void set_nodes(Instant /*now*/, const NodeList& /*nodes*/, Effects& /*out*/) {}
  /// What keeps the pending list from becoming active.
  virtual NodesWait nodes_wait() const { return {}; }
  /// When to call on_timer(); nullopt means never.
  virtual std::optional<Instant> next_deadline() const = 0;
  /// Which socket the caller reads first: the socket of token and control packets (Lane::token) or
  /// the socket of data packets (Lane::data). Lane::control: the caller reads one packet of each
  /// socket in turn, because the engine's heartbeats must not wait until all data is read.
  virtual Lane preferred_lane() const = 0;
  virtual MemberId self() const = 0;
  virtual WaitReason why() const = 0;
  /// The process that leads this node's domain, and in which round; nothing if the engine has no
  /// domains with leaders (Traits::genuine), or if there is no leader.
  virtual std::optional<Leadership> leadership() const { return std::nullopt; }
  /// The state as text, to find out why something does not go on; may be empty.
  virtual std::string describe() const { return {}; }
  /// All counters, in a fixed order; valid until the next call into the engine.
  virtual std::span<const Counter> counters() const = 0;
  /// Asserts the invariants of the state. The simulator calls check_invariants() after every input.
  virtual void check_invariants() const = 0;
  /// A digest of the state, for tests of replay.
  virtual std::uint64_t digest() const = 0;
};

}  // namespace peal::order
