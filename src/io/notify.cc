// SPDX-License-Identifier: Apache-2.0
#include "io/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "io/fd.h"

namespace peal::io {
namespace {

constexpr std::size_t kStatusBytesMax = 1'000;

std::string variable(const char* name) {
  const char* value = ::getenv(name);
  return value != nullptr ? value : "";
}

Unexpected<IoError> bad_variable(const std::string& name, const std::string& value,
                                 const std::string& accepted) {
  return unexpected(
      IoError{Errc::invalid_option, name + " = " + quote(value) + ": accepted is " + accepted});
}

/// Replaces control characters: a line break would begin another line of the message.
std::string status_line(std::string_view status) {
  std::string line = "STATUS=" + std::string(status.substr(0, kStatusBytesMax)) + "\n";
  std::replace_if(
      line.begin(), line.end() - 1, [](char c) { return c >= 0 && c < ' '; }, ' ');
  return line;
}

}  // namespace

NotifyVariables NotifyVariables::of_process() {
  return {variable("NOTIFY_SOCKET"), variable("WATCHDOG_USEC"), variable("WATCHDOG_PID")};
}

Result<Notifier, IoError> Notifier::open(const NotifyVariables& variables) {
  Notifier notifier;
  if (!variables.socket.empty()) {
    const char first = variables.socket.front();
    const bool fits =
        variables.socket.size() > 1 && variables.socket.size() < sizeof(sockaddr_un::sun_path);
    if ((first != '/' && first != '@') || !fits) {
      return bad_variable("NOTIFY_SOCKET", variables.socket,
                          "an absolute path, or @ and an abstract name, of up to 107 bytes");
    }
    notifier.socket_ = variables.socket;
  }
  if (variables.watchdog_usec.empty()) return notifier;
  if (!variables.watchdog_pid.empty()) {
    const auto pid = number_in<std::int64_t>(variables.watchdog_pid, 1, INT32_MAX);
    if (!pid) return bad_variable("WATCHDOG_PID", variables.watchdog_pid, "the id of a process");
    if (*pid != ::getpid()) return notifier;  // meant for another process
  }
  const auto usec = number_in<std::int64_t>(variables.watchdog_usec, 1, INT64_MAX / 1'000);
  if (!usec) {
    return bad_variable("WATCHDOG_USEC", variables.watchdog_usec,
                        "a number of microseconds from 1");
  }
  notifier.watchdog_ = microseconds(*usec);
  return notifier;
}

Result<void, IoError> Notifier::ready(std::string_view status) const {
  return send("READY=1\n" + status_line(status));
}

Result<void, IoError> Notifier::status(std::string_view status) const {
  return send(status_line(status));
}

Result<void, IoError> Notifier::reloading(Instant now) const {
  return send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now.ns / 1'000) + "\n");
}

Result<void, IoError> Notifier::stopping(std::string_view status) const {
  return send("STOPPING=1\n" + status_line(status));
}

Result<void, IoError> Notifier::watchdog() const { return send("WATCHDOG=1\n"); }

Result<void, IoError> Notifier::send(const std::string& text) const {
  if (!is_on()) return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  // Opens a new socket each time, because the service manager may have restarted after the last
  // call.
  const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return unexpected(system_error("open a Unix socket", errno));
  if (::sendto(fd.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&address), size) >= 0) {
    return {};
  }
  IoError error = system_error("notify systemd at " + quote(socket_), errno);
  if (errno == EAGAIN) error.code = Errc::would_block;
  if (errno == ECONNREFUSED || errno == ENOENT) error.code = Errc::closed;
  return unexpected(std::move(error));
}

}  // namespace peal::io
