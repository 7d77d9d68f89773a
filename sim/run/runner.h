// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/generator/swarm.h"
#include "sim/run/run_result.h"
#include "sim/scenario/scenario.h"

namespace peal::sim {

struct SeedOptions {
  SwarmOptions swarm;
  sim_hooks::Mutant mutant = sim_hooks::Mutant::none;
  bool replay_check = true;  ///< one seed in twenty runs twice; both runs must be the same
};

/// Runs one seed in this process.
RunResult run_seed(std::uint64_t seed, const SeedOptions& options);

}  // namespace peal::sim
