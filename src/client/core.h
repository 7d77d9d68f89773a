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

/// A session with its connection. The application's threads serve it while they are inside, and
/// the core's own thread whenever they are not. Threads: any, but what is said at Client.
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
  /// `used`: the body of an item that is not needed any more. A message is decoded into `message`.
  std::optional<Item> take(Deadline deadline, std::vector<std::byte> used,
                           wire::MessageEvent& message);
  void close(Deadline deadline);
  v0::ClientStatus status() const;
  int events_fd();
  int room_fd() const { return room_fd_.fd(); }

 private:
  using Lock = std::unique_lock<std::mutex>;
  /// What ends a connection, and has not been dealt with yet.
  enum class Trouble : std::uint8_t {
    none,
    writing,  ///< what the daemon said before may still be there to be read
    reading,
  };

  /// Whether the application reads when something comes.
  enum class Guard : std::uint8_t {
    none,
    set,      ///< nothing has come since it was here last
    tripped,  ///< it has time until look_again_
  };

  Core(Dialer dialer, const v0::ClientOptions& options);
  std::optional<v0::Error> greet();
  std::optional<v0::Error> start_thread();

  // Of the thread; greet() before there is one. All begin and end with the lock.
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

  // With the lock, any thread. Those that take it let go of it meanwhile.
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

  // With the lock, the application's threads.
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
  Signal wake_;       ///< the thread
  Timer later_;       ///< wakes it, if what was left to it has not been written by then
  Signal kick_;       ///< the application's thread that polls
  Signal events_fd_;  ///< there is something to read
  Signal room_fd_;
  Watcher events_or_connection_;
  std::atomic<bool> stop_{false};
  std::mutex joining_;  ///< of those who close at the same time, one waits for the thread
  std::thread thread_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int waiters_ = 0;  ///< wait for changed_
  int takers_ = 0;   ///< are in take()
  Session session_;

  // Who serves the connection.
  bool usable_ = false;            ///< it is open, and any thread may use it
  bool in_use_ = false;            ///< one reads or writes, without the lock
  bool thread_serves_ = true;      ///< else the application does, and the thread looks after it
  bool sleeping_ = false;          ///< the thread polls, and has to be woken
  bool polled_ = false;            ///< a thread of the application polls
  bool unwatched_ = false;         ///< for so long that the thread looks after it no more
  Guard guard_ = Guard::none;      ///< of the thread, over an application that may poll fd()
  bool later_set_ = false;         ///< later_ runs
  bool watched_ = false;           ///< events_or_connection_ watches the connection
  bool fd_used_ = false;           ///< somebody asked for it
  std::uint64_t visits_ = 0;       ///< of the application
  std::uint64_t last_visits_ = 0;  ///< when the thread looked last
  Instant look_again_;             ///< at the visits
  bool suspects_ = false;          ///< nothing was heard for too long: the thread looks itself

  bool events_signalled_ = false;  ///< events_fd_ is readable
  bool room_wanted_ = false;       ///< room_fd_ is not readable, and has to be
  std::size_t room_bytes_ = 0;     ///< for a message of so many bytes, the smallest that waits

  // The connection. The stream and the buffers are of whoever uses it; only the thread ends it.
  std::unique_ptr<io::Stream> stream_;
  io::Mapping memory_;  ///< that the daemon shares on this connection
  std::vector<std::byte> buffer_;
  std::vector<ByteView> chunks_;
  io::Polling polling_;  ///< of the application's thread that polls
  bool read_blocked_ = false;
  bool write_blocked_ = false;
  bool unsent_ = false;    ///< the stream has taken what it has not sent
  bool was_open_ = false;  ///< before the daemon gave it up
  /// For whoever sends to come back and write the rest; then the thread does. Longer for one that
  /// always comes back.
  static constexpr Duration kLeftForMin = microseconds(200);
  static constexpr Duration kLeftForMax = milliseconds(2);
  Duration left_for_ = kLeftForMin;
  Instant written_;                  ///< last
  std::size_t unwritten_bytes_ = 0;  ///< about, since then
  std::size_t unsaid_bytes_ = 0;     ///< were read since then, and the daemon does not know
  Pulse pulse_;
  Trouble trouble_ = Trouble::none;
  io::IoError why_;  ///< the connection was lost, or not made

  // Of the thread.
  Instant greeting_ends_;
  Instant give_up_;
  Instant next_try_;
  Duration pause_;
};

}  // namespace peal::client
