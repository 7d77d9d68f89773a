// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace peal::sim::genuine::literal {

/// What of the published algorithm is not mended. README.md says what each is.
enum class Published : std::uint8_t {
  none,
  x1,
  x2,
  x3,
  x4,
  x5,
  x6,
  x7,
  x8,
  x9,
  x10,
  x11,
  x12,
  x13,
  x14,
  steps,  ///< x5 and x10: the published number of steps; without failures nothing goes wrong
};

struct Options {
  Duration beat = milliseconds(2);
  Duration suspect = milliseconds(40);
  Duration retry = milliseconds(20);
  std::uint32_t slots = 64;
  std::uint32_t packet_bytes_max = 1'400;
  std::uint32_t max_gap = 1'024;
  Published published = Published::none;

  bool has(Published error) const { return published == error; }
  /// Servers acknowledge a message once they have the stamp of their own domain; if mended, once
  /// they have the stamps of all domains, and have raised their clocks. Without failures of leaders
  /// both is right. Errors that the mended acknowledgement would hide come with the published one.
  bool early_acks() const {
    return (published >= Published::x1 && published <= Published::x5) || has(Published::x10) ||
           has(Published::steps);
  }
  /// A leader knows the key of a message to one domain once its stamp was written to a majority.
  bool fast() const { return has(Published::x10) || has(Published::steps); }
  /// Silence after which a server does not count for the release of slots. No pause is as long.
  Duration dead() const { return std::max(suspect * 8, milliseconds(1'500)); }
};

}  // namespace peal::sim::genuine::literal
