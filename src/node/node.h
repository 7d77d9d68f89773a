// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "order/engine.h"
#include "port/transport.h"

namespace peal::node {

/// Bounds of one node's memory. `message_bytes_max` must be the same on all nodes.
struct Limits {
  std::uint32_t message_bytes_max = 64U << 20;    ///< of one message
  std::uint32_t control_bytes_max = 0;            ///< of one control message, if it is larger
  std::uint64_t submit_bytes_max = 128ULL << 20;  ///< of all messages that wait to be ordered
  std::uint32_t submit_messages_max = 65'536;
  std::uint64_t reassembly_bytes_max = 512ULL << 20;  ///< of all unfinished large messages
  /// Bytes of the ring for small messages, allocated at start. A message is small up to 64 KiB, or
  /// up to a sixteenth of the ring if that is less.
  std::uint64_t submit_small_bytes_max = 8ULL << 20;
  bool causal_units = false;  ///< order::Traits::causal of the engine
  bool units_stay = false;    ///< order::Traits::genuine of the engine
};

/// Bytes of a unit with one message besides the message.
inline constexpr std::uint32_t kMessageInUnitBytes = 11;

/// Checks the limits of a node in a cluster of `nodes` nodes: each node may have one unfinished
/// message of the largest size, and reassembly_bytes_max must cover them all. Returns an empty
/// text, or one line that names the key, the value and what is accepted.
std::string validate(const Limits& limits, std::uint32_t nodes);

/// Bytes of the ring for small messages: submit_small_bytes_max, at most submit_bytes_max and at
/// least 4,096.
std::uint64_t small_ring_bytes(const Limits& limits);
/// The largest message, control messages included.
inline std::uint32_t longest_message_bytes(const Limits& limits) {
  return std::max(limits.message_bytes_max, limits.control_bytes_max);
}
/// The largest message that goes into a ring of `ring_bytes`.
std::uint32_t small_message_bytes_max(std::uint64_t ring_bytes);

/// The node itself sends control messages, ahead of all messages that applications submit. Control
/// messages have separate numbers: the numbers count from 1, and have this bit in addition.
inline constexpr std::uint64_t kControlNumber = 1ULL << 63;
constexpr bool is_control(std::uint64_t number) { return (number & kControlNumber) != 0; }

/// The bytes of a message that arrived in several units.
struct Gathered {
  std::unique_ptr<std::byte[]> bytes;
  std::uint32_t size{};
};

/// A delivered message, as the application sees it.
struct Message {
  MemberId sender{};
  std::uint64_t number{};  ///< counts the sender's submissions, from 1; see kControlNumber
  ViewId view{};
  bool transitional = false;
  /// Position of the unit that completed the message; 0 if the unit has none (Traits::causal).
  Seq seq{};
  std::uint32_t index{};  ///< place among the messages that the unit at `seq` completed, from 0
  Service service = Service::agreed;
  bool as_guessed = false;  ///< on_early() predicted this position; false in on_early()
  DomainSet domains{};      ///< the message's destinations
  std::uint64_t set{};      ///< order::Delivery::set
  /// Valid during the call. The bytes lie in the unit that on_unit_delivered() or on_unit_early()
  /// got, or in `gathered`.
  ByteView payload;
  /// Not null if the message came in several units. A sink may move the bytes out to keep them.
  Gathered* gathered = nullptr;
};

/// A message of this node got its place.
struct Origination {
  std::uint64_t number{};  ///< as Message::number
  ViewId view{};
  Seq seq{};
  std::uint32_t index{};  ///< as Message::index
  Service service{};
  DomainSet domains{};  ///< the message's destinations
};

/// Receives what a node delivers and reports. A sink must not call the node, except for enqueue(),
/// submit_control(), drop_control() and block(): the engine is notified of these only at the next
/// flush().
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void on_message(const Message& message) = 0;
  virtual void on_view(const order::View& view) = 0;
  virtual void on_originate(const Origination& placed) = 0;
  virtual void on_event(const order::Event& event) = 0;
  virtual void on_fatal(std::string_view reason) = 0;
  /// Number of units that the application can still take.
  virtual std::uint32_t receive_room_units() const = 0;

  /// Optimistic delivery: this message is probably the next in the order, at position `seq`, but is
  /// not ordered yet. In a view, on_early() gets each message at most once, before on_message()
  /// gets it. The messages of one sender come in the sender's order. The next regular view cancels
  /// the early messages that on_message() has not delivered by then: their senders restart them.
  virtual void on_early(const Message& /*message*/) {}
  /// The next calls of on_early() announce the messages of this unit.
  virtual void on_unit_early(const order::Delivery& /*early*/) {}

