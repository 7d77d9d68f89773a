// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "wire/paxos.h"

namespace peal::order::ridge {

/// The line of the merge in rotation (ensembles_rotation.cc): the place that each ensemble should
/// have reached by now. Also the times (ticks) at which to check whether ensembles have reached it.
class RotationLine {
 public:
  /// The present place of the line.
  std::uint64_t place(Instant now) const {
    return static_cast<std::uint64_t>(now.ns / kPlace.ns + ahead_);
  }
  /// An ensemble has skipped to `place_reached`: moves the line up to this place.
  void see_nothing(Instant now, std::uint64_t place_reached) {
    if (place_reached > wire::kStampMax) return;
    const std::uint64_t here = place(now);
    if (place_reached > here) ahead_ += static_cast<std::int64_t>(place_reached - here);
  }
  /// An ensemble has ordered a value that is not empty.
  void see_item(Instant now) { last_at_ = now; }

  /// True while all ensembles have to keep up with the line: for kAwake after the last value that
  /// is not empty.
  bool awake(Instant now) const { return last_at_ && now < *last_at_ + kAwake; }
  bool tick_due(Instant now) const { return tick_at_ && now >= *tick_at_; }
  /// The time of the next tick; nullopt if no tick is needed.
  std::optional<Instant> next_tick() const { return tick_at_; }
  void end_ticks() { tick_at_.reset(); }
  /// Arms the next tick, unless a later tick is already armed.
  void keep_ticking(Instant now) {
    if (!tick_at_ || now >= *tick_at_) {
      tick_at_ = Instant{(now.ns / kInterval.ns + 1) * kInterval.ns};
    }
  }
  /// Places by which the line is ahead of this node's time.
  std::int64_t ahead() const { return ahead_; }

 private:
  /// Time from one place of the line to the next: 50,000 values per second.
  static constexpr Duration kPlace = microseconds(20);
  /// Time between two ticks. All ticks are at multiples of this interval.
  static constexpr Duration kInterval = milliseconds(1);
  /// Ensembles keep up with the line for this time after the last value that is not empty.
  static constexpr Duration kAwake = milliseconds(50);

  std::int64_t ahead_ = 0;
  std::optional<Instant> last_at_;  ///< when a value that is not empty was last ordered
  std::optional<Instant> tick_at_;
};

}  // namespace peal::order::ridge
