// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "client/dialer.h"
#include "client/pulse.h"
#include "client/session.h"

namespace peal::client {

/// A session with its connection, and the thread that serves both. Threads: any, but what is said
/// at Client.
class Core {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// As Client::connect.
  static Result<std::unique_ptr<Core>, v0::Error> open(const v0::ClientOptions& options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  struct Outgoing {
    std::span<const std::string_view> targets;
    ByteView payload;
    Service service{};
    std::uint16_t type{};
    bool self_discard = false;
  };
  Result<std::uint64_t, v0::Error> send(const Outgoing& message, Deadline deadline);
  Result<std::string, v0::Error> join(std::string_view group, const wire::SlowLimits& limits,
                                      Deadline deadline);
  Result<std::string, v0::Error> leave(std::string_view group, Deadline deadline);
  Result<std::string, v0::Error> ask(std::string_view what, Deadline deadline);
  std::optional<v0::Error> flush(Deadline deadline);
  std::optional<Item> take(Deadline deadline);
  void close(Deadline deadline);
  v0::ClientStatus status() const;
  int events_fd() const { return events_fd_.fd(); }
  int room_fd() const { return room_fd_.fd(); }

 private:
  using Lock = std::unique_lock<std::mutex>;

  Core(Dialer dialer, const v0::ClientOptions& options);
  std::optional<v0::Error> greet();
  std::optional<v0::Error> start_thread();

  // Of the thread that serves; open() before there is one.
  void run();
  bool turn();
  bool write_some();
  bool read_some();
  std::size_t take_in();
  void hear_out(io::IoError why);
  void sleep();
  Instant alarm(bool wants_input);
  void on_alarm(Instant now, bool heard_all);
  void come_back();
  void lose(const io::IoError& why);
  void drop(bool was_open);

  // With the lock.
  void notify();
  void wake_up(Lock& lock);
  Result<std::string, v0::Error> answer(std::uint32_t request, Deadline deadline, Lock& lock);
  v0::Error send_error(Errc code) const;

  Dialer dialer_;
  const Duration connect_timeout_;
  Signal wake_;
  Signal events_fd_;
  Signal room_fd_;
  std::atomic<bool> stop_{false};
  std::mutex joining_;  ///< of those who close at the same time, one waits for the thread
  std::thread thread_;

  mutable std::mutex mutex_;
  std::condition_variable events_;   ///< there is something to read
  std::condition_variable changed_;  ///< anything else
  Session session_;
  bool sleeping_ = false;          ///< the thread polls and has to be woken
  bool events_signalled_ = false;  ///< events_fd_ is readable
  bool room_wanted_ = false;       ///< room_fd_ is not readable, and has to be
  std::size_t room_bytes_ = 0;     ///< for a message of so many bytes, the smallest that waits
  int readers_ = 0;                ///< wait for events_
  int waiters_ = 0;                ///< wait for changed_

  // Of the thread that serves.
  std::unique_ptr<io::Stream> stream_;
  std::vector<std::byte> buffer_;
  std::vector<ByteView> chunks_;
  bool read_blocked_ = false;
  bool write_blocked_ = false;
  Pulse pulse_;
  Instant greeting_ends_;
  Instant give_up_;
  Instant next_try_;
  Duration pause_;
  io::IoError why_;  ///< the connection was lost, or not made
};

}  // namespace peal::client
