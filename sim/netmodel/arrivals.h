// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/random.h"
#include "base/time.h"

namespace peal::sim {

/// How the due times of a node's messages are distributed. All nodes send at one mean rate.
enum class Arrivals : std::uint8_t {
  even,      ///< one message at a random time within each interval
  periodic,  ///< one message per interval, from a random time on
  poisson,   ///< the times between messages have an exponential distribution
};

inline constexpr std::string_view kArrivalsNames[] = {"even", "periodic", "poisson"};
inline std::string_view arrivals_name(Arrivals arrivals) {
  return kArrivalsNames[static_cast<std::size_t>(arrivals)];
}

/// The due times of one node's messages, or of its bursts of messages.
class DueTimes {
 public:
  /// `interval_ns`: mean time between two messages. `burst`: number of messages that are due at
  /// once.
  DueTimes(Arrivals kind, double interval_ns, std::uint64_t burst);
  /// The time from the start of the load to the next burst.
  Duration next(Random& random);
  std::uint64_t burst() const { return burst_; }

 private:
  Arrivals kind_;
  double interval_ns_;
  std::uint64_t burst_;
  std::uint64_t messages_ = 0;  ///< in the bursts so far
  double phase_ = 0;            ///< periodic: when the first burst is due, in intervals
  double last_ = 0;             ///< poisson: when the last burst was due, in intervals
};

}  // namespace peal::sim
