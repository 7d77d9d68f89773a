// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "io/error.h"

namespace peal::io {

/// What a service manager says to a service that it starts, in the environment; see sd_notify(3)
/// and sd_watchdog_enabled(3). Empty: it says nothing.
struct NotifyVariables {
  std::string socket;         ///< NOTIFY_SOCKET
  std::string watchdog_usec;  ///< WATCHDOG_USEC
  std::string watchdog_pid;   ///< WATCHDOG_PID

  /// Those of this process.
  static NotifyVariables of_process();
};

/// Tells systemd how the service is. Without NOTIFY_SOCKET all calls do nothing. Blocks: never.
/// Thread: any.
class Notifier {
 public:
  /// Errors: invalid_option (a variable makes no sense; the message names it).
  static Result<Notifier, IoError> open(const NotifyVariables& variables);

  /// Each tells one thing, and `status`, one line that `systemctl status` shows. Errors of all:
  /// closed (nobody listens there), would_block (its queue is full), not_permitted, system. None is
  /// a reason to stop.
  Result<void, IoError> ready(std::string_view status) const;
  Result<void, IoError> status(std::string_view status) const;
  /// Until the next ready(). `now` is of the monotonic clock (io/clock.h).
  Result<void, IoError> reloading(Instant now) const;
  Result<void, IoError> stopping(std::string_view status) const;
  /// "I am alive": at least as often as watchdog_interval(), better twice.
  Result<void, IoError> watchdog() const;

  bool is_on() const { return !socket_.empty(); }
  /// After how long without watchdog() the service is taken for hung; nothing if nobody looks.
  std::optional<Duration> watchdog_interval() const { return watchdog_; }

 private:
  Result<void, IoError> send(const std::string& text) const;

  std::string socket_;
  std::optional<Duration> watchdog_;
};

}  // namespace peal::io
