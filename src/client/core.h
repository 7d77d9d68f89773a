// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

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

/// A session with its connection. Application threads serve the connection while they are inside a
/// call; the client's own thread serves it otherwise. Threads: any, with the limits stated at
/// Client.
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
  /// `used` is the body of an item that the caller no longer needs; its buffer is reused. A message
  /// is decoded into `message`.
  std::optional<Item> take(Deadline deadline, std::vector<std::byte> used,
                           wire::MessageEvent& message);
  void close(Deadline deadline);
  v0::ClientStatus status() const;
  int events_fd();
  int room_fd() const { return room_fd_.fd(); }

 private:
  using Lock = std::unique_lock<std::mutex>;
  /// A failure that ends the connection and that the own thread has not handled yet.
  enum class Trouble : std::uint8_t {
    none,
    writing,  ///< the daemon's last records may still be readable
    reading,
  };

  /// How the own thread watches an application that may sleep on fd().
  enum class Guard : std::uint8_t {
    none,
    set,      ///< it polls the connection; nothing has arrived since
    tripped,  ///< input arrived; the application has until look_again_
  };

  Core(Dialer dialer, const v0::ClientOptions& options);
  std::optional<v0::Error> greet();
  std::optional<v0::Error> start_thread();

  // Called by the own thread, and by greet() before that thread exists. All begin and end with the
  // lock held.
  void run();
  bool turn(Lock& lock);
  void sleep(Lock& lock);
  void after_sleep(Instant until, bool wants_input, bool wants_rest, short revents);
  Instant alarm(bool listens) const;
  void on_alarm(Instant now, bool heard_all);
  void look_after(Instant now);
  void part(Lock& lock);
  void drop();
  void come_back();

  // Called by any thread with the lock held. Those that take `lock` release it meanwhile.
  void write_once(Lock& lock);
  void write_out(Lock& lock);
  std::size_t read_once(Lock& lock);
  void take_memory();
  void check_torn();
  void wait_until_unused(Lock& lock, bool and_not_polled);
  void fail(Trouble kind, io::IoError why);
  void withdraw();
  void wake_thread();
  void notify();
  void signal_events();

  // Called by application threads with the lock held.
  bool may_take_over() const;
  bool may_serve() const;
  bool has_much_unsaid() const;
  void take_over();
  void hand_over();
  void push_out(Lock& lock);
  void leave_rest();
  void look(Lock& lock);
  void serve(Lock& lock, Deadline deadline);
  void poll(std::span<pollfd> fds, Deadline deadline);
  bool spin(std::span<pollfd> fds, Deadline deadline);
  void wait(Lock& lock, Deadline deadline);
  void watch();
  void unwatch();
  Result<std::string, v0::Error> answer(std::uint32_t request, Deadline deadline, Lock& lock);
  v0::Error send_error(Errc code) const;

  Dialer dialer_;
  const Duration connect_timeout_;
  Signal wake_;       ///< wakes the own thread
  Timer later_;       ///< wakes it to write output that the application left over
  Signal kick_;       ///< wakes the application thread that polls
  Signal events_fd_;  ///< readable while there is something to read
  Signal room_fd_;
  Watcher events_or_connection_;
  std::atomic<bool> stop_{false};
  std::mutex joining_;  ///< serializes concurrent close(): one joins, others wait
  std::thread thread_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int waiters_ = 0;  ///< threads that wait on changed_
  int takers_ = 0;   ///< threads inside take()
  Session session_;

  // The thread that serves the connection.
  bool usable_ = false;            ///< the connection is open, and any thread may use it
  bool in_use_ = false;            ///< a thread reads or writes, without the lock
  bool thread_serves_ = true;      ///< false: the application serves, and the thread checks on it
  bool sleeping_ = false;          ///< the own thread polls and must be woken
  bool polled_ = false;            ///< an application thread polls
  bool unwatched_ = false;         ///< it has polled so long that the own thread stopped checking
  Guard guard_ = Guard::none;      ///< how the own thread watches an application on fd()
  bool later_set_ = false;         ///< later_ is armed
  bool watched_ = false;           ///< events_or_connection_ watches the connection
  bool fd_used_ = false;           ///< the application called events_fd()
  std::uint64_t visits_ = 0;       ///< how often the application was inside a call
  std::uint64_t last_visits_ = 0;  ///< visits_ when the own thread last checked
  Instant look_again_;             ///< when it checks visits_ again
  bool suspects_ = false;          ///< the daemon is silent for too long: the thread reads itself

  bool events_signalled_ = false;  ///< events_fd_ is readable
  bool room_wanted_ = false;       ///< room_fd_ must become readable
  std::size_t room_bytes_ = 0;     ///< smallest waiting message, in bytes: room_fd_ needs that much

  // The thread that uses the connection owns the stream and the buffers; only the own thread closes
  // it.
  std::unique_ptr<io::Stream> stream_;
  io::Mapping memory_;  ///< shared by the daemon for this connection
  std::vector<std::byte> buffer_;
  std::vector<ByteView> chunks_;
  io::Polling polling_;  ///< by the application thread that polls
  bool read_blocked_ = false;
  bool write_blocked_ = false;
  bool unsent_ = false;    ///< the stream has accepted bytes that it has not sent
  bool was_open_ = false;  ///< the session was open before the last input
  /// How long a sender may leave output for its own next call before the own thread writes it. The
  /// time grows while the sender comes back in time.
  static constexpr Duration kLeftForMin = microseconds(200);
  static constexpr Duration kLeftForMax = milliseconds(2);
  Duration left_for_ = kLeftForMin;
  Instant written_;                  ///< when bytes were last written
  std::size_t unwritten_bytes_ = 0;  ///< roughly, since then
  std::size_t unsaid_bytes_ = 0;     ///< read since then, and not yet reported as seen
  Pulse pulse_;
  Trouble trouble_ = Trouble::none;
  io::IoError why_;  ///< why the connection was lost or not made

  // Only for the own thread.
  Instant greeting_ends_;
  Instant give_up_;
  Instant next_try_;
  Duration pause_;
};

}  // namespace peal::client
