// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "base/time.h"

namespace peal::sim {

/// A random generator with the distributions that scenarios need.
class Dice : public Random {
 public:
  using Random::Random;

  bool often() { return chance(0.5); }
  /// A number between 0 and 1; small values are more likely.
  double small();
  std::string number(std::int64_t low, std::int64_t high) {
    return std::to_string(between(low, high));
  }
  /// A range such as "8-200". Its start is from `low` to `middle`, and its end from `middle` to
  /// `high`. Draws the end first.
  std::string range(std::int64_t low, std::int64_t middle, std::int64_t high);
  /// A duration from `low` to `high`. Short durations are more likely than in a uniform draw.
  Duration spread(Duration low, Duration high);
};

/// The number in the syntax of scenarios, with at most six digits.
std::string decimal(double value);

}  // namespace peal::sim
