// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/run/runner.h"

namespace peal::sim {

struct MutantOptions {
  std::vector<sim_hooks::Mutant> mutants;
  std::uint32_t jobs = 2;
  std::uint64_t budget = 400;  ///< maximum number of seeds to try
  std::string scenarios;       ///< folder of scenarios for single mutants, run first; may be empty
  SeedOptions seeds;
};

/// How one deliberate fault was detected, if it was.
struct MutantRow {
  sim_hooks::Mutant mutant{};
  std::string killed_by;    ///< "seed 17" or a file; empty: the mutant survived
  std::uint64_t seeds = 0;  ///< seeds tried, including the last; 0 if a scenario detected it
  std::string property;
  double seconds = 0;
};

/// For each mutant, runs its own scenarios and then generated ones, until the oracle, an assertion
/// or a bound detects it.
std::vector<MutantRow> hunt_mutants(const MutantOptions& options,
                                    const std::function<void(const MutantRow&)>& done);
std::vector<sim_hooks::Mutant> all_mutants();
/// For a person: one line per mutant, and a summary of all.
std::string mutant_line(const MutantRow& row);
std::string mutants_text(const std::vector<MutantRow>& rows);
std::string mutants_json(const std::vector<MutantRow>& rows);

/// True if the script has `expect violation assert` or `any`: its process may crash.
bool expects_assertion(const Script& script);
/// Runs a scenario file in this process.
RunResult run_scenario(const Script& script, sim_hooks::Mutant mutant);
/// `finding`, without an assertion failure that the script expects.
RunResult judged(const Script& script, RunResult finding);

}  // namespace peal::sim
