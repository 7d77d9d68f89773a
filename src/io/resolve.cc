// SPDX-License-Identifier: Apache-2.0
#include "io/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/text.h"

namespace peal::io {
namespace {

constexpr std::size_t kHostBytesMax = 253;

Unexpected<IoError> bad_name(std::string_view text, const std::string& why) {
  return unexpected(IoError{Errc::invalid_option, quote(text) + ": " + why});
}

bool ends_in_number(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view last = host.substr(host.rfind('.') + 1);  // npos + 1 is 0
  return std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_host_name(std::string_view host) {
  return !host.empty() && host.size() <= kHostBytesMax && host.front() != '-' &&
         std::all_of(host.begin(), host.end(),
                     [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
                     }) &&
         !ends_in_number(host);
}

/// The host, without brackets.
std::string host_of(const Endpoint& endpoint) {
  const std::string text = to_string(endpoint);
  return endpoint.is_v4() ? text.substr(0, text.rfind(':')) : text.substr(1, text.find(']') - 1);
}

}  // namespace

std::optional<Endpoint> endpoint_of(const HostPort& name) {
  if (name.host.find('\0') != std::string::npos) return std::nullopt;  // inet_pton() stops at 0
  sockaddr_storage address{};
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, name.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    std::memcpy(&address, &v4, sizeof v4);
  } else if (::inet_pton(AF_INET6, name.host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    std::memcpy(&address, &v6, sizeof v6);
  } else {
    return std::nullopt;
  }
  return from_sockaddr(address).with_port(name.port);
}

namespace {

IoError failed(const HostPort& name, int code, int number) {
  const std::string what = "look up " + quote(name.host);
  switch (code) {
    case EAI_SYSTEM: return system_error(what, number);
    case EAI_AGAIN:
      return {Errc::would_block, what + ": the name servers do not answer now: try again"};
    case EAI_NONAME:
    case EAI_NODATA:
    case EAI_ADDRFAMILY:
      return {Errc::invalid_option, what +
                                        ": no address has this name: accepted is a name that "
                                        "the name servers or /etc/hosts know"};
    default: return {Errc::system, what + ": " + ::gai_strerror(code)};
  }
}

LookUp::Answer ask_system(const HostPort& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;  // otherwise each address comes once per socket type
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(name.host.c_str(), nullptr, &hints, &list);
  if (code != 0) return unexpected(failed(name, code, errno));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
  std::vector<Endpoint> found;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    sockaddr_storage address{};
    std::memcpy(&address, entry->ai_addr, entry->ai_addrlen);
    found.push_back(from_sockaddr(address).with_port(name.port));
  }
  return found;
}

std::atomic<int> questions{0};

}  // namespace

Result<HostPort, IoError> parse_host_port(std::string_view text, std::uint16_t default_port) {
  constexpr const char* kAccepted =
      "accepted is name:port, like node-1.example:4900, 10.0.0.1:4900 or [fd00::1]:4900";
  std::string_view host = text;
  std::string_view port;
  const bool bracketed = text.starts_with('[');
  const auto end = bracketed ? text.find(']') : text.rfind(':');
  if (bracketed && end == std::string_view::npos) return bad_name(text, kAccepted);
  if (bracketed) {
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port.front() != ':') return bad_name(text, kAccepted);
    if (port == ":") return bad_name(text, kAccepted);
    if (!port.empty()) port.remove_prefix(1);
  } else if (end != std::string_view::npos) {
    host = text.substr(0, end);
    port = text.substr(end + 1);
    if (port.empty()) return bad_name(text, kAccepted);
  }
  HostPort result{std::string(host), default_port};
  if (!port.empty()) {
    const auto number = number_in<std::uint16_t>(port, 1, 65'535);
    if (!number || port.front() == '0')
      return bad_name(text, "the port must be a number from 1 to 65535");
    result.port = *number;
  }
  if (result.port == 0) return bad_name(text, "the port is missing");
  const auto number = endpoint_of(result);
  const bool is_v6 = number && host.find(':') != std::string_view::npos;
  if (bracketed != is_v6) return bad_name(text, kAccepted);
  if (!number && !is_host_name(host)) return bad_name(text, kAccepted);
  if (number) result.host = host_of(*number);
  return result;
}

std::string to_string(const HostPort& name) {
  const bool v6 = name.host.find(':') != std::string::npos;
  return (v6 ? "[" + name.host + "]" : name.host) + ":" + std::to_string(name.port);
}

Result<Endpoint, IoError> parse_endpoint(std::string_view text, std::uint16_t default_port) {
  const auto name = parse_host_port(text, default_port);
  if (!name) return unexpected(name.error());
  if (const auto number = endpoint_of(*name)) return *number;
  return bad_name(text, "accepted is an IP address, like 10.0.0.1:4900 or [fd00::1]:4900");
}

/// Shared by a LookUp and its thread; the last of the two frees it.
struct LookUp::Asked {
  HostPort name;
  Question question;
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<Answer> answer;

