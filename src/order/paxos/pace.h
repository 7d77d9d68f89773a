// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "base/time.h"

namespace peal::order::paxos {

/// How long to wait for an answer before something is sent again: a few times as long as answers
/// took lately, and twice as long each time in vain. A slow disk is no lost packet.
class Pace {
 public:
  /// `most` is short enough for a stall: what took long may have waited for somebody who was away.
  Pace(Duration least, Duration most) : least_(least), most_(std::max(least, most)) {}

  /// An answer came after so long, to something that was sent once.
  void took(Duration time) { lately_ = std::max(time, lately_ - lately_ / 8); }
  /// `vain`: how often in a row it was sent again without success.
  Duration wait(unsigned vain) const {
    const Duration first = std::max(least_, lately_ * 4);
    return std::min(most_, first * (std::int64_t{1} << std::min(vain, 6U)));
  }

 private:
  Duration least_;
  Duration most_;
  Duration lately_{};
};

/// How long to wait for what may come by itself before it is asked for: twice as long as anything
/// took to come in the last second or two.
class Patience {
 public:
  /// Each time in vain takes twice as long, up to `most`; what came by itself late makes it longer,
  /// up to `limit`.
  Patience(Duration least, Duration most, Duration limit)
      : least_(least), most_(std::max(least, most)), limit_(std::max(most_, limit)) {}

  /// It came after so long.
  void took(Instant now, Duration time) {
    if (now - since_ >= seconds(1)) {
      before_ = now - since_ >= seconds(2) ? Duration{} : longest_;
      longest_ = {};
      since_ = now;
    }
    longest_ = std::max(longest_, time);
  }
  /// `vain`: how often in a row it was asked for without success.
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
