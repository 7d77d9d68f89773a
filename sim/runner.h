// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/scenario.h"
#include "sim/swarm.h"

// Runs scripts in worker processes: an assertion that fails ends one worker and not the run, and
// the script that it was at is known.

namespace peal::sim {

/// What a worker tells about one script.
struct Finding {
  std::uint64_t index = 0;  ///< of the script, e.g. its seed
  std::string property;     ///< empty if all is well; "assert" or "hang" if the worker died
  std::string text;
  Figures figures;
  FaultCounts faults;
  std::map<std::string, std::uint64_t> probes;
  std::uint64_t digest = 0;
  double seconds = 0;
};

struct PoolOptions {
  std::uint64_t first = 1, last = 1;  ///< indexes, both included
  std::uint32_t jobs = 2;
  bool stop_at_failure = false;
  double hang_seconds = 120;  ///< after which a worker is ended
};

/// Calls `work` for every index, in worker processes, and `done` here for every result, in any
/// order. With stop_at_failure, indexes above the lowest failing one may be left out.
void run_pool(const PoolOptions& options, const std::function<Finding(std::uint64_t)>& work,
              const std::function<void(const Finding&)>& done);

struct SeedOptions {
  SwarmOptions swarm;
  sim_hooks::Mutant mutant = sim_hooks::Mutant::none;
  bool replay_check = true;  ///< one seed in twenty runs twice, and must do the same
};

/// Runs one seed here.
Finding run_seed(std::uint64_t seed, const SeedOptions& options);

/// Everything that was found out.
struct Summary {
  std::uint64_t seeds = 0;
  std::uint64_t violations = 0;
  Figures figures;
  FaultCounts faults;
  std::map<std::string, std::uint64_t> probes;
  std::vector<Finding> failures;  ///< by index
  double seconds = 0;

  void add(const Finding& result);
  /// One JSON object.
  std::string json() const;
  /// The same for a person.
  std::string text() const;
};

}  // namespace peal::sim
