// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "base/time.h"

namespace peal::order::paxos {

/// The retransmit timer: a few times as long as answers took recently, and doubled with each
/// attempt. It adapts to slow disks, which delay answers although no packet is lost.
class Pace {
 public:
  /// `most`: the longest wait. It must be short, because a long measured round trip may include
  /// time in which a node was away.
  Pace(Duration least, Duration most) : least_(least), most_(std::max(least, most)) {}

  /// An item that was transmitted only once was answered after the delay `time`.
  void took(Duration time) { lately_ = std::max(time, lately_ - lately_ / 8); }
  /// `vain`: number of unanswered retransmissions in a row.
  Duration wait(unsigned vain) const {
    const Duration first = std::max(least_, lately_ * 4);
    return std::min(most_, first * (std::int64_t{1} << std::min(vain, 6U)));
  }

 private:
  Duration least_;
  Duration most_;
  Duration lately_{};
};

/// The time to wait for a value that may arrive without a request: twice the longest delay of such
/// values in the last one to two seconds.
class Patience {
 public:
  /// Each request without success doubles the time, up to `most`. A late value that arrived without
  /// a request lengthens the time, up to `limit`.
  Patience(Duration least, Duration most, Duration limit)
      : least_(least), most_(std::max(least, most)), limit_(std::max(most_, limit)) {}

  /// A value arrived without a request, after the delay `time`.
  void took(Instant now, Duration time) {
    if (now - since_ >= seconds(1)) {
      before_ = now - since_ >= seconds(2) ? Duration{} : longest_;
      longest_ = {};
      since_ = now;
    }
    longest_ = std::max(longest_, time);
  }
  /// `vain`: number of requests without success in a row.
  Duration wait(unsigned vain) const {
    const Duration late = std::max(longest_, before_) * 2;
    const Duration first = std::min(limit_, std::max(least_, late));
    return std::min(std::max(most_, first), first * (std::int64_t{1} << std::min(vain, 6U)));
  }

 private:
  Duration least_;
  Duration most_;
  Duration limit_;
  Instant since_{};
  Duration longest_{};
  Duration before_{};
};

}  // namespace peal::order::paxos
