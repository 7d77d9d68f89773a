// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "io/error.h"

namespace peal::io {

/// The environment variables that a service manager passes to a service; see sd_notify(3) and
/// sd_watchdog_enabled(3). A field is empty if its variable is not set.
struct NotifyVariables {
  std::string socket;         ///< NOTIFY_SOCKET
  std::string watchdog_usec;  ///< WATCHDOG_USEC
  std::string watchdog_pid;   ///< WATCHDOG_PID

  /// The variables of this process.
  static NotifyVariables of_process();
};

/// Reports the service's state to systemd. Without NOTIFY_SOCKET all calls do nothing. Blocks:
/// never. Thread: any.
class Notifier {
 public:
  /// Errors: invalid_option (a variable is malformed; the message names the variable).
  static Result<Notifier, IoError> open(const NotifyVariables& variables);

  /// Each function reports one state; `status` is one line that `systemctl status` shows. Errors of
  /// all these functions: closed (no process listens on the socket), would_block (the receiver's
  /// queue is full), not_permitted, system. No error is a reason to stop the service.
  Result<void, IoError> ready(std::string_view status) const;
  Result<void, IoError> status(std::string_view status) const;
  /// The service counts as reloading until the next ready(). `now` is monotonic (io/clock.h).
  Result<void, IoError> reloading(Instant now) const;
  Result<void, IoError> stopping(std::string_view status) const;
  /// Reports that the service is alive. Call it at least every watchdog_interval(), better twice as
  /// often.
  Result<void, IoError> watchdog() const;

  bool is_on() const { return !socket_.empty(); }
  /// The longest time between two calls of watchdog(). After a longer time, systemd considers the
  /// service hung. Nothing if the watchdog is off.
  std::optional<Duration> watchdog_interval() const { return watchdog_; }

 private:
  Result<void, IoError> send(const std::string& text) const;

  std::string socket_;
  std::optional<Duration> watchdog_;
};

}  // namespace peal::io
