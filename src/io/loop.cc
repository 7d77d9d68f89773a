// SPDX-License-Identifier: Apache-2.0
#include "io/loop.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/assert.h"
#include "io/clock.h"
#include "io/fork.h"

namespace peal::io {
namespace {

constexpr Duration kForever = seconds(3'600);
/// Waiting::polling: looking at the descriptors takes a system call, in which the loop does not see
/// its memory. While nothing comes there, it looks less and less often.
constexpr Duration kLookEvery = microseconds(5);
constexpr Duration kLookEveryMost = microseconds(40);

timespec to_timespec(Duration time) {
  return {static_cast<time_t>(time.ns / 1'000'000'000), static_cast<long>(time.ns % 1'000'000'000)};
}

bool due(const LoopHost& host, Instant now) {
  const auto deadline = host.next_deadline();
  return deadline && *deadline <= now;
}

}  // namespace

struct Loop::Watch {
  int fd;
  Callback callback;
};

struct Loop::Events {
  std::array<epoll_event, kEventsMax> list;
};

Result<std::unique_ptr<Loop>, IoError> Loop::open(const LoopOptions& options) {
  std::unique_ptr<Loop> loop(new Loop(options));
  const auto prepared = loop->prepare();
  if (!prepared) return unexpected(prepared.error());
  return loop;
}

Loop::Loop(const LoopOptions& options)
    : options_(options),
      polling_(options.waiting == Waiting::adaptive ? options.spin : Duration{}),
      events_(std::make_unique<Events>()) {}

Loop::~Loop() {
  for (const int fd : {epoll_, wake_fd_, timer_fd_}) {
    if (fd < 0) continue;
    keep_in_children(fd);
    ::close(fd);
  }
}

Result<void, IoError> Loop::prepare() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return unexpected(system_error("epoll", errno));
  wake_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  timer_fd_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (wake_fd_ < 0 || timer_fd_ < 0) return unexpected(system_error("event descriptors", errno));
  for (const int fd : {epoll_, wake_fd_, timer_fd_}) close_in_children(fd);
  // Edge-triggered: each write causes a new event, so these descriptors need not be read.
  for (int* own : {&wake_fd_, &timer_fd_}) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.ptr = own;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, *own, &event) != 0) {
      return unexpected(system_error("epoll", errno));
    }
  }
  return {};
}

Result<void, IoError> Loop::watch(int fd, std::uint32_t events, Callback callback) {
  auto watch = std::make_unique<Watch>(Watch{fd, std::move(callback)});
  epoll_event event{};
  event.events = events;
  event.data.ptr = watch.get();
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) {
    return unexpected(system_error("watch descriptor " + std::to_string(fd), errno));
  }
  const auto index = static_cast<std::size_t>(fd);
  if (index >= watches_.size()) watches_.resize(index + 1);
  watches_[index] = std::move(watch);
  return {};
}

void Loop::change(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = watch_of(fd).get();
  const int result = ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
  PEAL_ASSERT(result == 0);
}

void Loop::unwatch(int fd) {
  std::unique_ptr<Watch>& watch = watch_of(fd);
  epoll_event unused{};
  const int result = ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, &unused);
  PEAL_ASSERT(result == 0);
  // The watch is freed at the end of the turn, because events of this turn may still point to it
  // and its callback may be running.
  watch->fd = -1;
  dead_.push_back(std::move(watch));
}

std::unique_ptr<Loop::Watch>& Loop::watch_of(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  PEAL_ASSERT(index < watches_.size() && watches_[index] != nullptr);
  return watches_[index];
}

void Loop::run(LoopHost& host) {
  while (!stopped()) turn(host, kForever);
}

void Loop::turn(LoopHost& host, Duration wait_max) {
  // A caller that polls does not wait, and need not ask for how long.
  const Duration sleep = wait_max.ns > 0 ? time_to_wait(host, Clock::now(), wait_max) : Duration{};
  const int count = wait(sleep);
  const Duration planned = std::max(sleep, std::exchange(armed_, Duration{}));
  Instant now = Clock::now();
  ++counters_.turns;
  note_pause(host, now, planned);
  dispatch(count);

  // A timer fires only if it was due before the sockets were read and is still due afterwards.
  const Turn turn{now, due(host, now)};
  const Progress progress = host.on_sockets(turn);
  more_ = progress.more;
  now = Clock::now();
  if (paused_ && progress.drained) {
    paused_ = false;
    host.on_drained(now);
  }
  if (pending_.exchange(false, std::memory_order_seq_cst)) {
    ++counters_.wakes;
    host.on_wake(now);
  }
  if (turn.timers_due && due(host, now)) host.on_timer(now);
  host.on_turn_end(now);
  dead_.clear();
}

void Loop::wake() {
  // If several threads call wake(), only the first one writes. The loop clears pending_ before it
  // looks for the work of these threads. Either the loop sees pending_ set before it sleeps, or
  // this thread sees that the loop sleeps.
  if (pending_.exchange(true, std::memory_order_seq_cst)) return;
  if (!sleeping_.load(std::memory_order_seq_cst)) return;
  signals_.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t one = 1;
  // The write fails only if the counter is full; the loop is then awake already.
  const ssize_t written = ::write(wake_fd_, &one, sizeof one);
  ignore(written, "a full counter wakes as well");
}