  static void* run(void* raw);
  /// False if no thread is available.
  static bool start(const std::shared_ptr<Asked>& asked);
};

void* LookUp::Asked::run(void* raw) {
  const std::unique_ptr<std::shared_ptr<Asked>> holder(static_cast<std::shared_ptr<Asked>*>(raw));
  Asked& asked = **holder;
  auto answer = asked.question(asked.name);
  questions.fetch_sub(1);
  const std::lock_guard lock(asked.mutex);
  asked.answer = std::move(answer);
  asked.answered.notify_all();
  return nullptr;
}

bool LookUp::Asked::start(const std::shared_ptr<Asked>& asked) {
  auto holder = std::make_unique<std::shared_ptr<Asked>>(asked);
  pthread_t thread{};
  // The application's signal handlers must not run on this thread.
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = ::pthread_create(&thread, nullptr, run, holder.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) return false;
  ignore(holder.release(), "the thread owns it now");
  ::pthread_detach(thread);
  return true;
}

Result<LookUp, IoError> LookUp::begin(const HostPort& name) { return begin(name, ask_system); }

Result<LookUp, IoError> LookUp::begin(const HostPort& name, const Question& question) {
  const auto asked = std::make_shared<Asked>();
  asked->name = name;
  asked->question = question;
  if (const auto number = endpoint_of(name)) {
    asked->answer = std::vector<Endpoint>{*number};
    return LookUp(asked);
  }
  const std::string what = "look up " + quote(name.host);
  if (questions.fetch_add(1) >= kQuestionsMax) {
    questions.fetch_sub(1);
    return unexpected(IoError{Errc::would_block, what + ": " + std::to_string(kQuestionsMax) +
                                                     " questions wait for an answer already: "
                                                     "try again, and look after the name servers"});
  }
  if (!Asked::start(asked)) {
    questions.fetch_sub(1);
    return unexpected(IoError{Errc::system, what + ": there is no thread for it"});
  }
  return LookUp(asked);
}

std::optional<LookUp::Answer> LookUp::wait(Duration patience) {
  std::unique_lock lock(asked_->mutex);
  if (!asked_->answered.wait_for(lock, std::chrono::nanoseconds(patience.ns),
                                 [&] { return asked_->answer.has_value(); })) {
    return std::nullopt;
  }
  Answer answer = std::move(*asked_->answer);
  if (!answer) return answer;
  std::sort(answer->begin(), answer->end(), [](const Endpoint& a, const Endpoint& b) {
    return a.is_v4() != b.is_v4() ? a.is_v4() : a < b;
  });
  answer->erase(std::unique(answer->begin(), answer->end()), answer->end());
  if (answer->size() > Resolver::kAddressesMax) answer->resize(Resolver::kAddressesMax);
  if (answer->empty()) return unexpected(failed(asked_->name, EAI_NONAME, 0));
  return answer;
}

SystemResolver::SystemResolver(Duration patience) : SystemResolver(patience, ask_system) {}

SystemResolver::Answer SystemResolver::look_up(const HostPort& name) {
  auto asked = LookUp::begin(name, question_);
  if (!asked) return unexpected(asked.error());
  if (auto answer = asked->wait(patience_)) return std::move(*answer);
  return unexpected(
      IoError{Errc::would_block, "look up " + quote(name.host) + ": no answer after " +
                                     std::to_string(patience_.ns / 1'000'000) +
                                     " ms: try again, and look after the name servers"});
}

}  // namespace peal::io
