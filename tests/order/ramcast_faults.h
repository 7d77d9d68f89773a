// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ramcast_world.h"

// A run of a seed: a world, its load and its faults are drawn from the seed.

namespace peal::order::ramcast::test {

struct Outcome {
  std::string broken;   ///< the violated property, or empty
  bool ended = false;   ///< after the faults, everything was delivered
  std::string stuck{};  ///< if it has not ended: what each node says
  std::uint64_t delivered = 0, rounds = 0, history = 0;
};

enum class Strain : std::uint8_t {
  usual,
  hard,     ///< leaders fail more often, and with more under way
  regions,  ///< the same, and writes into some regions alone are lost
  /// Servers are cut off in turns, and as many crash for good, at any time, as a domain stands.
  turns,
};

/// RamcastFaults runs the seeds from 1 up to this one. All of them must be clean and end.
constexpr std::uint64_t last_seed(Strain strain) { return strain == Strain::usual ? 40 : 20; }

Outcome run_seed(std::uint64_t seed, Strain strain = Strain::usual);

}  // namespace peal::order::ramcast::test
