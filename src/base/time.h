// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace peal {

/// A span of time in nanoseconds; may be negative.
struct Duration {
  std::int64_t ns{};
  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
  friend constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
  friend constexpr Duration operator*(Duration a, std::int64_t n) { return {a.ns * n}; }
  friend constexpr Duration operator/(Duration a, std::int64_t n) { return {a.ns / n}; }
};

constexpr Duration nanoseconds(std::int64_t n) { return {n}; }
constexpr Duration microseconds(std::int64_t n) { return {n * 1'000}; }
constexpr Duration milliseconds(std::int64_t n) { return {n * 1'000'000}; }
constexpr Duration seconds(std::int64_t n) { return {n * 1'000'000'000}; }

/// A point in monotonic time, in nanoseconds since an origin that the caller chose. Wall-clock time
/// is never an Instant, so engines cannot use the wall clock.
struct Instant {
  std::int64_t ns{};
  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant a, Duration b) { return {a.ns + b.ns}; }
  friend constexpr Instant operator-(Instant a, Duration b) { return {a.ns - b.ns}; }
  friend constexpr Duration operator-(Instant a, Instant b) { return {a.ns - b.ns}; }
};

}  // namespace peal
