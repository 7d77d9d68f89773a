// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/assert.h"
#include "base/ids.h"
#include "wire/ramcast_memory.h"

namespace peal::order::ramcast {

/// A key is a clock's value and the number of a domain. It is also the position of a message.
constexpr Seq key_of(std::uint64_t clock, unsigned domain) { return (clock << 4) | domain; }
constexpr std::uint64_t clock_of(Seq key) { return key >> 4; }
constexpr unsigned domain_of_key(Seq key) { return static_cast<unsigned>(key & 15); }

inline constexpr std::uint64_t kClockMax = wire::kCounterMax >> 4;
/// A key that is further ahead than this is not believed. It allows for 34 years between the starts
/// of two domains (first_clock_of()).
inline constexpr std::uint64_t kClockStepMax = 1ULL << 52;

/// The latest epoch of these incarnations. Epochs are milliseconds.
inline std::uint64_t latest_epoch(std::span<const MemberId> roster) {
  std::uint64_t latest = 0;
  for (const MemberId& member : roster) latest = std::max(latest, member.epoch);
  return latest;
}

/// Where the clock of an order begins that these incarnations bootstrap. Epochs are milliseconds.
/// An order in memory can be lost and replaced. The new order's incarnations have later epochs, so
/// its keys are higher, unless the former one's clock made more than 4,096 steps per millisecond.
inline std::uint64_t first_clock_of(std::span<const MemberId> roster) {
  constexpr unsigned kStepsShift = 12;
  return std::min(latest_epoch(roster), kClockStepMax >> kStepsShift) << kStepsShift;
}

/// The count of a round has two parts: the order, at least the latest epoch of the incarnations
/// that began it, and the number of the round in this order. So rounds of a new order are later
/// than all of a former one that was lost, and no round of the one passes for one of the other.
inline constexpr unsigned kRoundsOfAnOrderShift = 20;
constexpr std::uint64_t order_of(const wire::Round& round) {
  return round.count >> kRoundsOfAnOrderShift;
}
constexpr std::uint64_t number_in_order(const wire::Round& round) {
  return round.count & ((1ULL << kRoundsOfAnOrderShift) - 1);
}
/// The count before the first round of an order that these incarnations begin. The order has a
/// number of its own: higher than that of the round with the count `heard`, if that is not 0.
/// Incarnations of a lost order that never took part in it may begin the next one, too.
inline std::uint64_t first_count_of(std::span<const MemberId> roster, std::uint64_t heard) {
  const std::uint64_t most = wire::kCounterMax >> (kRoundsOfAnOrderShift + 1);
  const std::uint64_t next = heard == 0 ? 0 : (heard >> kRoundsOfAnOrderShift) + 1;
  return std::min(std::max(latest_epoch(roster), next), most) << kRoundsOfAnOrderShift;
}

/// The logical clock of a domain's server. Proposals of a leader are above it.
class Clock {
 public:
  std::uint64_t value() const { return value_; }
  std::uint64_t next() {
    PEAL_ASSERT(value_ < kClockMax);
    return ++value_;
  }
  void raise(std::uint64_t least) { value_ = std::max(value_, least); }
  /// True if a key of another server may be used.
  bool believes(Seq key) const { return believes_clock(clock_of(key)); }
  bool believes_clock(std::uint64_t clock) const {
    return clock < kClockMax && clock <= value_ + kClockStepMax;
  }
  /// True if a message may come behind this key, of which its sender says so. Leaders propose above
  /// it: with many such messages, one sender could use up all clocks.
  bool believes_cause(Seq key) const {
    constexpr std::uint64_t kMost = kClockMax / 2, kStep = 1U << 24;
    const std::uint64_t clock = clock_of(key);
    return believes(key) && (clock <= kMost || clock <= value_ + kStep);
  }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace peal::order::ramcast
