// SPDX-License-Identifier: Apache-2.0
#include "client/dialer.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "io/clock.h"
#include "io/error.h"

namespace peal::client {
namespace {

using v0::Error;
using v0::ErrorCode;

Error bad_address(std::string_view text, const std::string& what) {
  return {ErrorCode::invalid_option,
          "daemon is \"" + std::string(text) + "\": " + what +
              R"(; write a path such as "/run/peal/peal.sock", or "tls://host:port")"};
}

Error error_of(const io::IoError& from, const std::string& where) {
  switch (from.code) {
    case Errc::invalid_option: return {ErrorCode::invalid_option, from.message};
    case Errc::not_permitted: return {ErrorCode::not_permitted, from.message};
    case Errc::closed:
    case Errc::would_block:
      return {ErrorCode::unreachable, from.message + ": is the daemon of " + where + " running?"};
    default: return {ErrorCode::unreachable, from.message};
  }
}

}  // namespace

Result<Address, Error> parse_address(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  constexpr std::string_view kTls = "tls://";
  Address address;
  if (text.starts_with(kTls)) {
    std::string_view rest = text.substr(kTls.size());
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos || colon + 1 == rest.size()) {
      return unexpected(bad_address(text, "the port is missing"));
    }
    address.tls = true;
    address.port = rest.substr(colon + 1);
    const bool digits = std::all_of(address.port.begin(), address.port.end(),
                                    [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || address.port.size() > 5 || std::stoul(address.port) > 65'535 ||
        std::stoul(address.port) == 0) {
      return unexpected(bad_address(text, "the port is not a number from 1 to 65535"));
    }
    rest = rest.substr(0, colon);
    const bool brackets = rest.size() > 2 && rest.front() == '[' && rest.back() == ']';
    address.host = brackets ? rest.substr(1, rest.size() - 2) : rest;
    if (address.host.empty() || (!brackets && rest.find_first_of(":[]") != rest.npos)) {
      return unexpected(bad_address(text, "the host is not a name or a number"));
    }
    return address;
  }
  address.path = text.starts_with(kUnix) ? text.substr(kUnix.size()) : text;
  if (address.path.empty()) return unexpected(bad_address(text, "the path is missing"));
  if (address.path.find("://") != std::string::npos) {
    return unexpected(bad_address(text, "it is neither a path nor a TLS address"));
  }
  return address;
}

int poll_ms(Instant now, Instant deadline) {
  if (deadline <= now) return 0;
  const std::int64_t ms = ((deadline - now).ns + 999'999) / 1'000'000;
  return static_cast<int>(std::min<std::int64_t>(ms, std::numeric_limits<int>::max()));
}

Result<Dialer, Error> Dialer::make(const v0::ClientOptions& options, Question question) {
  auto address = parse_address(options.daemon);
  if (!address) return unexpected(address.error());
  Dialer dialer;
  if (address->tls) {
    auto tls = io::TlsContext::client({options.tls_ca, options.tls_certificate, options.tls_key});
    if (!tls) {
      const bool forbidden = tls.error().code == Errc::not_permitted;
      return unexpected(Error{forbidden ? ErrorCode::not_permitted : ErrorCode::invalid_option,
                              tls.error().message});
    }
    dialer.tls_ = std::move(*tls);
    dialer.tls_name_ = options.tls_name.empty() ? address->host : options.tls_name;
  }
  dialer.address_ = std::move(*address);
  dialer.where_ = options.daemon;
  dialer.question_ = std::move(question);
  return dialer;
}

Result<std::vector<io::Endpoint>, Error> Dialer::look_up(Instant deadline,
                                                         const std::atomic<bool>& stop) const {
  constexpr Duration kLookUp = milliseconds(20);  // a stop is noticed after at most this time
  const auto number = static_cast<std::uint16_t>(std::stoul(address_.port));
  const io::HostPort name{address_.host, number};
  std::optional<io::LookUp> asked;
  while (!stop.load()) {
    const Instant now = io::Clock::now();
    if (now >= deadline) {
      return unexpected(Error{
          ErrorCode::timed_out,
          "look up \"" + address_.host + "\": no answer in time: look after the name servers"});
    }
    const Duration step = std::min(kLookUp, deadline - now);
    if (!asked) {
      auto begun = question_ ? io::LookUp::begin(name, question_) : io::LookUp::begin(name);
      if (begun) {
        asked = std::move(*begun);
      } else if (begun.error().code != Errc::would_block) {
        return unexpected(Error{ErrorCode::system, begun.error().message});
      } else {  // too many other lookups of this process are under way
        ::poll(nullptr, 0, poll_ms(now, now + step));
      }
      continue;
    }
    if (auto answer = asked->wait(step)) {
      if (!*answer) return unexpected(Error{ErrorCode::unreachable, answer->error().message});
      return std::move(**answer);
    }
  }
  return unexpected(Error{ErrorCode::closed, "the client was closed"});
}

Dialer::Dialed Dialer::start(const io::Endpoint& to) const {
  auto fd = io::connect_tcp(to);
  if (!fd) return unexpected(error_of(fd.error(), where_));
  io::StreamPeer peer;
  peer.text = io::to_string(to);
  return io::make_tls_client_stream(std::move(*fd), std::move(peer), tls_, tls_name_);
}

Dialer::Dialed Dialer::dial(Instant deadline, Signal& wake, const std::atomic<bool>& stop) {
  if (tls_ == nullptr) {
    auto fd = io::connect_unix(address_.path);
    if (!fd) return unexpected(error_of(fd.error(), where_));
    auto stream = io::make_plain_stream(std::move(*fd), {});
    stream->expect_descriptor();
    return finish(std::move(stream), deadline, wake, stop);
  }
  const auto found = look_up(deadline, stop);
  if (!found) return unexpected(found.error());
  std::optional<Error> why;
  for (std::size_t i = 0; i < found->size(); ++i) {
    const Instant now = io::Clock::now();
    const Duration left = deadline > now ? deadline - now : Duration{};
    const auto others = static_cast<std::int64_t>(found->size() - i);
    auto stream = finish(start((*found)[i]), now + left / others, wake, stop);
    if (stream || stream.error().code == ErrorCode::closed) return stream;
    // Report the first error, unless a later error says that a daemon was found but is not trusted.
    if (!why || stream.error().code == ErrorCode::untrusted) why = stream.error();
  }
  return unexpected(std::move(*why));
}

Dialer::Dialed Dialer::finish(Dialed stream, Instant deadline, Signal& wake,
                              const std::atomic<bool>& stop) const {
  if (!stream) return stream;
  while (true) {
    const io::StreamOutcome outcome = (*stream)->advance();
    if (outcome == io::StreamOutcome::ok) return stream;
    if (outcome != io::StreamOutcome::blocked) {
      Error error = error_of((*stream)->error(), where_);
      if (error.code == ErrorCode::not_permitted) {
        error = {ErrorCode::untrusted, where_ + ": " + error.message};
      }
      return unexpected(std::move(error));
    }
    const Instant now = io::Clock::now();
    if (now >= deadline) {
      return unexpected(Error{ErrorCode::timed_out, where_ + " did not answer in time"});
    }
    std::array<pollfd, 2> fds{pollfd{(*stream)->fd(), (*stream)->waits_for(), 0},
                              pollfd{wake.fd(), POLLIN, 0}};
    ::poll(fds.data(), fds.size(), poll_ms(now, deadline));
    if (fds[1].revents != 0) {
      wake.clear();
      if (stop.load()) return unexpected(Error{ErrorCode::closed, "the client was closed"});
    }
  }
}

}  // namespace peal::client
