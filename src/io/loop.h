// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "io/error.h"
#include "io/polled_memory.h"
#include "io/polling.h"

namespace peal::io {

/// The loop's request to read the sockets.
struct Turn {
  Instant now{};
  bool timers_due = false;  ///< a timer is due: read urgent packets even beyond the budget
};

/// The result of reading the sockets.
struct Progress {
  bool more = false;     ///< there may be more to read: do not sleep
  bool drained = false;  ///< the socket for tokens and control was seen empty
};

/// The object that a loop drives: one node and its transport. The loop's thread makes all calls. In
/// each turn, it makes the calls in the order below.
class LoopHost {
 public:
  virtual ~LoopHost() = default;
  /// The process did not run for `gap`. Packets read before on_drained may have been sent before or
  /// during the pause.
  virtual void on_pause(Instant now, Duration gap) = 0;
  /// Reads the packet sockets, up to a budget.
  virtual Progress on_sockets(const Turn& turn) = 0;
  /// The socket for tokens and control was seen empty for the first time after on_pause.
  virtual void on_drained(Instant now) = 0;
  /// Another thread called wake().
  virtual void on_wake(Instant now) = 0;
  /// next_deadline() has passed.
  virtual void on_timer(Instant now) = 0;
  /// Sends what this turn produced.
  virtual void on_turn_end(Instant now) = 0;
  /// When to call on_timer; nothing means never. The loop asks before each sleep.
  virtual std::optional<Instant> next_deadline() const = 0;
};

/// How a loop waits.
enum class Waiting : std::uint8_t {
  adaptive,  ///< polls for LoopOptions::spin at most, while that saves time; then sleeps
  polling,   ///< never sleeps: the loop keeps one processor busy
  sleeping,  ///< sleeps whenever there is nothing to do
};

struct LoopOptions {
  /// Longest time to poll before the loop sleeps. The loop polls only while polling saves time
  /// (io/polling.h). While it polls, it yields the processor to other threads.
  Duration spin{};
  /// A turn that starts this much later than planned is reported as a pause. Each sleep is limited
  /// to this time, so that an unnoticed pause is shorter than twice this time. 0 disables the
  /// detection.
  Duration pause{};
  Waiting waiting = Waiting::adaptive;
};

struct LoopCounters {
  std::uint64_t turns{};
  std::uint64_t sleeps{};   ///< number of waits that could block
  std::uint64_t spins{};    ///< number of waits that ended while polling
  std::uint64_t wakes{};    ///< calls of on_wake()
  std::uint64_t signals{};  ///< system calls that wake() needed
  std::uint64_t pauses{};
  std::uint64_t ousted{};  ///< times that polling stopped because another thread had the processor
};

/// The event loop of one thread. It reads packets before it fires timers, so that a packet that has
/// arrived prevents its own timeout. Allocates nothing per turn. Thread: one, except for wake() and
/// stop(), which any thread may call.
class Loop {
 public:
  /// `events` is the mask of epoll(7) events that occurred.
  using Callback = std::function<void(std::uint32_t events)>;

  /// Errors: system (no more descriptors).
  static Result<std::unique_ptr<Loop>, IoError> open(const LoopOptions& options);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Calls `callback` whenever `fd` has one of `events` (EPOLLIN, EPOLLOUT, EPOLLET if wanted).
  /// The loop does not own `fd`; unwatch it before closing it. May be called from a callback.
  Result<void, IoError> watch(int fd, std::uint32_t events, Callback callback);
  /// Changes the mask of a watched descriptor.
  void change(int fd, std::uint32_t events);
  /// Stops the callbacks of `fd`. May be called from a callback, even from the callback of `fd`.
  void unwatch(int fd);

  /// While it waits, the loop also looks at `memory`, which must outlive the loop's turns; null:
  /// none. News ends the wait; the host looks for it in on_sockets.
  void watch_memory(PolledMemory* memory) { memory_ = memory; }

  /// Runs turns until stop() is called.
  void run(LoopHost& host);
  /// Runs one turn: waits for events for at most `wait_max` (0: not at all), then handles them.
  void turn(LoopHost& host, Duration wait_max);

  /// Makes the loop call on_wake soon. Costs a system call only if the loop sleeps.
  /// Thread: any. Blocks: never.
  void wake();
  /// Ends run() after the current turn; a later run() returns at once. Thread: any.
  void stop();
  bool stopped() const { return stop_.load(std::memory_order_relaxed); }

  /// For a foreign event loop: this descriptor becomes readable when turn(host, 0) has work. Call
  /// arm() after each such turn, before the foreign loop sleeps.
  int fd() const { return epoll_; }
  void arm(const LoopHost& host);

  LoopCounters counters() const;  ///< Thread: the loop's

 private:
  struct Watch;
  explicit Loop(const LoopOptions& options);
  Result<void, IoError> prepare();
  std::unique_ptr<Watch>& watch_of(int fd);
  Duration time_to_wait(const LoopHost& host, Instant now, Duration wait_max) const;
  int wait(Duration time);
  int wait_polling(Instant now, Instant end);
  int wait_awake(Instant now, Instant end);
  int sleep(Duration time);
  bool has_news() const { return memory_ != nullptr && memory_->has_news(); }
  int wait_once(Duration time);
  void dispatch(int count);
  void note_pause(LoopHost& host, Instant now, Duration slept);

  static constexpr int kEventsMax = 64;

  LoopOptions options_;
  Polling polling_;
  PolledMemory* memory_ = nullptr;
  Instant look_at_{};  ///< Waiting::polling: when to look at the descriptors again
  Duration look_gap_ = microseconds(5);  ///< time between two such looks
  int epoll_ = -1;
  int wake_fd_ = -1;
  int timer_fd_ = -1;  ///< only for foreign loops
  bool has_pwait2_ = true;
  bool more_ = false;
  bool primed_ = false;
  Duration armed_{};     ///< the waiting time that arm() set in timer_fd_
  bool paused_ = false;  ///< true between on_pause and on_drained
  Instant previous_{};
  std::atomic<bool> pending_{false};
  std::atomic<bool> sleeping_{false};
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> signals_{0};
  std::vector<std::unique_ptr<Watch>> watches_;  ///< indexed by descriptor
  std::vector<std::unique_ptr<Watch>> dead_;     ///< removed in this turn; freed at its end
  LoopCounters counters_;
  struct Events;
  std::unique_ptr<Events> events_;
};

}  // namespace peal::io
