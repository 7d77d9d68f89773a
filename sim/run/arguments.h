// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hooks.h"
#include "base/result.h"
#include "sim/generator/swarm.h"
#include "sim/scenario/scenario.h"

// Parses the command line of `peal sim` into Arguments, or reports an error in one line.

namespace peal::sim {

/// The largest seed that the command line accepts.
inline constexpr std::uint64_t kSeedMax = 1'000'000'000'000'000'000;

struct Arguments {
  std::uint64_t first = 1, last = 100;  ///< range of seeds, both included
  std::optional<std::uint64_t> seed;    ///< a single seed
  SwarmOptions swarm;
  std::uint32_t jobs = 1;
  bool no_replay_check = false;
  std::vector<Script> scripts;  ///< the scripts of --scenario, parsed and checked
  bool print = false;
  bool shrink = false;
  bool record = false;
  bool json = false;
  bool verbose = false;
  std::string out;    ///< of --shrink: file for the smallest script; if empty, standard output
  std::string trace;  ///< file for the trace; if empty, no trace is written
  sim_hooks::Mutant mutant = sim_hooks::Mutant::none;
  bool hunt_mutants = false;
  std::vector<sim_hooks::Mutant> mutants;  ///< mutants to hunt; empty: all mutants
  std::uint64_t budget = 400;
  std::string mutant_scenarios = "tests/mutants";
};

/// Why there is nothing to run: the user asked for help (status 0), or the arguments are wrong (2).
struct Stop {
  int status = 0;
  std::string text;  ///< help for standard output, or one line for standard error
};

/// `arguments` are those after the program's name. Checks the named files too: scenarios must
/// parse, and output files must be writable.
Result<Arguments, Stop> parse_arguments(std::span<const std::string> arguments);

}  // namespace peal::sim
