// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Bounds of one node's memory. `message_bytes_max` is the same on all nodes.
struct Limits {
  std::uint32_t message_bytes_max = 64U << 20;    ///< of one message
  std::uint64_t submit_bytes_max = 128ULL << 20;  ///< of messages that wait to be ordered
  std::uint32_t submit_messages_max = 65'536;
  std::uint64_t reassembly_bytes_max = 512ULL << 20;  ///< of unfinished large messages, all origins
  /// Of `submit_bytes_max`, what messages of up to 64 KiB may fill; taken at start.
  std::uint64_t submit_small_bytes_max = 8ULL << 20;
};

/// Checks the limits of a node in a cluster of `nodes` nodes: each may have one unfinished message
/// of the largest size, and reassembly_bytes_max covers them all. Empty if all is well, else one
/// line that names the key, the value and what is accepted.
std::string validate(const Limits& limits, std::uint32_t nodes);

/// Bytes of the ring that small messages wait in: never more than all messages may take.
std::uint64_t small_ring_bytes(const Limits& limits);
/// The largest message that goes into a ring of so many bytes, which holds 16 of them.
std::uint32_t small_message_bytes_max(std::uint64_t ring_bytes);

/// Control messages are the node's own business, ahead of all that applications submit. They are
/// numbered apart: their numbers have this bit, and count from 1 below it.
inline constexpr std::uint64_t kControlNumber = 1ULL << 63;
constexpr bool is_control(std::uint64_t number) { return (number & kControlNumber) != 0; }

/// The bytes of a message that came in several units.
struct Gathered {
  std::unique_ptr<std::byte[]> bytes;
  std::uint32_t size{};
};

/// One delivered message, as the application sees it.
struct Message {
  MemberId sender{};
  std::uint64_t number{};  ///< counts the sender's submissions, from 1; see kControlNumber
  ViewId view{};
  bool transitional = false;
  Seq seq{};              ///< position of the unit that completed it
  std::uint32_t index{};  ///< among the messages that this unit completed, from 0
  Service service = Service::agreed;
  bool as_guessed = false;  ///< on_early() named this very position; never true in on_early()
  /// Valid during the call. It lies in the unit that on_unit_delivered() gave a reference to, or
  ByteView payload;
  /// was gathered from several: a sink that wants to keep the bytes may move them out.
  Gathered* gathered = nullptr;
};

/// What a node tells whoever runs it. None of the calls may call back into the node.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void on_message(const Message& message) = 0;
  virtual void on_view(const order::View& view) = 0;
  /// A message submitted here got its place; `index` as in Message.
  virtual void on_originate(std::uint64_t number, const ViewId& view, Seq seq, std::uint32_t index,
                            Service service) = 0;
  virtual void on_event(const order::Event& event) = 0;
  virtual void on_fatal(std::string_view reason) = 0;
  /// Units that the application's side could still take in.
  virtual std::uint32_t receive_room_units() const = 0;

  /// Optimistic delivery: this message probably comes next in the order, at `seq`, but has no
  /// position yet. Each message at most once in a view, those of one sender in its order, and all
  /// before on_message(). The next regular view is the end of those that did not come before it:
  /// their senders begin anew with them.
  virtual void on_early(const Message& /*message*/) {}
  /// The unit that they come of, before them.
  virtual void on_unit_early(const order::Delivery& /*early*/) {}

  // The engine's own level, for the simulator's oracle; ignored by default.
  virtual void on_unit_originated(const ViewId& /*view*/, Seq /*seq*/, Service /*service*/,
                                  ByteView /*unit*/) {}
  virtual void on_unit_delivered(const order::Delivery& /*delivery*/) {}
};

/// Makes the engine of a node; the node is its host.
using EngineFactory = std::function<std::unique_ptr<order::Engine>(order::Host&)>;

/// A whole node without an operating system: an engine, packing of small messages, fragments of
/// large ones, and back-pressure. One thread; nothing blocks.
class Node {
 public:
  /// `units` is the pool that units are built in (the engine's packets may come from it too); its
  /// slabs hold at least one packet of the largest size. All references must outlive the node.
  Node(const Limits& limits, BufferPool& units, const EngineFactory& make_engine,
       port::Transport& transport, Sink& sink);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void start(Instant now);
  /// Queues a message for those who learn `domain`, one that this node is in; copies `payload`,
  /// which may be empty. Returns its number (from 1), or:
  /// would_block (the queue is full: call again after on_originate), too_large, closed.
  Result<std::uint64_t> submit(Instant now, ByteView payload, Service service,
                               order::Domain domain = 0);
  /// As submit, but the engine hears of it at the next flush() only: nothing is delivered before
  /// that, so that this may be called from whoever is told of deliveries.
  Result<std::uint64_t> enqueue(ByteView payload, Service service, order::Domain domain = 0);
  /// As submit, but without a copy: `payload` stays where it is until released() says otherwise.
  /// The engine hears of it at the next flush() only: several messages submitted at once then share
  /// units even if the engine could order the first of them immediately.
  Result<std::uint64_t> submit_lent(ByteView payload, Service service, order::Domain domain = 0);
  /// The same for bytes that the caller has in a block of its own: takes the block, unless there is
  /// an error.
  Result<std::uint64_t> submit_block(Gathered& message, Service service, order::Domain domain = 0);
  /// Queues a control message: it goes before all that submit() queued and that is not ordered yet,
  /// a message that is half done included. Returns its number, with kControlNumber in it, or
  /// would_block, too_large, closed. This, drop_control() and block() may be called from the sink:
  /// the engine hears of it at the next flush().
  Result<std::uint64_t> submit_control(ByteView payload, Service service);
  /// Forgets the control messages that are not wholly in units of the engine's. Those that are
  /// cannot be recalled: each still gets its place, or is forgotten with its unit when the view
  /// ends before that, and until then counts as queued, as may what was forgotten behind it. None
  /// of them goes into another unit.
  void drop_control();
  /// Holds back what submit() queued, or no longer: what is in a unit already may still get its
  /// place. Control messages go either way.
  void block(bool blocked);
  /// The bytes of messages up to this number are not needed any more.
  std::uint64_t released() const;
  void flush(Instant now);
  void on_packet(Instant now, Lane lane, const BufferRef& packet);
  /// See order::Engine.
  void on_old_incarnation(Instant now, const MemberId& newest);
  void on_timer(Instant now);
  /// See order::Engine.
  void on_durable(Instant now);
  /// Sink::receive_room_units grew.
  void on_room(Instant now);
  void on_pause(Instant now, Duration gap);
  void on_drained(Instant now);
  void leave(Instant now);
  /// See order::Engine.
  void set_nodes(Instant now, const order::NodeList& nodes);
  order::NodesWait nodes_wait() const;

  std::optional<Instant> next_deadline() const;
  Lane preferred_lane() const;
  MemberId self() const;
  order::WaitReason why() const;
  /// The engine's counters, then the node's.
  std::span<const order::Counter> counters() const;
  /// Messages and bytes that wait for their place, in units or not.
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
