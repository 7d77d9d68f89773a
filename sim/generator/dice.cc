// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/dice.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace peal::sim {

double Dice::small() {
  const double first = unit();
  return first * unit();
}

std::string Dice::range(std::int64_t low, std::int64_t middle, std::int64_t high) {
  const std::string upper = number(middle, high);
  return number(low, middle) + "-" + upper;
}

Duration Dice::spread(Duration low, Duration high) {
  std::int64_t top = high.ns;
  while (top > 2 * low.ns && often()) top /= 2;
  return Duration{between(std::min(low.ns, top), top)};
}

std::string decimal(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

}  // namespace peal::sim
