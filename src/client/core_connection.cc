// SPDX-License-Identifier: Apache-2.0
// Use of the connection by any thread. One thread at a time uses it, and does not hold the lock
// while it reads or writes.

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "client/core.h"

namespace peal::client {
namespace {

/// Messages sent closer together than this share system calls; a later one is written at once.
constexpr Duration kWriteApart = microseconds(20);
/// With this many bytes waiting, even such messages are written at once.
constexpr std::size_t kUnwrittenBytesMax = 64U << 10;
/// Events are reported as seen together with other output, after this many bytes, or when the own
/// thread looks.
constexpr std::size_t kUnsaidBytesMax = 64U << 10;
/// The same for events in shared memory; far below the limit at which the daemon stops using it.
constexpr std::uint64_t kUnsaidSharedBytesMax = wire::kSharedUnseenMax / 8;
/// How often a thread writes again because others added output while it was writing.
constexpr int kRoundsMax = 4;
/// After this many reads without an event, an application thread leaves reading to the own thread.
constexpr int kLooksMax = 16;

timespec time_until(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::max(deadline - std::chrono::steady_clock::now(),
                             std::chrono::steady_clock::duration::zero());
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(left - whole);
  return {static_cast<time_t>(whole.count()), static_cast<long>(rest.count())};
}

}  // namespace

// ---- Reading and writing

/// Writes once, without the lock. The records must stay in place meanwhile: only the thread that
/// uses the connection may remove any, others wait until it is unused.
void Core::write_once(Lock& lock) {
  PEAL_ASSERT(!in_use_ && stream_ != nullptr);
  in_use_ = true;
  const bool flush_first = unsent_;
  chunks_.clear();
  if (!flush_first) session_.gather(chunks_, io::Stream::kChunksMax);
  unwritten_bytes_ = 0;
  lock.unlock();
  io::Transfer moved;
  if (flush_first) {
    moved.outcome = stream_->flush();
  } else if (!chunks_.empty()) {
    moved = stream_->write(chunks_);
  }
  const bool unsent = stream_->has_unsent();
  const Instant now = io::Clock::now();
  lock.lock();
  in_use_ = false;
  unsent_ = unsent;
  written_ = now;
  if (moved.bytes > 0) {
    pulse_.said(now);
    unsaid_bytes_ = 0;
  }
  const bool was_blocked =
      std::exchange(write_blocked_, moved.outcome == io::StreamOutcome::blocked);
  session_.written(moved.bytes);
  if (moved.outcome == io::StreamOutcome::broken) {
    fail(Trouble::writing, stream_->error());
  } else if (write_blocked_ && !was_blocked) {
    wake_thread();  // to wait for POLLOUT
  }
  if (waiters_ > 0) changed_.notify_all();
}

/// Writes all output, and what others add meanwhile, at most kRoundsMax times.
void Core::write_out(Lock& lock) {
  for (int round = 0; round < kRoundsMax; ++round) {
    if (write_blocked_ || trouble_ != Trouble::none || stream_ == nullptr) return;
    if (!unsent_ && !session_.has_output()) return;
    if (in_use_) return;
    write_once(lock);
    if (!unsent_ && !session_.has_more_than_seen()) return;
  }
  leave_rest();
}

/// Reads once, even if the inbox is full, and returns the number of bytes received.
std::size_t Core::read_once(Lock& lock) {
  PEAL_ASSERT(!in_use_ && stream_ != nullptr);
  in_use_ = true;
  lock.unlock();
  const io::Transfer moved = stream_->read(buffer_);
  const bool unsent = stream_->has_unsent();
  const Instant now = moved.bytes > 0 ? io::Clock::now() : Instant{};
  lock.lock();
  read_blocked_ = moved.outcome == io::StreamOutcome::blocked;
  unsent_ = unsent;
  if (moved.bytes > 0) {
    pulse_.heard(now);
    suspects_ = false;
    unsaid_bytes_ += moved.bytes;
    was_open_ = session_.phase() == Session::Phase::open;
    if (stream_->expects_descriptor()) take_memory();
    session_.received(ByteView(buffer_).first(moved.bytes));
    const bool is_open = session_.phase() == Session::Phase::open;
    if (is_open && !was_open_) usable_ = trouble_ == Trouble::none;
    if (!is_open && usable_) withdraw();
  }
  in_use_ = false;
  check_torn();
  if (moved.outcome == io::StreamOutcome::broken) {
    fail(Trouble::reading, stream_->error());
  } else if (moved.outcome == io::StreamOutcome::end) {
    fail(Trouble::reading, {Errc::closed, "the daemon ended the connection"});
  }
  if (moved.bytes > 0 || waiters_ > 0) notify();
  // Other threads added output while this one used the connection, and left it to this one.
  if (unsent_ || session_.has_more_than_seen()) push_out(lock);
  return moved.bytes;
}

void Core::check_torn() {
  if (!session_.is_torn() || trouble_ != Trouble::none) return;
  fail(Trouble::writing, {Errc::closed, "what the daemon told was gone before it was read"});
}

/// Maps the memory whose descriptor came with the first byte. If that fails, the daemon sends all
/// events on the connection.
void Core::take_memory() {
  const io::Fd came = stream_->take_descriptor();
  if (!came) return;
  auto mapped = io::map_shared_memory(came);
  if (!mapped) return;
  memory_ = std::move(*mapped);
  session_.share(memory_.view());
}

void Core::wait_until_unused(Lock& lock, bool and_not_polled) {
  while (in_use_ || (and_not_polled && polled_)) {
    ++waiters_;
    changed_.wait(lock);
    --waiters_;
  }
}

/// The connection has failed; the own thread ends it.
void Core::fail(Trouble kind, io::IoError why) {
  trouble_ = kind;
  why_ = std::move(why);
  withdraw();
}

/// From now on no application thread uses the connection.
void Core::withdraw() {
  usable_ = false;
  unwatch();
  if (polled_) kick_.set();
  wake_thread();
}

void Core::wake_thread() {
  if (std::exchange(sleeping_, false)) wake_.set();
}

/// A thread inside take() handles the events, and signals those that it leaves.
void Core::signal_events() {
  if (!fd_used_ || takers_ > 0 || !session_.has_item()) return;
  if (!std::exchange(events_signalled_, true)) events_fd_.set();
}

void Core::notify() {
  signal_events();
  if (polled_ && session_.has_item()) kick_.set();
  if (room_wanted_ && session_.has_room(room_bytes_)) {
    room_wanted_ = false;
    room_fd_.set();
  }
  if (waiters_ > 0) changed_.notify_all();
}

// ---- Who serves

/// Only the own thread says goodbye. It also serves while the application waits for room_fd(),
/// since the application may make no other calls then.
bool Core::may_take_over() const {
  return usable_ && !suspects_ && !room_wanted_ && !session_.saying_goodbye() &&
         session_.wants_input();
}

/// So much is unreported that seen events are reported even without other output.
bool Core::has_much_unsaid() const {
  return unsaid_bytes_ >= kUnsaidBytesMax || session_.taken_bytes() >= kUnsaidSharedBytesMax;
}

bool Core::may_serve() const { return may_take_over() && !in_use_ && !polled_; }

/// The application serves from now on, as long as it calls often enough.
void Core::take_over() {
  ++visits_;
  if (!std::exchange(thread_serves_, false)) return;
  watch();
  wake_thread();
}

/// The own thread serves from now on.
void Core::hand_over() {
  if (std::exchange(thread_serves_, true)) return;
  unwatch();
  guard_ = Guard::none;
  read_blocked_ = false;
  if (polled_) kick_.set();
  wake_thread();
}

void Core::watch() {
  if (!fd_used_ || watched_ || !usable_ || thread_serves_) return;
  watched_ = events_or_connection_.watch(stream_->fd());
  if (!watched_) hand_over();
}

void Core::unwatch() {
  if (std::exchange(watched_, false)) events_or_connection_.unwatch(stream_->fd());
}

/// Writes output that was just added, unless something was written less than kWriteApart ago.
void Core::push_out(Lock& lock) {
  if (!usable_ || in_use_ || write_blocked_) return;  // the thread that uses it goes on
  if (unwritten_bytes_ < kUnwrittenBytesMax && io::Clock::now() < written_ + kWriteApart) {
    return leave_rest();
  }
  write_out(lock);
}

/// Leaves output to the application's next call, and arms a timer after which the own thread writes
/// it.
void Core::leave_rest() {
  if (!usable_ || write_blocked_ || std::exchange(later_set_, true)) return;
  later_.set(left_for_);
}

/// Reads what has arrived, until there is an event.
void Core::look(Lock& lock) {
  if (!may_take_over()) return;
  take_over();
  if (!may_serve()) return;  // the thread that uses it reports what arrives
  if (unsent_ || session_.has_more_than_seen() || has_much_unsaid()) write_out(lock);
  for (int i = 0; i < kLooksMax; ++i) {
    if (!may_serve()) return;
    read_once(lock);
    if (session_.has_item() || read_blocked_) return;
  }
  hand_over();
}

/// Serves the connection until something has happened; sleeps up to `deadline`.
void Core::serve(Lock& lock, Deadline deadline) {
  take_over();
  if (unsent_ || session_.has_more_than_seen() || has_much_unsaid()) {
    write_out(lock);
    if (!may_serve()) return;
  }
  if (!read_blocked_) {
    read_once(lock);
    return;
  }
  polled_ = true;
  std::array<pollfd, 2> fds{pollfd{stream_->fd(), POLLIN, 0}, pollfd{kick_.fd(), POLLIN, 0}};
  lock.unlock();
  poll(fds, deadline);
  lock.lock();
  polled_ = false;
  ++visits_;
  if (fds[1].revents != 0) kick_.clear();
  if (fds[0].revents != 0) {
    read_blocked_ = false;
    if (may_serve() && !session_.has_item()) read_once(lock);
  }
  if (std::exchange(unwatched_, false)) wake_thread();
  if (waiters_ > 0) changed_.notify_all();
}

void Core::poll(std::span<pollfd> fds, Deadline deadline) {
  const bool notes = polling_.enabled();
  const Instant begin = notes ? io::Clock::now() : Instant{};
  if (!polling_.pays(begin) || !spin(fds, deadline)) {
    const timespec time = time_until(deadline);
    ::ppoll(fds.data(), fds.size(), &time, nullptr);
  }
  if (notes) polling_.note_wait(io::Clock::now() - begin);
}

/// Polls without sleeping. Returns false if nothing became ready.
bool Core::spin(std::span<pollfd> fds, Deadline deadline) {
  const timespec left = time_until(deadline);
  Instant now = io::Clock::now();
  const Duration time = seconds(left.tv_sec) + nanoseconds(left.tv_nsec);
  const Instant end = now + std::min(time, polling_.most());
  while (now < end) {
    constexpr timespec kNone{};
    if (::ppoll(fds.data(), fds.size(), &kNone, nullptr) > 0) return true;
    ::sched_yield();
    const Instant before = std::exchange(now, io::Clock::now());
    if (polling_.note_poll(now, now - before)) return false;
  }
  return false;
}

/// Waits until something may have changed, at most until `deadline`.
void Core::wait(Lock& lock, Deadline deadline) {
  if (may_serve()) return serve(lock, deadline);
  if (!polled_ && !in_use_) hand_over();  // no other thread serves
  ++waiters_;
  changed_.wait_until(lock, deadline);
  --waiters_;
}

}  // namespace peal::client
