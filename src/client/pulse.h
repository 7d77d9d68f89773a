// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "base/time.h"

namespace peal::client {

/// Decides when a ping is due on a connection, and when the daemon has been silent for too long.
/// The client and the daemon each send something at least once in each interval `ping`. A `ping` of
/// 0 switches both decisions off. Thread: one at a time.
class Pulse {
 public:
  /// A daemon that has sent nothing for this many ping intervals is considered dead.
  static constexpr std::int64_t kPingsMissed = 3;
  static constexpr Instant kNever{INT64_MAX};

  void start(Instant now) { said_ = heard_ = now; }
  void said(Instant now) { said_ = now; }
  void heard(Instant now) { heard_ = now; }
  /// Call if the client did not read until `now`, because its inbox was full. The client then does
  /// not know whether the daemon was silent.
  void was_deaf(Instant now) { heard_ = now; }

  bool is_quiet(Instant now, Duration ping) const {
    return ping > Duration{} && now >= said_ + ping / 2;
  }
  bool is_silent(Instant now, Duration ping) const {
    return ping > Duration{} && now >= heard_ + ping * kPingsMissed;
  }
  /// The earliest time at which is_quiet() becomes true or, if `listens` is true, at which
  /// is_silent() becomes true.
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
