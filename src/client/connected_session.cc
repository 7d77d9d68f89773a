// SPDX-License-Identifier: Apache-2.0
#include "client/connected_session.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <functional>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "io/clock.h"
#include "wire/client.h"

// The calls of the application's threads. connected_session_thread.cc has the client's own thread.

namespace peal::client {

using v0::Error;
using v0::ErrorCode;

namespace {

/// Once a client took this many bytes of events from shared memory, it reports these events as
/// seen. The daemon puts only a limited number of unseen bytes into shared memory.
constexpr std::uint64_t kSayTakenBytes = wire::kSharedUnseenMax / 4;

Duration duration_of(std::chrono::milliseconds patience) {
  // A day stands for an infinite time, and can be added to a time without overflow.
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24);
  return milliseconds(std::clamp(patience, std::chrono::milliseconds(0), kLongest).count());
}

std::optional<Error> check(const v0::ClientOptions& options) {
  const auto wrong = [](const std::string& what) { return Error{ErrorCode::invalid_option, what}; };
  constexpr std::size_t kNameBytesMax = 32;
  if (options.name.size() > kNameBytesMax) {
    return wrong("name has " + std::to_string(options.name.size()) + " bytes: at most 32");
  }
  if (options.token.size() > wire::kSecretBytesMax) {
    return wrong("token has " + std::to_string(options.token.size()) + " bytes: at most 256");
  }
  if (options.receive_bytes_max == 0 || options.receive_bytes_max > 1ULL << 40U) {
    return wrong("receive_bytes_max is " + std::to_string(options.receive_bytes_max) +
                 ": 1 to 2^40");
  }
  if (options.connect_timeout <= std::chrono::milliseconds(0)) {
    return wrong("connect_timeout is " + std::to_string(options.connect_timeout.count()) +
                 " ms: more than 0");
  }
  if (options.spin < std::chrono::microseconds(0) || options.spin > std::chrono::seconds(1)) {
    return wrong("spin is " + std::to_string(options.spin.count()) + " us: 0 to 1000000");
  }
  if (options.keep < std::chrono::milliseconds(0)) {
    return wrong("keep is " + std::to_string(options.keep.count()) + " ms: 0 or more");
  }
  return std::nullopt;
}

/// With TLS, the client may learn only after its handshake that the daemon rejected its
/// certificate. The client then waits for the welcome already.
ErrorCode greeting_error(Errc code) {
  if (code == Errc::not_permitted) return ErrorCode::untrusted;
  return code == Errc::would_block ? ErrorCode::timed_out : ErrorCode::unreachable;
}

SessionOptions session_options(const v0::ClientOptions& options, bool is_local) {
  constexpr std::int64_t kKeepMax = 0xffff'ffff;
  return {options.name, options.token,
          static_cast<std::uint32_t>(std::min<std::int64_t>(options.keep.count(), kKeepMax)),
          options.receive_bytes_max, is_local};
}

/// Starts a thread with all signals blocked, so that the application's signal handlers run only on
/// the application's own threads.
std::optional<Error> start_thread(std::thread& thread, std::function<void()> run) {
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::optional<Error> failed;
  try {
    thread = std::thread(std::move(run));
  } catch (const std::system_error& error) {
    failed =
        Error{ErrorCode::system, std::string("no thread is left for a client (") +
                                     error.code().message() + "): end some, or raise the limit"};
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failed;
}

Error send_error(Errc code, const Session& session) {
  switch (code) {
    case Errc::would_block:
      return {ErrorCode::would_block,
              "as many messages are unacknowledged as the daemon allows: wait for room_fd(), or "
              "until flush() returns"};
    case Errc::too_large:
      return {ErrorCode::too_large,
              "the message is larger than " + std::to_string(session.terms().message_bytes_max) +
                  " bytes, the limit that follows from the daemon's limits.message_bytes_max, or "
                  "where each message fits into one packet from network.packet_bytes"};
    case Errc::invalid_option:
      return {ErrorCode::invalid_option, "a message needs 1 to 64 targets of 1 to 128 bytes each"};
    default:
      return {ErrorCode::closed, session.phase() == Session::Phase::ended
                                     ? "the session has ended: " + session.ending().text
                                     : "the client was closed"};
  }
}

}  // namespace

Result<std::unique_ptr<ConnectedSession>, Error> ConnectedSession::open(
    const v0::ClientOptions& options) {
  if (auto wrong = check(options)) return unexpected(std::move(*wrong));
  auto dialer = Dialer::make(options);
  if (!dialer) return unexpected(dialer.error());
  std::unique_ptr<ConnectedSession> made(new ConnectedSession(std::move(*dialer), options));
  if (auto failed = made->greet()) return unexpected(std::move(*failed));
  auto failed = start_thread(made->thread_, [session = made.get()] { session->run(); });
  if (failed) return unexpected(std::move(*failed));
  return made;
}

ConnectedSession::ConnectedSession(Dialer dialer, const v0::ClientOptions& options)
    : dialer_(std::move(dialer)),
      connect_timeout_(duration_of(options.connect_timeout)),
      session_(session_options(options, dialer_.is_local())),
      poller_(microseconds(options.spin.count())) {}

ConnectedSession::~ConnectedSession() { close(std::chrono::steady_clock::now()); }

std::optional<Error> ConnectedSession::greet() {
  if (std::min({wake_.fd(), write_timer_.fd(), kick_.fd()}) < 0 || !signals_.start()) {
    return Error{ErrorCode::system, "no descriptors are left for a client: close some"};
  }
  greeting_ends_ = io::Clock::now() + connect_timeout_;
  auto stream = dialer_.dial(greeting_ends_, wake_, stop_);
  if (!stream) return stream.error();
  Lock lock(mutex_);
  connection_.open(std::move(*stream));
  session_.connected();
  pulse_.start(io::Clock::now());
  while (session_.phase() == Session::Phase::greeting) {
    if (trouble_ != Trouble::none) {
      part(lock);
    } else if (!turn(lock)) {
      sleep(lock);
    }
  }
  switch (session_.phase()) {
    case Session::Phase::open: return std::nullopt;
    case Session::Phase::ended: {
      const End& end = session_.ending();
      return Error{ErrorCode::refused, dialer_.where() + ": " + end.text,
                   static_cast<v0::Reason>(end.code)};
    }
    default: return Error{greeting_error(why_.code), dialer_.where() + ": " + why_.message};
  }
}

// ---- Sending

Result<std::uint64_t, Error> ConnectedSession::send(const Outgoing& message, Deadline deadline) {
  Lock lock(mutex_);
  while (true) {
    const auto number = session_.send(message.targets, message.payload, message.service,
                                      message.type, message.self_discard);
    if (number) {
      connection_.note_output(message.payload.size());
      push_out(lock);
      return *number;
    }
    if (number.error() != Errc::would_block)
      return unexpected(send_error(number.error(), session_));
    if (std::chrono::steady_clock::now() >= deadline) {
      signals_.want_room(message.payload.size());
      hand_over();
      return unexpected(send_error(number.error(), session_));
    }
    wait(lock, deadline);
  }
}

std::optional<Error> ConnectedSession::flush(Deadline deadline) {
  Lock lock(mutex_);
  const std::uint64_t last = session_.outbox().sent();
  while (session_.outbox().settled() < last) {
    if (session_.phase() == Session::Phase::ended) return send_error(Errc::closed, session_);
    if (std::chrono::steady_clock::now() >= deadline) {
      return Error{
          ErrorCode::timed_out,
          std::to_string(last - session_.outbox().settled()) +
              " messages are not acknowledged yet: wait longer, and read events meanwhile"};
    }
    wait(lock, deadline);
  }
  return std::nullopt;
}

// ---- Requests

Result<std::string, Error> ConnectedSession::answer(std::uint32_t request, Deadline deadline,
                                                    Lock& lock) {
  if (usable_) write_out(lock);
  while (true) {
    if (auto answer = session_.take_answer(request)) {
      if (answer->code == wire::ClientCode::ok) return std::move(answer->text);
      if (session_.phase() == Session::Phase::ended)
        return unexpected(send_error(Errc::closed, session_));
      return unexpected(Error{ErrorCode::refused, std::move(answer->text),
                              static_cast<v0::Reason>(answer->code)});
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      session_.give_up(request);
      return unexpected(Error{ErrorCode::timed_out,
                              "the daemon did not answer in time: wait longer, and read events "
                              "meanwhile"});
    }
    wait(lock, deadline);
  }
}

namespace {

Error bad_name(std::string_view name, std::size_t bytes_max) {
  return {ErrorCode::invalid_option,
          "a name of " + std::to_string(name.size()) + " bytes: 1 to " + std::to_string(bytes_max)};
}

}  // namespace

Result<std::string, Error> ConnectedSession::join(std::string_view group,
                                                  const wire::SlowLimits& limits,
                                                  Deadline deadline) {
  if (group.empty() || group.size() > wire::kClientNameMax) {
    return unexpected(bad_name(group, wire::kClientNameMax));
  }
  Lock lock(mutex_);
  return answer(session_.join(group, limits), deadline, lock);
}

Result<std::string, Error> ConnectedSession::leave(std::string_view group, Deadline deadline) {
  if (group.empty() || group.size() > wire::kClientNameMax) {
    return unexpected(bad_name(group, wire::kClientNameMax));
  }
  Lock lock(mutex_);
  return answer(session_.leave(group), deadline, lock);
}

Result<std::string, Error> ConnectedSession::ask(std::string_view what, Deadline deadline) {
  if (what.empty() || what.size() > wire::kClientNameMax) {
    return unexpected(bad_name(what, wire::kClientNameMax));
  }
  Lock lock(mutex_);
  return answer(session_.ask(what), deadline, lock);
}

// ---- Reading

std::optional<Item> ConnectedSession::take(Deadline deadline, std::vector<std::byte> used,
                                           wire::MessageEvent& message) {
  Lock lock(mutex_);
  session_.give_back(std::move(used));
  attendance_.visit();
  ++takers_;
  std::optional<Item> item;
  for (bool looked = false; !item;) {
    if (session_.inbox().has_item()) {
      const bool was_full = !session_.wants_input();
      item = session_.take(message);
      if (was_full && session_.wants_input()) wake_thread();
      if (!item) check_torn();
      continue;
    }
    signals_.clear_events();
    const bool is_over = std::chrono::steady_clock::now() >= deadline;
    if (session_.phase() == Session::Phase::ended || (is_over && looked)) break;
    if (is_over) {
      look(lock);
      looked = true;
    } else {
      wait(lock, deadline);
    }
  }
  --takers_;
  if (session_.inbox().taken_bytes() >= kSayTakenBytes && may_serve()) write_out(lock);
  if (takers_ == 0 && session_.inbox().has_item()) signals_.set_events();
  return item;
}

int ConnectedSession::events_fd() {
  const std::lock_guard lock(mutex_);
  signals_.use_events();
  watch();
  if (takers_ == 0 && session_.inbox().has_item()) signals_.set_events();
  return signals_.events_fd();
}

v0::ClientStatus ConnectedSession::status() const {
  const std::lock_guard lock(mutex_);
  v0::ClientStatus status;
  status.name = session_.terms().name;
  status.node = session_.terms().node;
  status.cluster = session_.terms().cluster;
  status.connected = session_.phase() == Session::Phase::open;
  status.ended = session_.phase() == Session::Phase::ended;
  status.sent = session_.outbox().sent();
  status.settled = session_.outbox().settled();
  status.unread_events = session_.inbox().size();
  status.unread_bytes = session_.inbox().unread_bytes();
  status.message_bytes_max = session_.terms().message_bytes_max;
  return status;
}

// ---- The end

void ConnectedSession::close(Deadline deadline) {
  {
    Lock lock(mutex_);
    session_.goodbye();
    hand_over();
    wake_thread();
    if (polled_) kick_.set();
    while (session_.phase() != Session::Phase::ended &&
           std::chrono::steady_clock::now() < deadline) {
      ++waiters_;
      changed_.wait_until(lock, deadline);
      --waiters_;
    }
  }
  stop_.store(true);
  wake_.set();
  {
    const std::lock_guard joining(joining_);
    if (thread_.joinable()) thread_.join();
  }
  const std::lock_guard lock(mutex_);
  session_.end(wire::ClientCode::goodbye, "the client was closed");
  notify();
}

}  // namespace peal::client
