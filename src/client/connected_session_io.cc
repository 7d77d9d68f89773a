// SPDX-License-Identifier: Apache-2.0
// Reads and writes the connection, on any thread. One thread at a time uses the connection, and
// does not hold the lock while it reads or writes.

#include <poll.h>

#include <array>
#include <utility>

#include "base/assert.h"
#include "base/result.h"
#include "client/connected_session.h"
#include "io/error.h"

namespace peal::client {
namespace {

/// Maximum number of writes in a row by one thread. While this thread writes, other threads may add
/// output.
constexpr int kRoundsMax = 4;
/// After this many reads without an event, an application thread leaves reading to the client's
/// thread.
constexpr int kLooksMax = 16;

}  // namespace

// ---- Reading and writing

/// Writes once, without the lock. The records must stay in place meanwhile. So only the thread that
/// uses the connection may remove records, and other threads wait until it has finished.
void ConnectedSession::write_once(Lock& lock) {
  PEAL_ASSERT(!in_use_ && connection_.is_open());
  in_use_ = true;
  const bool was_blocked = connection_.write_blocked();
  connection_.begin_write(session_);
  lock.unlock();
  const Connection::Moved moved = connection_.write();
  lock.lock();
  in_use_ = false;
  if (moved.transfer.bytes > 0) pulse_.said(moved.now);
  connection_.end_write(session_, moved);
  if (moved.is_broken()) {
    fail(Trouble::writing, connection_.error());
  } else if (connection_.write_blocked() && !was_blocked) {
    wake_thread();  // the client's thread then waits for POLLOUT
  }
  if (waiters_ > 0) changed_.notify_all();
}

/// Writes all output, also the output that other threads add meanwhile; at most kRoundsMax times.
void ConnectedSession::write_out(Lock& lock) {
  for (int round = 0; round < kRoundsMax; ++round) {
    if (connection_.write_blocked() || trouble_ != Trouble::none || !connection_.is_open()) return;
    if (!connection_.unsent() && !session_.has_output()) return;
    if (in_use_) return;
    write_once(lock);
    if (!connection_.unsent() && !session_.has_more_than_seen()) return;
  }
  leave_rest();
}

/// Reads once, even if the inbox is full. Returns the number of received bytes.
std::size_t ConnectedSession::read_once(Lock& lock) {
  PEAL_ASSERT(!in_use_ && connection_.is_open());
  in_use_ = true;
  lock.unlock();
  const Connection::Moved moved = connection_.read();
  lock.lock();
  const std::size_t bytes = moved.transfer.bytes;
  connection_.end_read(session_, moved);
  if (bytes > 0) {
    pulse_.heard(moved.now);
    suspects_ = false;
    was_open_ = session_.phase() == Session::Phase::open;
    session_.received(connection_.received(moved));
    const bool is_open = session_.phase() == Session::Phase::open;
    if (is_open && !was_open_) usable_ = trouble_ == Trouble::none;
    if (!is_open && usable_) withdraw();
  }
  in_use_ = false;
  check_torn();
  if (moved.is_broken()) {
    fail(Trouble::reading, connection_.error());
  } else if (moved.is_end()) {
    fail(Trouble::reading, {Errc::closed, "the daemon ended the connection"});
  }
  if (bytes > 0 || waiters_ > 0) notify();
  // While this thread used the connection, other threads may have left output to it.
  if (connection_.unsent() || session_.has_more_than_seen()) push_out(lock);
  return bytes;
}

void ConnectedSession::check_torn() {
  if (!session_.inbox().is_torn() || trouble_ != Trouble::none) return;
  fail(Trouble::writing,
       {Errc::closed, "an event of the daemon was overwritten before it was read"});
}

void ConnectedSession::wait_until_unused(Lock& lock, bool and_not_polled) {
  while (in_use_ || (and_not_polled && polled_)) {
    ++waiters_;
    changed_.wait(lock);
    --waiters_;
  }
}

/// Call when the connection has failed. The client's thread then ends the connection.
void ConnectedSession::fail(Trouble kind, io::IoError why) {
  trouble_ = kind;
  why_ = std::move(why);
  withdraw();
}

/// Stops the use of the connection by application threads.
void ConnectedSession::withdraw() {
  usable_ = false;
  signals_.unwatch();
  if (polled_) kick_.set();
  wake_thread();
}

void ConnectedSession::wake_thread() {
  if (std::exchange(sleeping_, false)) wake_.set();
}

void ConnectedSession::notify() {
  if (takers_ == 0 && session_.inbox().has_item()) signals_.set_events();
  if (polled_ && session_.inbox().has_item()) kick_.set();
  if (signals_.room_wanted() && session_.has_room(signals_.room_bytes())) signals_.set_room();
  if (waiters_ > 0) changed_.notify_all();
}

// ---- Which thread serves

/// True if an application thread may serve the connection. Only the client's thread says goodbye.
/// The client's thread also serves while the application waits for room_fd(), because the
/// application may make no other call meanwhile.
bool ConnectedSession::may_take_over() const {
  return usable_ && !suspects_ && !signals_.room_wanted() && !session_.saying_goodbye() &&
         session_.wants_input();
}

bool ConnectedSession::may_serve() const { return may_take_over() && !in_use_ && !polled_; }

/// Makes the application serve the connection from now on, as long as it makes calls often enough.
void ConnectedSession::take_over() {
  attendance_.visit();
  if (!std::exchange(thread_serves_, false)) return;
  watch();
  wake_thread();
}

/// Makes the client's thread serve the connection from now on.
void ConnectedSession::hand_over() {
  if (std::exchange(thread_serves_, true)) return;
  signals_.unwatch();
  attendance_.stop();
  connection_.may_read();
  if (polled_) kick_.set();
  wake_thread();
}

void ConnectedSession::watch() {
  if (!signals_.wants_watch() || !usable_ || thread_serves_) return;
  if (!signals_.watch(connection_.fd())) hand_over();
}

/// Writes output that was just added, unless the output may wait: see
/// Connection::may_leave_output().
void ConnectedSession::push_out(Lock& lock) {
  if (!usable_ || in_use_ || connection_.write_blocked())
    return;  // another thread writes it later: the one that uses the connection, or the client's
  if (connection_.may_leave_output()) return leave_rest();
  write_out(lock);
}

/// Leaves output to the application's next call. If that call does not come in time, a timer makes
/// the client's thread write the output.
void ConnectedSession::leave_rest() {
  if (usable_ && !connection_.write_blocked()) write_timer_.arm();
}

/// Reads the input that has arrived, until there is an event.
void ConnectedSession::look(Lock& lock) {
  if (!may_take_over()) return;
  take_over();
  if (!may_serve()) return;  // the thread that uses the connection handles the input
  if (connection_.unsent() || session_.has_more_than_seen() ||
      connection_.has_much_unsaid(session_))
    write_out(lock);
  for (int i = 0; i < kLooksMax; ++i) {
    if (!may_serve()) return;
    read_once(lock);
    if (session_.inbox().has_item() || connection_.read_blocked()) return;
  }
  hand_over();
}

/// Serves the connection until something has happened; sleeps at most until `deadline`.
void ConnectedSession::serve(Lock& lock, Deadline deadline) {
  take_over();
  if (connection_.unsent() || session_.has_more_than_seen() ||
      connection_.has_much_unsaid(session_)) {
    write_out(lock);
    if (!may_serve()) return;
  }
  if (!connection_.read_blocked()) {
    read_once(lock);
    return;
  }
  polled_ = true;
  std::array<pollfd, 2> fds{pollfd{connection_.fd(), POLLIN, 0}, pollfd{kick_.fd(), POLLIN, 0}};
  lock.unlock();
  poller_.poll(fds, deadline);
  lock.lock();
  polled_ = false;
  attendance_.visit();
  if (fds[1].revents != 0) kick_.clear();
  if (fds[0].revents != 0) {
    connection_.may_read();
    if (may_serve() && !session_.inbox().has_item()) read_once(lock);
  }
  if (attendance_.end_rest()) wake_thread();
  if (waiters_ > 0) changed_.notify_all();
}

/// Waits until something may have changed, at most until `deadline`.
void ConnectedSession::wait(Lock& lock, Deadline deadline) {
  if (may_serve()) return serve(lock, deadline);
  if (!polled_ && !in_use_) hand_over();  // no application thread serves the connection
  ++waiters_;
  changed_.wait_until(lock, deadline);
  --waiters_;
}

}  // namespace peal::client
