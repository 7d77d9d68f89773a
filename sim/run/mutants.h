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
  std::uint64_t budget = 400;  ///< seeds to try
  std::string scenarios;  ///< folder of scenarios for single mutants, tried first; may be empty
  SeedOptions seeds;
};

/// How one deliberate fault was noticed, if it was.
struct MutantRow {
  sim_hooks::Mutant mutant{};
  std::string killed_by;    ///< "seed 17" or a file; empty: it survived
  std::uint64_t seeds = 0;  ///< tried, the killing one included; 0 if a scenario did it
  std::string property;
  double seconds = 0;
};

/// Runs scenarios of its own, and then the swarm with each mutant until the oracle, an assertion or
/// a bound notices.
std::vector<MutantRow> hunt_mutants(const MutantOptions& options,
                                    const std::function<void(const MutantRow&)>& done);
std::vector<sim_hooks::Mutant> all_mutants();
/// For a person: a line for one of them, and what all of them say together.
std::string mutant_line(const MutantRow& row);
std::string mutants_text(const std::vector<MutantRow>& rows);
std::string mutants_json(const std::vector<MutantRow>& rows);

/// True if the script says `expect violation assert` or `any`: its process may die.
bool expects_assertion(const Script& script);
/// Runs a scenario file here.
RunResult run_scenario(const Script& script, sim_hooks::Mutant mutant);
/// The finding, without an assertion that the script asks for.
RunResult judged(const Script& script, RunResult finding);

}  // namespace peal::sim
