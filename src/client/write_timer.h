// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <utility>

#include "client/signal.h"

namespace peal::client {

/// Decides how long a sender's output may wait until the sender's own next call writes it. After
/// that time, the client's thread writes the output. The time grows as long as the sender's next
/// call comes in time. Thread: one at a time.
class WriteTimer {
 public:
  int fd() const { return timer_.fd(); }
  /// Call when output is left for the sender's next call.
  void arm() {
    if (!std::exchange(armed_, true)) timer_.set(left_for_);
  }
  /// Call when the time is over. `in_vain`: true if the sender has already written the output.
  void on_fired(bool in_vain) {
    timer_.clear();
    armed_ = false;
    left_for_ = in_vain ? std::min(left_for_ * 2, kLeftForMax) : kLeftForMin;
  }

 private:
  static constexpr Duration kLeftForMin = microseconds(200);
  static constexpr Duration kLeftForMax = milliseconds(2);

  Timer timer_;
  bool armed_ = false;
  Duration left_for_ = kLeftForMin;
};

}  // namespace peal::client
