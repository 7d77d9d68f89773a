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
// machine: no socket, no clock, no thread, no randomness but a seeded generator. Time comes in as
// an argument, and all that it wants goes out through Effects, in the order in which it is to be
// carried out.
//
// Laws: same seed and inputs, same outputs and digest; `now` never goes back; the work of one call
// is bounded, and what is left over makes next_deadline() equal `now`; Effects and Host never call
// back into the engine. A unit handed over is placed by originate(), in the order handed over, at
// once or later; a regular view's install() takes back those that are not placed: their messages
// wait again and are handed out anew. The engine keeps a unit's bytes alive until it is placed or
// taken back.

namespace peal::order {

/// A unit is what gets one position in the order: a run of small messages packed by the node, or a
/// fragment of a large one. The engine never looks inside.
struct Unit {
  BufferRef bytes;  ///< the unit, with at least Host::headroom bytes free in front of it
  Service service = Service::agreed;  ///< agreed or safe
};

/// Who learns a message: 0: all nodes; else those of one of the domains that the engine was made
/// with. A node sends in the domains that it is in.
using Domain = std::uint8_t;

/// What the engine asks of its node while it works.
class Host {
 public:
  virtual ~Host() = default;
  /// Units that wait to be handed over, at least 1 if anything waits; an estimate above that.
  virtual std::uint32_t backlog_units() const = 0;
  /// Builds the next unit, at most `unit_bytes_max` long; false if nothing waits or there is no
  /// buffer. Several may be handed over before the first of them is placed: how many, the engine
  /// decides. Their messages stay in the node's queues, and count towards its limits, until then.
  virtual bool next_unit(std::uint32_t unit_bytes_max, Unit& out) = 0;
  /// Who learns the unit that next_unit() would build now. Only engines with domains ask.
  virtual Domain next_domain() const { return 0; }
  /// Units that the application's side could still take in; the ring slows down as it shrinks.
  virtual std::uint32_t receive_room_units() const = 0;
};

/// The outcome of ordering: one unit, at its place.
struct Delivery {
  ViewId view{};              ///< the regular view in which the unit was originated
  bool transitional = false;  ///< delivered in the transitional view that follows `view`
  Seq seq{};                  ///< position in `view`'s order
  MemberId origin{};
  Service service = Service::agreed;
  BufferRef unit;
  Seq guess{};  ///< with optimistic delivery: the position that opt_deliver() said; else 0
};

/// Whether a view may act for the whole cluster; `unclaimed` unless the option asks for a rule.
enum class Primary : std::uint8_t { unclaimed, yes, no };

struct View {
  bool transitional = false;
  ViewId id{};                        ///< the regular view; for a transitional one, the new view
  ViewId old{};                       ///< the regular view before; number 0 if none was announced
  std::span<const MemberId> members;  ///< sorted; valid during the call
  Primary primary = Primary::unclaimed;
};

/// Something that a person or a counter may want to know. Pure code formats nothing: a word and
/// integers, which the word explains.
struct Event {
  const EventKind* kind = nullptr;
  ViewId view{};
  MemberId who{};
  std::uint64_t a{};
  std::uint64_t b{};
  const GatherReason* reason = nullptr;  ///< of gather_started
};

/// Everything an engine wants done. Calls are carried out in the order made.
class Effects {
 public:
  virtual ~Effects() = default;
  virtual void send(NodeId to, Lane lane, const BufferRef& packet) = 0;
  /// To every configured node but this one.
  virtual void multicast(Lane lane, const BufferRef& packet) = 0;
  /// The oldest of the units handed over by next_unit() and not placed yet got its place, which is
  /// behind those of the units before it; before it is delivered here.
  virtual void originate(const ViewId& view, Seq seq) = 0;
  virtual void deliver(const Delivery& delivery) = 0;
  /// Optimistic delivery: the unit probably comes next in the order, at `seq`, but has no place
  /// yet. Each unit at most once in a view, those of one sender in its order, and all before they
  /// are delivered; deliver() says whether the guess was right. The next regular view is the end of
  /// those that were not delivered before it.
  virtual void opt_deliver(const Delivery& /*early*/) {}
  /// A regular view takes back the units that have no place in the one before; the engine forgets
  /// them too, and looks at backlog_units() again.
  virtual void install(const View& view) = 0;
  virtual void report(const Event& event) = 0;
  /// The node cannot go on: another live process has this node's id. It must stop.
  virtual void fatal(std::string_view reason) = 0;
};

/// What the next delivery or the next submission waits for.
struct WaitReason {
  const WaitKind* kind = &wait::nothing;
  MemberId who{};
  Seq seq{};
  Domain domain{};  ///< it is the order of this one that has to go on
  /// All that are waited for, sorted, if there are more than `who`. Not on the path of a message.
  std::vector<MemberId> all{};
};

/// A number that a person may read while the engine runs.
struct Counter {
  std::string_view name;
  std::uint64_t value;
};

/// The configured nodes, and a number by which equal lists are known: not 0.
struct NodeList {
  std::uint64_t hash = 1;
  std::vector<NodeId> nodes;        ///< sorted, 1 to 128
  std::vector<NodeId> acceptors{};  ///< on quorums: sorted, of these, at least one; else none
};

/// What keeps an engine from going over to another list of nodes.
struct NodesWait {
  enum class Kind : std::uint8_t {
    nothing,    ///< there is no other list, or it is about to count
    view,       ///< there is no view at the moment
    member,     ///< `who` does not have the list yet
    running,    ///< `who` is not in the list any more, and still runs
    too_many,   ///< the lists differ by more than one node, and there is a majority rule
    majority,   ///< the view does not have most of the nodes of both lists
    acceptor,   ///< `who`, an acceptor of the list, is not heard, or is behind
    strangers,  ///< most of the list's acceptors are no nodes of the one that counts
    outdated,   ///< no other node wants this list, which lacks `who`, who is in the view
  };
  Kind kind = Kind::nothing;
  MemberId who{};
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual void start(Instant now, Effects& out) = 0;
  /// `packet` is one whole datagram; any bytes are legal. The engine keeps references to it. `lane`
  /// is the one by which it came: Lane::data, or Lane::token, which control packets take too.
  virtual void on_packet(Instant now, Lane lane, const BufferRef& packet, Effects& out) = 0;
  /// What authenticates packets refused one of a node's earlier incarnation, for `newest` is known:
  /// the node may be alive, with a clock that was set back, and want to be told. Engines without
  /// incarnations ignore it.
  virtual void on_old_incarnation(Instant /*now*/, const MemberId& /*newest*/, Effects& /*out*/) {}
  virtual void on_timer(Instant now, Effects& out) = 0;
  /// The host has something to order (call it after each submission, and whenever
  /// receive_room_units grew from zero).
  virtual void on_work(Instant now, Effects& out) = 0;
  /// What the engine's log holds became durable (see port::Log::durable()), or the log failed;
  /// engines without a log ignore it.
  virtual void on_durable(Instant /*now*/, Effects& /*out*/) {}
  /// The process did not run for `gap`; packets read until `drained` are from before.
  virtual void on_pause(Instant now, Duration gap, Effects& out) = 0;
  /// The sockets have been empty once since on_pause.
  virtual void on_drained(Instant now, Effects& out) = 0;
  /// Says goodbye; nothing is sent or delivered afterwards.
  virtual void leave(Instant now, Effects& out) = 0;
  /// The list of nodes to go over to once all members of the view have been given the same one; the
  /// list that counts takes a wish back. It holds this node. Until then packets of the nodes of
  /// both lists are wanted; nodes_adopted says when.
  virtual void set_nodes(Instant /*now*/, const NodeList& /*nodes*/, Effects& /*out*/) {}
  /// What the list given last waits for.
  virtual NodesWait nodes_wait() const { return {}; }
  /// When on_timer wants to be called; nothing means never.
  virtual std::optional<Instant> next_deadline() const = 0;
  /// Which lane to drain first: token (and control) before data, or data before token. Control:
  /// both in turn, for engines whose signs of life must not wait until there is no more data.
  virtual Lane preferred_lane() const = 0;
  virtual MemberId self() const = 0;
  virtual WaitReason why() const = 0;
  /// All counters, in a fixed order; valid until the next call into the engine.
  virtual std::span<const Counter> counters() const = 0;
  /// Asserts that the state is possible. The simulator calls it after every input.
  virtual void check_invariants() const = 0;
  /// A digest of the state: replay is tested with it.
  virtual std::uint64_t digest() const = 0;
};

}  // namespace peal::order
