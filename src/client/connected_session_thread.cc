// SPDX-License-Identifier: Apache-2.0
// The client's own thread. It serves the connection (reads and writes it) while no application
// thread does so. It also checks whether application threads still serve the connection, sends
// pings, and reconnects.

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "client/connected_session.h"
#include "io/clock.h"
#include "wire/client.h"

namespace peal::client {
void ConnectedSession::run() {
  Lock lock(mutex_);
  while (!stop_.load() && session_.phase() != Session::Phase::ended) {
    if (!connection_.is_open()) {
      lock.unlock();
      come_back();
      lock.lock();
    } else if (trouble_ != Trouble::none || session_.phase() == Session::Phase::apart) {
      part(lock);
    } else if (!turn(lock)) {
      sleep(lock);
    }
  }
  withdraw();
  wait_until_unused(lock, true);
  // Even with a patience of 0, close() sends the output that can be written at once.
  if (connection_.is_open() && !connection_.write_blocked() && trouble_ == Trouble::none)
    write_once(lock);
  connection_.close();
}

/// Returns false if there is nothing to do at the moment.
bool ConnectedSession::turn(Lock& lock) {
  const bool was_serving = thread_serves_ || !usable_;
  if (in_use_ && !was_serving) return false;  // another thread writes the output
  wait_until_unused(lock, false);
  write_out(lock);
  const bool serves = thread_serves_ || !usable_;
  if (trouble_ != Trouble::none) return true;
  if (!serves || in_use_ || connection_.read_blocked() || !session_.wants_input()) return false;
  read_once(lock);
  return true;
}

void ConnectedSession::sleep(Lock& lock) {
  using Phase = Session::Phase;
  const bool serves = thread_serves_ || !usable_;
  const bool wants_input = serves && session_.wants_input();
  const bool wants_rest = session_.wants_rest();
  if (session_.phase() == Phase::ended || session_.phase() == Phase::apart) return;
  if (trouble_ != Trouble::none || (wants_input && !connection_.read_blocked())) return;
  short events = 0;
  if (wants_input) events = POLLIN;
  if (connection_.write_blocked()) events = static_cast<short>(events | POLLOUT);
  // Notice the end of the connection even while no input is wanted, because messages that were just
  // written may be lost.
  if (serves && !wants_input && wants_rest) events = static_cast<short>(events | POLLRDHUP);
  if (!serves && attendance_.guards()) events = static_cast<short>(events | POLLIN);
  // If not even the remaining input of an ended connection is wanted, do not poll the connection:
  // poll() would report its end again and again.
  std::array<pollfd, 3> fds{pollfd{wake_.fd(), POLLIN, 0}, pollfd{write_timer_.fd(), POLLIN, 0},
                            pollfd{events == 0 ? -1 : connection_.fd(), events, 0}};
  Instant until = alarm(wants_input || !serves);
  if (!serves && !attendance_.rests() && !attendance_.guards()) {
    until = std::min(until, attendance_.look_again());
  }
  sleeping_ = true;
  lock.unlock();
  const bool for_ever = until == Pulse::kNever;
  ::poll(fds.data(), fds.size(), for_ever ? -1 : poll_ms(io::Clock::now(), until));
  lock.lock();
  sleeping_ = false;
  if (fds[0].revents != 0) wake_.clear();
  if (fds[1].revents != 0) write_timer_.on_fired(!session_.has_more_than_seen());
  after_sleep(until, wants_input, serves && wants_rest, fds[2].revents);
}

void ConnectedSession::after_sleep(Instant until, bool wants_input, bool wants_rest,
                                   short revents) {
  const bool came = (revents & ~POLLOUT) != 0;
  if (came && !attendance_.guards()) connection_.may_read();
  if ((revents & ~POLLIN) != 0) connection_.may_write();
  const Instant now = io::Clock::now();
  if (!session_.wants_input()) pulse_.was_deaf(now);
  if (!wants_input && wants_rest && (revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
    return fail(Trouble::writing, {Errc::closed, "the daemon ended the connection"});
  }
  if (now >= until) on_alarm(now, wants_input && connection_.read_blocked());
  if (thread_serves_ || !usable_ || attendance_.rests()) return;
  if (attendance_.guards()) {
    if (came) attendance_.on_input(now);
  } else if (now >= attendance_.look_again()) {
    // An application thread that polls the connection wakes the client's thread when the polling
    // ends. If the application may sleep on fd(), the client's thread checks the application once
    // input has arrived.
    const bool may_sleep = signals_.watches() && connection_.read_blocked();
    if (!attendance_.look(now, polled_, may_sleep)) hand_over();
  }
}

Instant ConnectedSession::alarm(bool listens) const {
  if (session_.phase() == Session::Phase::greeting) return greeting_ends_;
  return pulse_.next(milliseconds(session_.terms().ping_ms), listens);
}

/// `heard_all`: true if there is no input to read at this moment.
void ConnectedSession::on_alarm(Instant now, bool heard_all) {
  if (session_.phase() == Session::Phase::greeting) {
    if (now < greeting_ends_) return;
    return fail(Trouble::reading, {Errc::would_block, "no welcome came in time"});
  }
  const Duration ping = milliseconds(session_.terms().ping_ms);
  if (pulse_.is_silent(now, ping)) {
    if (heard_all) {
      return fail(
          Trouble::reading,
          {Errc::closed, "nothing was heard of the daemon for " +
                             std::to_string((ping * Pulse::kPingsMissed).ns / 1'000'000) + " ms"});
    }
    suspects_ = true;
    hand_over();  // the client's thread then checks for input itself
  }
  if (!pulse_.is_quiet(now, ping)) return;
  session_.ping();
  pulse_.said(now);
}

/// Ends a lost connection. Before that, reads what the daemon has sent, even if the inbox is full:
/// this input may say why the daemon ended the connection, and the daemon sends it again only if
/// the session is resumed.
void ConnectedSession::part(Lock& lock) {
  withdraw();
  wait_until_unused(lock, true);
  for (bool more = true; more && trouble_ == Trouble::writing;) {
    more = read_once(lock) > 0 && session_.wants_rest();
    if (session_.phase() == Session::Phase::ended || session_.phase() == Session::Phase::apart) {
      break;
    }
  }
  if (session_.phase() == Session::Phase::apart) {
    why_ = {Errc::closed, "the daemon heard nothing of this client for too long"};
  } else {
    was_open_ = session_.phase() == Session::Phase::open;
    session_.disconnected(why_.message);
  }
  connection_.close();
  connection_.drop_memory();
  const Instant now = io::Clock::now();
  trouble_ = Trouble::none;
  suspects_ = false;
  if (was_open_) {
    retry_.start(now, milliseconds(session_.terms().keep_ms));
  } else {
    retry_.on_failed(now);
  }
  notify();
}

void ConnectedSession::come_back() {
  Instant now = io::Clock::now();
  if (retry_.is_over(now)) {
    const std::lock_guard lock(mutex_);
    session_.end(wire::ClientCode::session_lost,
                 "could not come back to " + dialer_.where() + " within " +
                     std::to_string(session_.terms().keep_ms) + " ms: " + why_.message);
    return notify();
  }
  if (!retry_.is_due(now)) {
    pollfd fd{wake_.fd(), POLLIN, 0};
    ::poll(&fd, 1, poll_ms(now, retry_.next()));
    if (fd.revents != 0) wake_.clear();
    return;
  }
  auto stream = dialer_.dial(retry_.limit(now + connect_timeout_), wake_, stop_);
  now = io::Clock::now();
  const std::lock_guard lock(mutex_);
  if (!stream) {
    why_ = {Errc::closed, stream.error().message};
    return retry_.on_failed(now);
  }
  connection_.open(std::move(*stream));
  thread_serves_ = true;
  pulse_.start(now);
  greeting_ends_ = retry_.limit(now + connect_timeout_);
  session_.connected();
}

}  // namespace peal::client
