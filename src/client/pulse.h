// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "base/time.h"

namespace peal::client {

/// When it is time to say something on a connection, and when the daemon has been silent for too
/// long. `ping` is how often each side says something; 0: nobody needs to. Thread: one at a time.
class Pulse {
 public:
  /// A daemon that has not answered so many pings is not there any more.
  static constexpr std::int64_t kPingsMissed = 3;
  static constexpr Instant kNever{INT64_MAX};

  void start(Instant now) { said_ = heard_ = now; }
  void said(Instant now) { said_ = now; }
  void heard(Instant now) { heard_ = now; }
  /// So far nothing was read that the daemon may have said, as there was no room for it.
  void was_deaf(Instant now) { heard_ = now; }

  bool is_quiet(Instant now, Duration ping) const {
    return ping > Duration{} && now >= said_ + ping / 2;
  }
  bool is_silent(Instant now, Duration ping) const {
    return ping > Duration{} && now >= heard_ + ping * kPingsMissed;
  }
  /// When one of the two becomes true; is_silent() only for one who listens.
  Instant next(Duration ping, bool listens) const {
    if (ping == Duration{}) return kNever;
    const Instant quiet = said_ + ping / 2;
    return listens ? std::min(quiet, heard_ + ping * kPingsMissed) : quiet;
  }

 private:
  Instant said_;
  Instant heard_;
};

}  // namespace peal::client
