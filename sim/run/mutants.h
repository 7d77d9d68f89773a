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

/// The result of the hunt for one mutant, which is a deliberate fault.
struct MutantRow {
  sim_hooks::Mutant mutant{};
  std::string killed_by;    ///< "seed 17" or a file; empty: the mutant survived
  std::uint64_t seeds = 0;  ///< seeds tried, including the last; 0: a scenario detected the mutant
  std::string property;
  double seconds = 0;
};

/// For each mutant, runs the mutant's own scenarios and then generated scenarios, until the oracle,
/// an assertion or a bound detects the mutant.
std::vector<MutantRow> hunt_mutants(const MutantOptions& options,
                                    const std::function<void(const MutantRow&)>& done);
std::vector<sim_hooks::Mutant> all_mutants();
/// Text for people: one line about a mutant, and a summary of all mutants.
std::string mutant_line(const MutantRow& row);
std::string mutants_text(const std::vector<MutantRow>& rows);
std::string mutants_json(const std::vector<MutantRow>& rows);

/// True if the script has `expect violation assert` or `expect violation any`. Then the process
/// that runs the script may crash.
bool expects_assertion(const Script& script);
/// Runs a scenario in this process.
RunResult run_scenario(const Script& script, sim_hooks::Mutant mutant);
/// Returns `finding` without an assertion failure that the script expects.
RunResult judged(const Script& script, RunResult finding);

}  // namespace peal::sim
