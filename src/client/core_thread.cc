// SPDX-License-Identifier: Apache-2.0
// The thread that serves the connection: reads, writes, pings, and comes back.

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "client/core.h"

namespace peal::client {
namespace {

constexpr Duration kPauseMin = milliseconds(20);
constexpr Duration kPauseMax = seconds(2);

}  // namespace

void Core::run() {
  while (!stop_.load()) {
    {
      const std::lock_guard lock(mutex_);
      if (session_.phase() == Session::Phase::ended) break;
    }
    if (stream_ == nullptr) {
      come_back();
    } else if (!turn()) {
      sleep();
    }
  }
  // Whoever closes without patience still says what can be said at once.
  if (stream_ != nullptr && !write_blocked_) write_some();
  stream_.reset();
}

bool Core::turn() {
  bool done = false;
  if (!write_blocked_) done = write_some();
  if (stream_ != nullptr && !read_blocked_) done = read_some() || done;
  return done || stream_ == nullptr;
}

bool Core::write_some() {
  if (stream_->has_unsent()) {
    const io::StreamOutcome outcome = stream_->flush();
    write_blocked_ = outcome == io::StreamOutcome::blocked;
    if (outcome == io::StreamOutcome::broken) hear_out(stream_->error());
    if (outcome != io::StreamOutcome::ok) return false;
  }
  chunks_.clear();
  {
    const std::lock_guard lock(mutex_);
    session_.gather(chunks_, io::Stream::kChunksMax);
  }
  if (chunks_.empty()) return false;
  const io::Transfer moved = stream_->write(chunks_);
  if (moved.bytes > 0) pulse_.said(io::Clock::now());
  write_blocked_ = moved.outcome == io::StreamOutcome::blocked;
  {
    const std::lock_guard lock(mutex_);
    session_.written(moved.bytes);
  }
  if (moved.outcome == io::StreamOutcome::broken) hear_out(stream_->error());
  return moved.bytes > 0;
}

/// The connection has ended. What the daemon said before is taken, whether somebody reads it now or
/// not: it may say why, and it does not come again if the session is not gone on with.
void Core::hear_out(io::IoError why) {
  bool more = true;
  while (more && stream_ != nullptr) {
    more = take_in() > 0;
    const std::lock_guard lock(mutex_);
    more = more && session_.wants_rest();
  }
  if (stream_ != nullptr) lose(why);
}

bool Core::read_some() {
  {
    const std::lock_guard lock(mutex_);
    if (!session_.wants_input()) return false;
  }
  return take_in() > 0 || !read_blocked_;
}

/// Reads once, whether there is room for it or not, and returns how many bytes came. May lose the
/// connection.
std::size_t Core::take_in() {
  const io::Transfer moved = stream_->read(buffer_);
  read_blocked_ = moved.outcome == io::StreamOutcome::blocked;
  if (moved.bytes > 0) {
    pulse_.heard(io::Clock::now());
    const std::lock_guard lock(mutex_);
    const bool was_open = session_.phase() == Session::Phase::open;
    session_.received(ByteView(buffer_).first(moved.bytes));
    if (session_.phase() == Session::Phase::open) pause_ = kPauseMin;
    if (session_.phase() == Session::Phase::apart) {
      why_ = {Errc::closed, "the daemon heard nothing of this client for too long"};
      drop(was_open);
    }
    notify();
  }
  if (stream_ == nullptr) return moved.bytes;
  if (moved.outcome == io::StreamOutcome::broken) {
    lose(stream_->error());
  } else if (moved.outcome == io::StreamOutcome::end) {
    lose({Errc::closed, "the daemon ended the connection"});
  }
  return moved.bytes;
}

void Core::sleep() {
  if (stream_ == nullptr) return;
  bool wants_input = false;
  bool wants_rest = false;
  {
    const std::lock_guard lock(mutex_);
    wants_input = session_.wants_input();
    wants_rest = session_.wants_rest();
    if (session_.phase() == Session::Phase::ended || (wants_input && !read_blocked_) ||
        (session_.has_output() && !write_blocked_)) {
      return;
    }
    sleeping_ = true;
  }
  short events = 0;
  if (wants_input) events = POLLIN;
  if (write_blocked_) events = static_cast<short>(events | POLLOUT);
  // Its end is noticed also while nothing else is wanted of it: what was written before may be
  // lost.
  if (!wants_input && wants_rest) events = static_cast<short>(events | POLLRDHUP);
  // A connection that ended would wake this thread again and again while not even that is wanted.
  std::array<pollfd, 2> fds{pollfd{wake_.fd(), POLLIN, 0},
                            pollfd{events == 0 ? -1 : stream_->fd(), events, 0}};
  const Instant until = alarm(wants_input);
  const bool for_ever = until == Pulse::kNever;
  ::poll(fds.data(), fds.size(), for_ever ? -1 : poll_ms(io::Clock::now(), until));
  {
    const std::lock_guard lock(mutex_);
    sleeping_ = false;
  }
  if (fds[0].revents != 0) wake_.clear();
  if ((fds[1].revents & ~POLLOUT) != 0) read_blocked_ = false;
  if ((fds[1].revents & ~POLLIN) != 0) write_blocked_ = false;
  const Instant now = io::Clock::now();
  if (!wants_input) pulse_.was_deaf(now);
  if (!wants_input && wants_rest && (fds[1].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
    return hear_out({Errc::closed, "the daemon ended the connection"});
  }
  if (now >= until) on_alarm(now, wants_input && read_blocked_);
}

Instant Core::alarm(bool wants_input) {
  const std::lock_guard lock(mutex_);
  if (session_.phase() == Session::Phase::greeting) return greeting_ends_;
  return pulse_.next(milliseconds(session_.ping_ms()), wants_input);
}

/// `heard_all`: there is nothing to be read at this moment.
void Core::on_alarm(Instant now, bool heard_all) {
  Lock lock(mutex_);
  if (session_.phase() == Session::Phase::greeting) {
    lock.unlock();
    return lose({Errc::would_block, "no welcome came in time"});
  }
  const Duration ping = milliseconds(session_.ping_ms());
  if (heard_all && pulse_.is_silent(now, ping)) {
    lock.unlock();
    return lose({Errc::closed, "nothing was heard of the daemon for " +
                                   std::to_string((ping * Pulse::kPingsMissed).ns / 1'000'000) +
                                   " ms"});
  }
  if (!pulse_.is_quiet(now, ping)) return;
  session_.ping();
  pulse_.said(now);
}

void Core::lose(const io::IoError& why) {
  why_ = why;  // before the stream, whose error it may be, is gone
  const std::lock_guard lock(mutex_);
  const bool was_open = session_.phase() == Session::Phase::open;
  session_.disconnected(why_.message);
  drop(was_open);
  notify();
}

/// With the lock.
void Core::drop(bool was_open) {
  stream_.reset();
  const Instant now = io::Clock::now();
  if (was_open) {
    give_up_ = now + milliseconds(session_.keep_ms());
    pause_ = kPauseMin;
    next_try_ = now;
  } else {
    next_try_ = now + pause_;
    pause_ = std::min(pause_ * 2, kPauseMax);
  }
}

void Core::come_back() {
  Instant now = io::Clock::now();
  if (now >= give_up_) {
    const std::lock_guard lock(mutex_);
    session_.end(wire::ClientCode::session_lost,
                 "could not come back to " + dialer_.where() + " within " +
                     std::to_string(session_.keep_ms()) + " ms: " + why_.message);
    return notify();
  }
  if (now < next_try_) {
    pollfd fd{wake_.fd(), POLLIN, 0};
    ::poll(&fd, 1, poll_ms(now, std::min(next_try_, give_up_)));
    if (fd.revents != 0) wake_.clear();
    return;
  }
  auto stream = dialer_.dial(std::min(now + connect_timeout_, give_up_), wake_, stop_);
  now = io::Clock::now();
  if (!stream) {
    why_ = {Errc::closed, stream.error().message};
    next_try_ = now + pause_;
    pause_ = std::min(pause_ * 2, kPauseMax);
    return;
  }
  stream_ = std::move(*stream);
  read_blocked_ = write_blocked_ = false;
  pulse_.start(now);
  greeting_ends_ = std::min(now + connect_timeout_, give_up_);
  const std::lock_guard lock(mutex_);
  session_.connected();
}

}  // namespace peal::client