void Loop::stop() {
  stop_.store(true, std::memory_order_seq_cst);
  wake();
}

void Loop::arm(const LoopHost& host) {
  sleeping_.store(true, std::memory_order_seq_cst);
  Duration time = time_to_wait(host, Clock::now(), kForever);
  armed_ = time;
  if (pending_.load(std::memory_order_seq_cst)) time = {};
  if (memory_ != nullptr && !memory_->prepare_sleep()) time = {};
  itimerspec setting{};
  setting.it_value = to_timespec(std::max(time, nanoseconds(1)));  // zero would disarm the timer
  const int result = ::timerfd_settime(timer_fd_, 0, &setting, nullptr);
  PEAL_ASSERT(result == 0);
}

LoopCounters Loop::counters() const {
  LoopCounters counters = counters_;
  counters.signals = signals_.load(std::memory_order_relaxed);
  return counters;
}

Duration Loop::time_to_wait(const LoopHost& host, Instant now, Duration wait_max) const {
  if (more_) return {};
  Duration time = wait_max;
  if (options_.pause.ns > 0) time = std::min(time, options_.pause);
  if (const auto deadline = host.next_deadline()) time = std::min(time, *deadline - now);
  return std::max(time, Duration{});
}

int Loop::wait(Duration time) {
  sleeping_.store(false, std::memory_order_relaxed);
  if (memory_ != nullptr) memory_->end_sleep();  // arm() may have prepared it
  if (options_.waiting == Waiting::polling) {
    const Instant now = Clock::now();
    return wait_awake(now, now + time);
  }
  if (time.ns == 0) return wait_once(time);
  const Instant begin = polling_.enabled() ? Clock::now() : Instant{};
  if (polling_.pays(begin)) {
    const int count = wait_polling(begin, begin + std::min(time, polling_.most()));
    if (count != 0 || pending_.load(std::memory_order_relaxed) || has_news()) {
      ++counters_.spins;
      polling_.note_wait(Clock::now() - begin);
      return count;
    }
    time = std::max(time - (Clock::now() - begin), Duration{});
  }
  const int count = sleep(time);
  if (polling_.enabled()) polling_.note_wait(Clock::now() - begin);
  return count;
}

int Loop::sleep(Duration time) {
  sleeping_.store(true, std::memory_order_seq_cst);
  if (pending_.load(std::memory_order_seq_cst)) time = {};
  if (memory_ != nullptr && !memory_->prepare_sleep()) time = {};
  ++counters_.sleeps;
  const int count = wait_once(time);
  if (memory_ != nullptr) memory_->end_sleep();
  sleeping_.store(false, std::memory_order_relaxed);
  return count;
}

/// Waits without ever sleeping.
int Loop::wait_awake(Instant now, Instant end) {
  for (;; now = Clock::now()) {
    // Also if there is news in the memory all the time, descriptors get their turns.
    if (now >= look_at_) {
      const int count = wait_once({});
      look_gap_ = count != 0 ? kLookEvery : std::min(look_gap_ * 2, kLookEveryMost);
      look_at_ = now + look_gap_;
      if (count != 0) return count;
      ::sched_yield();
    }
    if (has_news() || pending_.load(std::memory_order_relaxed) || now >= end) break;
  }
  ++counters_.spins;
  return 0;
}

int Loop::wait_polling(Instant now, Instant end) {
  int count = 0;
  while (count == 0 && !pending_.load(std::memory_order_relaxed) && !has_news() && now < end) {
    count = wait_once({});
    if (count != 0) break;
    ::sched_yield();
    const Instant before = std::exchange(now, Clock::now());
    if (polling_.note_poll(now, now - before)) {
      ++counters_.ousted;
      break;
    }
  }
  return count;
}

int Loop::wait_once(Duration time) {
  int count = -1;
  if (has_pwait2_) {
    const timespec timeout = to_timespec(time);
    count = ::epoll_pwait2(epoll_, events_->list.data(), kEventsMax, &timeout, nullptr);
    if (count < 0 && errno == ENOSYS) has_pwait2_ = false;
  }
  if (!has_pwait2_) {
    const auto milliseconds_up = static_cast<int>((time.ns + 999'999) / 1'000'000);
    count = ::epoll_wait(epoll_, events_->list.data(), kEventsMax, milliseconds_up);
  }
  PEAL_ASSERT(count >= 0 || errno == EINTR);
  return std::max(count, 0);
}

void Loop::dispatch(int count) {
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events_->list[static_cast<std::size_t>(i)];
    if (event.data.ptr == &wake_fd_ || event.data.ptr == &timer_fd_) continue;
    auto* watch = static_cast<Watch*>(event.data.ptr);
    if (watch->fd >= 0) watch->callback(event.events);
  }
}

void Loop::note_pause(LoopHost& host, Instant now, Duration slept) {
  const Duration gap = now - previous_;
  const bool paused = primed_ && options_.pause.ns > 0 && gap >= options_.pause + slept;
  previous_ = now;
  primed_ = true;  // the first turn has no earlier turn to compare with
  if (!paused) return;
  ++counters_.pauses;
  paused_ = true;
  host.on_pause(now, gap);
}

}  // namespace peal::io
