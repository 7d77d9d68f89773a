// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/result.h"
#include "base/ring_queue.h"
#include "node/node.h"
#include "node/packer.h"
#include "node/reassembly.h"
#include "node/submit_queue.h"
#include "node/unit.h"
#include "order/engine.h"

namespace peal::node {

/// Implements a node. The engine uses it as its order::Host and order::Effects. node.h documents
/// the calls.
class Node::Core final : public order::Host, public order::Effects {
 public:
  Core(const Limits& limits, BufferPool& units, port::Transport& transport, Sink& sink);

  void set_engine(std::unique_ptr<order::Engine> engine);
  order::Engine& engine() { return *engine_; }
  const order::Engine& engine() const { return *engine_; }
  const SubmitQueue& queue() const { return queue_; }
  std::uint64_t queued_messages() const { return queue_.messages() + control_.messages(); }
  std::uint64_t queued_bytes() const { return queue_.bytes() + control_.bytes(); }
  std::uint64_t reassembly_bytes() const { return reassembly_.bytes() + early_.bytes(); }

  bool running() const { return state_ == State::running; }
  void start(Instant now);
  void leave(Instant now);
  Result<std::uint64_t, Errc> submit(ByteView payload, Service service, DomainSet domains) {
    return enqueue(payload, service, [&] { return queue_.push(payload, service, domains); });
  }
  Result<std::uint64_t, Errc> submit_lent(ByteView payload, Service service, DomainSet domains) {
    return enqueue(payload, service, [&] { return queue_.push_lent(payload, service, domains); });
  }
  Result<std::uint64_t, Errc> submit_block(Gathered& message, Service service, DomainSet domains) {
    const ByteView payload{message.bytes.get(), message.size};
    return enqueue(payload, service,
                   [&] { return queue_.push_block(payload, message.bytes, service, domains); });
  }
  Result<std::uint64_t, Errc> submit_control(ByteView payload, Service service, DomainSet domains);
  Result<void, Errc> replace_control(ByteView payload, Service service, DomainSet domains);
  std::uint64_t block(bool blocked);
  void flush(Instant now);

  std::span<const order::Counter> counters();
  void check_invariants() const;
  std::uint64_t digest() const;

  // order::Host
  std::uint32_t backlog_units() const override {
    return transport_.congested() == NodeId{} ? packer_.backlog_units() : 0;
  }
  bool next_unit(std::uint32_t unit_bytes_max, order::Unit& out) override;
  DomainSet next_domains() const override { return packer_.next_domains(); }
  std::uint32_t receive_room_units() const override { return sink_.receive_room_units(); }

  // order::Effects
  void send(NodeId to, Lane lane, const BufferRef& packet) override {
    transport_.send(to, lane, packet);
  }
  void multicast(Lane lane, const BufferRef& packet) override {
    transport_.multicast(lane, packet);
  }
  void originate(const ViewId& view, Seq seq) override;
  void deliver(const order::Delivery& delivery) override;
  void opt_deliver(const order::Delivery& early) override;
  void install(const order::View& view) override;
  void report(const order::Event& event) override { sink_.on_event(event); }
  void fatal(std::string_view reason) override;

 private:
  enum class State : std::uint8_t { created, running, stopped };
  /// A unit that next_unit() passed to the engine, and that has no place in the order yet.
  struct Pending {
    ByteView unit;  ///< the engine keeps these bytes alive
    Packed packed;
  };
  static constexpr std::size_t kPendingLeast = 8;  ///< initial capacity; the ring engine needs 1
  static constexpr std::size_t kOwnCounters = 15;

  /// The control message for which the queue has had no space yet.
  struct Late {
    std::vector<std::byte> payload;
    Service service{};
    DomainSet domains;
  };

  template <class Push>
  Result<std::uint64_t, Errc> enqueue(ByteView payload, Service service, Push push) {
    if (state_ == State::stopped) return unexpected(Errc::closed);
    const Result<std::uint64_t, Errc> number = push();
    if (!number) {
      if (number.error() == Errc::would_block) ++submit_blocked_;
      return number;
    }
    outcome_.add(payload.size() * 4 + static_cast<std::uint64_t>(service));
    return number;
  }
  void submit_late();
  void take_back_pending();
  bool take_apart(const order::Delivery& delivery);
  void deliver_chunks(const order::Delivery& delivery, bool early);
  void deliver_chunk(const Chunk& chunk, Message& message, bool early);
  void tell_early(const Message& message);

  Limits limits_;
  port::Transport& transport_;
  Sink& sink_;
  SubmitQueue queue_;
  SubmitQueue control_;
  std::optional<Late> late_;
  Packer packer_;
  Reassembly reassembly_;
  Reassembly early_;  ///< for optimistic deliveries
  std::unique_ptr<order::Engine> engine_;
  State state_ = State::created;
  bool engine_knows_ = false;                  ///< the engine knows that work waits
  RingQueue<Pending> pending_{kPendingLeast};  ///< oldest first
  Chunks chunks_;                              ///< chunks of the unit being delivered

  std::vector<order::Counter> counters_;
  std::uint64_t submit_blocked_ = 0;
  std::uint64_t originated_messages_ = 0;
  std::uint64_t restarts_ = 0;
  std::uint64_t early_messages_ = 0;
  std::uint64_t delivered_messages_ = 0;
  std::uint64_t delivered_bytes_ = 0;
  std::uint64_t gathered_messages_ = 0;
  std::uint64_t bad_units_ = 0;
  std::uint64_t ignored_chunks_ = 0;
  Digest outcome_;  ///< digest of all submissions, places and deliveries
};

}  // namespace peal::node
