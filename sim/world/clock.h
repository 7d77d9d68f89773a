// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/time.h"

namespace peal::sim {

/// A node's own clock. The clock begins with an arbitrary time, may run fast or slow, and never
/// goes back.
class Clock {
  __extension__ using Wide = __int128;

 public:
  Clock() = default;
  /// `drift_ppm`: how much faster than a correct clock this clock runs, in parts per million,
  /// -900'000 to 900'000.
  Clock(Duration origin, std::int32_t drift_ppm) : origin_ns_(origin.ns), drift_ppm_(drift_ppm) {}

  Instant local(Instant world) const {
    return Instant{origin_ns_ + world.ns + scaled(world.ns, drift_ppm_, 1'000'000)};
  }
  /// The same clock, but with another rate from `now` on.
  Clock drifting(Instant now, std::int32_t drift_ppm) const {
    Clock other(Duration{}, drift_ppm);
    other.origin_ns_ = local(now).ns - other.local(now).ns;
    return other;
  }
  std::int32_t drift_ppm() const { return drift_ppm_; }
  /// The earliest world time at which the local clock shows at least `local_time`.
  Instant world(Instant local_time) const {
    Instant guess{scaled(local_time.ns - origin_ns_, 1'000'000, 1'000'000 + drift_ppm_)};
    while (local(guess) < local_time) ++guess.ns;
    return guess;
  }

 private:
  static std::int64_t scaled(std::int64_t value, std::int64_t by, std::int64_t over) {
    return static_cast<std::int64_t>(static_cast<Wide>(value) * by / over);
  }

  std::int64_t origin_ns_ = 0;
  std::int32_t drift_ppm_ = 0;
};

}  // namespace peal::sim
