// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "base/time.h"

namespace peal::client {

/// Decides when a client that lost its connection tries to connect again, and when it gives up.
/// Thread: one at a time.
class Retry {
 public:
  /// Call when the connection of an open session was lost. The daemon keeps the session for the
  /// time `keep`.
  void start(Instant now, Duration keep) {
    give_up_ = now + keep;
    pause_ = kPauseMin;
    next_ = now;
  }
  /// Call when an attempt to connect failed.
  void on_failed(Instant now) {
    next_ = now + pause_;
    pause_ = std::min(pause_ * 2, kPauseMax);
  }
  bool is_over(Instant now) const { return now >= give_up_; }
  bool is_due(Instant now) const { return now >= next_; }
  /// The time of the next attempt, or of giving up if that is earlier.
  Instant next() const { return std::min(next_, give_up_); }
  /// The deadline of an attempt: `instant`, but not later than the time of giving up.
  Instant limit(Instant instant) const { return std::min(instant, give_up_); }

 private:
  static constexpr Duration kPauseMin = milliseconds(20);
  static constexpr Duration kPauseMax = seconds(2);

  Instant give_up_;
  Instant next_;
  Duration pause_;
};

}  // namespace peal::client
