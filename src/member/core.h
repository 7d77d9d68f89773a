// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
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
#include "member/event_queue.h"
#include "member/reader.h"
#include "member/stage.h"
#include "runtime/runtime.h"
#include "runtime/snapshot.h"

namespace peal::member {

/// A member: a runtime, its input (Stage) and its output (EventQueue). The loop runs on a thread of
/// its own, or on the reader's inside next(), wait_until() and leave(). Threads: as for
/// peal::Member.
class Core final : private runtime::Application {
 public:
  static Result<std::unique_ptr<Core>, io::IoError> open(const config::Settings& settings);
  ~Core() override;

  const config::Settings& settings() const { return settings_; }
  /// Queues a message for the nodes that learn `domain`, one of this node's; returns its number.
  /// Errors: would_block, too_large, closed.
  Result<std::uint64_t> submit(ByteView payload, Service service, order::Domain domain = 0);
  Result<std::uint64_t> submit_until(ByteView payload, Service service, order::Domain domain,
                                     std::chrono::steady_clock::time_point deadline);

  /// The next message or notice. Thread: the reader's.
  Reader::Out next();
  /// The same, waiting until `deadline`.
  Reader::Out wait_until(std::chrono::steady_clock::time_point deadline);
  int fd() const;

  void leave(std::chrono::milliseconds patience);
  /// Reads the key file again and continues with its keys. Returns the key for sending. Errors:
  /// invalid_option (as by open(); the old keys stay in use), closed.
  Result<seal::KeyId, io::IoError> reload_keys();
  std::string id() const;
  runtime::Snapshot status() const;
  std::uint32_t message_bytes_max() const { return settings_.limits.message_bytes_max; }
  /// Makes this list of nodes active once all members of the view have it. Errors: invalid_option
  /// (the change is not possible; the message says why), closed.
  Result<void, io::IoError> set_nodes(config::Listing listing);
  /// Thread: the reader's.
  const trace::Names& names() const { return reader_.names(); }

 private:
  explicit Core(const config::Settings& settings);
  Result<void, io::IoError> start_thread();
  void run();
  void finish();

  // The reader's thread.
  Reader::Out read();
  bool runs_loop() const { return !settings_.own_thread && !loop_->stopped(); }
  void take_thread();
  void turn(Duration wait_max);

  // Application: the loop's thread from here on.
  void on_wake(Instant now) override;
  void on_turn_end(Instant now) override;
  void on_publish() override { queue_.publish(); }
  std::optional<Instant> next_deadline() const override { return leave_at_; }
  void on_warning(const std::string& text) override;
  void on_address(const io::AddressBook::Change& change) override;
  void on_message(const node::Message& message) override;
  void on_early(const node::Message& message) override;
  void on_view(const order::View& view) override;
  void on_originate(std::uint64_t, const ViewId&, Seq, std::uint32_t, Service) override {}
  void on_event(const order::Event& event) override;
  void on_fatal(std::string_view reason) override;
  std::uint32_t receive_room_units() const override { return queue_.room_units(); }
  void on_unit_delivered(const order::Delivery& delivery) override;
  void on_unit_early(const order::Delivery& early) override;

  /// Hands staged messages to the node, as many as it accepts.
  void feed(Instant now);
  /// Queues the unit whose messages were delivered last.
  void push_unit();
  void begin_unit(const order::Delivery& delivery);
  void take_message(const node::Message& message);
  void push_notice(Notice notice);
  void leave_if_done(Instant now);
  void close(bool on_request, std::string reason);
  void take_keys();
  void take_nodes(Instant now);
  std::string give_nodes(Instant now, const config::Listing& listing);
  void answer_status();
  runtime::Snapshot snapshot() const;
  void set_id(MemberId id);

  const config::Settings settings_;
  std::unique_ptr<io::Loop> loop_;
  std::unique_ptr<runtime::Runtime> runtime_;  ///< declared before all that holds references to its
                                               ///< buffers
  Stage stage_;
  mutable EventQueue queue_;  ///< mutable since room_units() remembers the last answer
  Reader reader_;
  bool read_all_ = false;  ///< the reader has seen the last event
  mutable std::atomic<bool> fd_asked_{false};
  std::atomic<std::thread::id> runner_;  ///< the thread that ran the loop last, if it has no thread
                                         ///< of its own
  std::atomic<bool> room_again_{false};

  // The loop's thread only.
  std::uint64_t released_ = 0;  ///< messages released by the node, as the stage was told
  DeliveredUnit unit_;
  bool unit_has_messages_ = false;
  std::uint64_t copied_units_ = 0;   ///< kept as copies, since buffers were scarce
  std::uint64_t own_delivered_ = 0;  ///< number of the last own message delivered
  std::optional<Instant> leave_at_;
  bool closed_ = false;
  ViewId view_{};
  bool transitional_ = false;  ///< present deliveries are in the transitional view
  std::vector<MemberId> members_;
  std::string why_gathering_;  ///< since the newest regular view; empty while it lasts
  Duration pause_{};           ///< the most recent time for which this process was suspended

  std::mutex reload_mutex_;  ///< held while keys or nodes are requested; locked before mutex_
  mutable std::mutex mutex_;
  mutable std::condition_variable answered_;
  std::string id_;
  std::optional<std::chrono::milliseconds> leave_asked_;
  std::optional<seal::Keys> keys_asked_;        ///< keys to continue with
  std::optional<config::Listing> nodes_asked_;  ///< the wanted list
  std::optional<std::string> nodes_answer_;     ///< the refusal; empty: the list was accepted
  mutable std::uint64_t status_asked_ = 0;
  std::uint64_t status_answered_ = 0;
  runtime::Snapshot status_;
  bool ended_ = false;  ///< the thread has finished; status_ is final

  std::mutex join_mutex_;
  std::thread thread_;
};

}  // namespace peal::member
