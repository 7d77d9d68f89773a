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
#include "base/time.h"
#include "client/attendance.h"
#include "client/connection.h"
#include "client/dialer.h"
#include "client/poller.h"
#include "client/pulse.h"
#include "client/ready_signals.h"
#include "client/retry.h"
#include "client/session.h"
#include "client/write_timer.h"
#include "io/error.h"

namespace peal::client {

/// A session with its connection. Application threads read and write the connection (they "serve"
/// it) while they are inside a call. At other times the client's own thread serves it. Threads:
/// any, with the limits stated at class Client.
class ConnectedSession {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// Like Client::connect().
  static Result<std::unique_ptr<ConnectedSession>, v0::Error> open(
      const v0::ClientOptions& options);
  ~ConnectedSession();
  ConnectedSession(const ConnectedSession&) = delete;
  ConnectedSession& operator=(const ConnectedSession&) = delete;

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
  /// `used`: the body of an item that the caller no longer needs; the buffer of the body is reused.
  /// If the returned item is a message, the message is decoded into `message`.
  std::optional<Item> take(Deadline deadline, std::vector<std::byte> used,
                           wire::MessageEvent& message);
  void close(Deadline deadline);
  v0::ClientStatus status() const;
  int events_fd();
  int room_fd() const { return signals_.room_fd(); }

 private:
  using Lock = std::unique_lock<std::mutex>;
  /// A failure that ends the connection and that the client's thread has not handled yet.
  enum class Trouble : std::uint8_t {
    none,
    writing,  ///< writing failed, but the daemon's last records may still be readable
    reading,
  };

  ConnectedSession(Dialer dialer, const v0::ClientOptions& options);
  std::optional<v0::Error> greet();

  // Called by the client's thread, and by greet() before that thread exists. All functions but
  // run() and come_back() are called and return with the lock held.
  void run();
  bool turn(Lock& lock);
  void sleep(Lock& lock);
  void after_sleep(Instant until, bool wants_input, bool wants_rest, short revents);
  Instant alarm(bool listens) const;
  void on_alarm(Instant now, bool heard_all);
  void part(Lock& lock);
  void come_back();

  // Called by any thread with the lock held. Functions that get `lock` release the lock while they
  // read, write or wait.
  void write_once(Lock& lock);
  void write_out(Lock& lock);
  std::size_t read_once(Lock& lock);
  void check_torn();
  void wait_until_unused(Lock& lock, bool and_not_polled);
  void fail(Trouble kind, io::IoError why);
  void withdraw();
  void wake_thread();
  void notify();

  // Called by application threads with the lock held.
  bool may_take_over() const;
  bool may_serve() const;
  void take_over();
  void hand_over();
  void push_out(Lock& lock);
  void leave_rest();
  void look(Lock& lock);
  void serve(Lock& lock, Deadline deadline);
  void wait(Lock& lock, Deadline deadline);
  void watch();
  Result<std::string, v0::Error> answer(std::uint32_t request, Deadline deadline, Lock& lock);

  Dialer dialer_;
  const Duration connect_timeout_;
  Signal wake_;             ///< wakes the client's thread
  Signal kick_;             ///< wakes the application thread that polls
  WriteTimer write_timer_;  ///< wakes the client's thread to write output that is left
  std::atomic<bool> stop_{false};
  std::mutex joining_;  ///< held by close() while it joins thread_, so that only one call joins
  std::thread thread_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int waiters_ = 0;  ///< number of threads that wait on changed_
  /// Number of threads inside take(). The last one to return signals that events remain.
  int takers_ = 0;
  Session session_;
  ReadySignals signals_;

  // The state that determines which thread serves the connection.
  bool usable_ = false;  ///< the connection is open, and any thread may use it
  bool in_use_ = false;  ///< a thread reads or writes the connection, without the lock
  /// False: the application serves the connection, and the client's thread only checks that it does
  /// so.
  bool thread_serves_ = true;
  bool sleeping_ = false;  ///< the client's thread polls and must be woken
  bool polled_ = false;    ///< an application thread polls the connection
  bool suspects_ = false;  ///< the daemon seems to be silent: the client's thread reads
  Attendance attendance_;  ///< whether the application serves the connection

  Connection connection_;
  Poller poller_;          ///< used by the application thread that polls
  bool was_open_ = false;  ///< the session was open before the last input
  Pulse pulse_;
  Trouble trouble_ = Trouble::none;
  io::IoError why_;  ///< why the connection was lost, or could not be made

  // Used only by the client's thread.
  Instant greeting_ends_;
  Retry retry_;
};

}  // namespace peal::client
