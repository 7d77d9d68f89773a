// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/settings.h"
#include "io/error.h"
#include "io/loop.h"
#include "member/deliveries.h"
#include "member/event_queue.h"
#include "member/event_reader.h"
#include "member/requests.h"
#include "member/submit_stage.h"
#include "runtime/runtime.h"
#include "runtime/snapshot.h"

namespace peal::member {

/// A member: a runtime, its input (SubmitStage) and its output (EventQueue). The loop runs on a
/// thread of its own, or on the reader's thread, inside next(), wait_until(), submit_until(),
/// set_nodes() and leave(). Threads: as for peal::Member.
class EmbeddedNode final : private runtime::Application {
 public:
  static Result<std::unique_ptr<EmbeddedNode>, io::IoError> open(const config::Settings& settings);
  ~EmbeddedNode() override;

  const config::Settings& settings() const { return settings_; }
  /// Queues a message for the nodes of `domains` (config::domains_of()). Returns the message's
  /// number. Errors: would_block, too_large, closed.
  Result<std::uint64_t, Errc> submit(ByteView payload, Service service, DomainSet domains = {});
  Result<std::uint64_t, Errc> submit_until(ByteView payload, Service service, DomainSet domains,
                                           std::chrono::steady_clock::time_point deadline);

  /// The next message or notice. Thread: the reader's.
  EventReader::Out next();
  /// Like next(), but waits until `deadline`. Without a thread of its own, it also ends when a
  /// message got its place that this node does not deliver.
  EventReader::Out wait_until(std::chrono::steady_clock::time_point deadline);
  int fd() const;
  /// How many turns the loop has begun. Thread: the loop's.
  std::uint64_t turns() const { return loop_->counters().turns; }
  /// How many own messages have their places. Thread: the loop's.
  std::uint64_t placed() const { return placed_; }

  void leave(std::chrono::milliseconds patience);
  /// Reads the key file again, and uses the file's keys from now on. Returns the key for sending.
  /// Errors: invalid_option (there is no valid key file; the old keys stay in use), closed.
  Result<seal::KeyId, io::IoError> reload_keys();
  std::string id() const { return requests_.id(); }
  runtime::Snapshot status() const;
  /// Makes this list of nodes active once all members of the view have it. Errors: invalid_option
  /// (the change is not possible; the message says why), closed.
  Result<void, io::IoError> set_nodes(config::Listing listing);
  /// Thread: the reader's.
  const trace::Names& names() const { return reader_.names(); }

 private:
  explicit EmbeddedNode(const config::Settings& settings);
  void run();
  void finish();

  // These functions run in the reader's thread.
  EventReader::Out read();
  bool runs_loop() const { return !settings_.own_thread && !loop_->stopped(); }
  bool runs_loop_here() const { return runs_loop() && runner_ == std::this_thread::get_id(); }
  void take_thread();
  void turn(Duration wait_max);

  // Application. The functions from here on run in the loop's thread.
  void on_wake(Instant now) override;
  void on_turn_end(Instant now) override;
  void on_publish() override { queue_.publish(); }
  std::optional<Instant> next_deadline() const override { return leave_at_; }
  void on_warning(const std::string& text) override { deliveries_.push_warning(text); }
  void on_address(const io::AddressBook::Change& change) override;
  void on_message(const node::Message& message) override { deliveries_.add(message); }
  void on_early(const node::Message& message) override { deliveries_.add(message); }
  void on_view(const order::View& view) override { deliveries_.push_view(view); }
  void on_originate(const node::Origination&) override { ++placed_; }
  void on_event(const order::Event& event) override;
  void on_fatal(std::string_view reason) override;
  std::uint32_t receive_room_units() const override { return queue_.room_units(); }
  void on_unit_delivered(const order::Delivery& delivery) override {
    deliveries_.begin_unit(delivery);
  }
  void on_unit_early(const order::Delivery& early) override { deliveries_.begin_early_unit(early); }

  /// Passes staged messages to the node, as many as the node accepts.
  void feed(Instant now);
  void leave_if_done(Instant now);
  void close(bool on_request, std::string reason);
  void take_requests(Instant now);
  runtime::Snapshot snapshot() const;

  const config::Settings settings_;
  std::unique_ptr<io::Loop> loop_;
  /// Declared before the objects that hold references to its buffers.
  std::unique_ptr<runtime::Runtime> runtime_;
  SubmitStage submitted_;
  mutable EventQueue queue_;  ///< mutable because room_units() notes that the loop waits for space
  Deliveries deliveries_;     ///< used only in the loop's thread
  EventReader reader_;
  mutable Requests requests_;  ///< mutable because status() adds a question
  bool read_all_ = false;      ///< the reader has seen the last event
  mutable std::atomic<bool> fd_asked_{false};
  /// The thread that ran the loop last, if the loop has no thread of its own.
  std::atomic<std::thread::id> runner_;
  std::atomic<bool> room_again_{false};

  // The loop's thread only.
  /// The number of messages released by the node, as last reported to `submitted_`.
  std::uint64_t released_ = 0;
  std::uint64_t placed_ = 0;
  std::optional<Instant> leave_at_;
  bool closed_ = false;

  std::mutex join_mutex_;
  std::thread thread_;
};

}  // namespace peal::member
