// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "base/time.h"

namespace peal::io {

/// Decides whether a loop polls or sleeps while it waits. Polling saves the time to wake up, 10 to
/// 100 us. It saves time only while waits are short and a processor is free. A polling thread may
/// lose its processor to a thread that computes. Then the polling thread runs again only when the
/// computing thread pauses, milliseconds later: an arriving packet does not help, because the
/// scheduler wakes only sleeping threads. A sleeping thread would preempt the computing thread when
/// a packet arrives. So a polling thread that lost its processor sleeps for a while, longer each
/// time that this happens again.
class Polling {
 public:
  /// A yield that takes this long counts as a preemption.
  static constexpr Duration kOusted = microseconds(500);
  /// Shortest and longest time without polling after a preemption.
  static constexpr Duration kRestMin = milliseconds(2);
  static constexpr Duration kRestMax = milliseconds(640);

  /// `most` is the longest time to poll. Polling also requires that waits usually are no longer
  /// than `most`. If `most` is 0, the loop never polls.
  explicit Polling(Duration most) : most_(most) {}

  Duration most() const { return most_; }
  bool enabled() const { return most_.ns > 0; }
  bool pays(Instant now) const { return enabled() && usual_ <= most_ && now >= rest_until_; }

  /// Records a wait, with or without polling. One long wait must not disable polling for good, so
  /// a wait counts as at most four times `most`.
  void note_wait(Duration took) { usual_ = (usual_ * 7 + std::min(took, most_ * 4)) / 8; }
  /// Records one poll and the yield after it, which together took `took` and ended at `now`. True
  /// if polling has to end.
  bool note_poll(Instant now, Duration took) {
    if (took < kOusted) return false;
    const bool again = now - rest_until_ < rest_ * 8;
    rest_ = again ? std::min(rest_ * 2, kRestMax) : kRestMin;
    rest_until_ = now + rest_;
    return true;
  }

 private:
  Duration most_;
  Duration usual_{};
  Duration rest_ = kRestMin;  ///< length of the last time without polling
  Instant rest_until_{};
};

}  // namespace peal::io
