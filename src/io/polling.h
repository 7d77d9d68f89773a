// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "base/time.h"

namespace peal::io {

/// Whether a loop should poll while it waits, or sleep. Polling saves the time to wake up, 10 to
/// 100 us, and pays while waits are short and the processor is there for it. A thread that polls is
/// never woken, and so cannot take the processor back from somebody who computes: it gets it at
/// that one's next break, milliseconds later. One that sleeps takes it when its packet comes. So
/// who is ousted sleeps for a while; the longer, the more often it happens.
class Polling {
 public:
  static constexpr Duration kOusted = microseconds(500);  ///< by a yield that takes so long
  static constexpr Duration kRestMin = milliseconds(2);   ///< without polling after that
  static constexpr Duration kRestMax = milliseconds(640);

  /// `most`: poll so long at a time, and only while waits usually are no longer; 0: never poll.
  explicit Polling(Duration most) : most_(most) {}

  Duration most() const { return most_; }
  bool enabled() const { return most_.ns > 0; }
  bool pays(Instant now) const { return enabled() && usual_ <= most_ && now >= rest_until_; }

  /// A wait, with or without polling, took so long. One long wait must not switch polling off for
  /// good: it counts as four times the limit.
  void note_wait(Duration took) { usual_ = (usual_ * 7 + std::min(took, most_ * 4)) / 8; }
  /// One poll, and a yield after it, took so long until now. True if polling has to end.
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
  Duration rest_ = kRestMin;  ///< the last one
  Instant rest_until_{};
};

}  // namespace peal::io