  // The units of the engine, for the simulator's oracle; ignored by default.
  virtual void on_unit_originated(const ViewId& /*view*/, Seq /*seq*/, Service /*service*/,
                                  DomainSet /*domains*/, ByteView /*unit*/) {}
  virtual void on_unit_delivered(const order::Delivery& /*delivery*/) {}
};

/// Makes a node's engine; the node is the engine's host.
using EngineFactory = std::function<std::unique_ptr<order::Engine>(order::Host&)>;

/// A whole node without an operating system: an engine, packing of small messages, fragments of
/// large ones, and back-pressure. One thread; nothing blocks.
class Node {
 public:
  /// `units` is the pool in which the node builds units; the engine may build its packets there,
  /// too. Each slab must hold a packet of the largest size. All references must outlive the node.
  Node(const Limits& limits, BufferPool& units, const EngineFactory& make_engine,
       port::Transport& transport, Sink& sink);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void start(Instant now);
  /// Queues a message for the nodes of `domains`, as order::Host::next_domains() allows. Copies
  /// `payload`, which may be empty. Returns the message's number, from 1, or: would_block (the
  /// queue is full: call again after on_originate), too_large, closed.
  Result<std::uint64_t, Errc> submit(Instant now, ByteView payload, Service service,
                                     DomainSet domains = {});
  /// As submit(), but the engine is notified only at the next flush(). Nothing is delivered before
  /// flush(), so the sink may call enqueue().
  Result<std::uint64_t, Errc> enqueue(ByteView payload, Service service, DomainSet domains = {});
  /// As enqueue(), but without a copy: `payload` must stay valid until released() reaches the
  /// message's number. The engine is notified only at flush(). So messages that are submitted
  /// before flush() share units, even if the engine could have ordered the first message at once.
  Result<std::uint64_t, Errc> submit_lent(ByteView payload, Service service,
                                          DomainSet domains = {});
  /// As enqueue(), but takes the block `message` from the caller instead of copying, unless there
  /// is an error.
  Result<std::uint64_t, Errc> submit_block(Gathered& message, Service service,
                                           DomainSet domains = {});
  /// Queues a control message. It is sent before all messages of submit() that are in no unit yet,
  /// even before the rest of a half-done message. Returns its number, which includes
  /// kControlNumber, or: would_block, too_large, closed. The sink may call submit_control(),
  /// drop_control() and block(): the engine is notified at the next flush().
  Result<std::uint64_t, Errc> submit_control(ByteView payload, Service service,
                                             DomainSet domains = {});
  /// Drops the control messages that no unit completes yet. A message that a unit already completes
  /// cannot be recalled: it gets its place, or is dropped with the unit if the view ends first.
  /// Until then, this message counts as queued, and dropped messages behind it may count as queued,
  /// too. No control message queued before this call goes into another unit.
  void drop_control();
  /// The control message that counts from now on: does what drop_control() and submit_control() do.
  /// While units under way leave no space for the message, it waits for them outside the queue. An
  /// empty one only drops the others. Errors: too_large, closed.
  Result<void, Errc> replace_control(ByteView payload, Service service, DomainSet domains = {});
  /// Holds back the messages of submit(), or releases them. A message that is in a unit already may
  /// still get its place. Control messages are never held back.
  /// Returns the number of the last message that the engine has, or had.
  std::uint64_t block(bool blocked);
  /// The node no longer needs the bytes of messages up to this number.
  std::uint64_t released() const;
  void flush(Instant now);
  void on_packet(Instant now, Lane lane, const BufferRef& packet);
  /// See order::Engine::on_old_incarnation().
  void on_old_incarnation(Instant now, const MemberId& newest);
  void on_timer(Instant now);
  /// See order::Engine::on_durable().
  void on_durable(Instant now);
  /// See order::Engine::on_memory().
  void on_memory(Instant now);
  /// Call it when Sink::receive_room_units() has grown from 0.
  void on_room(Instant now);
  void on_pause(Instant now, Duration gap);
  void on_drained(Instant now);
  void leave(Instant now);
  /// See order::Engine::set_nodes().
  void set_nodes(Instant now, const order::NodeList& nodes);
  order::NodesWait nodes_wait() const;

  std::optional<Instant> next_deadline() const;
  Lane preferred_lane() const;
  MemberId self() const;
  order::WaitReason why() const;
  std::optional<order::Leadership> leadership() const;
  /// See order::Engine::describe().
  std::string describe() const;
  /// The engine's counters, followed by the node's.
  std::span<const order::Counter> counters() const;
  /// Messages that have no place in the order yet, and their bytes.
  std::uint64_t queued_messages() const;
  std::uint64_t queued_bytes() const;
  std::uint64_t reassembly_bytes() const;
  void check_invariants() const;
  std::uint64_t digest() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace peal::node
