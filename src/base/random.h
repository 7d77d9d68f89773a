// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/assert.h"

namespace peal {

/// Seeded generator (SplitMix64): the same seed gives the same numbers on every machine. Not for
/// cryptography.
class Random {
  __extension__ using Wide = unsigned __int128;

 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// A number from 0 to bound-1; bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    PEAL_ASSERT(bound > 0);
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }
  /// A number from low to high, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    PEAL_ASSERT(low <= high);
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  /// A number x with 0 <= x < 1.
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// True with the given probability, 0 to 1.
  bool chance(double probability) { return unit() < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace peal
