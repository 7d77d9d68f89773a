// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim/scenario/scenario.h"

namespace peal::sim {

struct ShrinkOptions {
  sim_hooks::Mutant mutant = sim_hooks::Mutant::none;
  std::uint32_t tries_max = 600;  ///< maximum number of runs of smaller scripts
  double hang_seconds = 30;
  std::function<void(std::uint32_t tries, std::size_t lines)> progress;  ///< may be empty
};

struct Shrunk {
  Script script;         ///< the smallest script found that breaks the same property
  std::string property;  ///< empty if the script does not fail at all
  std::string text;
  std::uint32_t tries = 0;
};

/// Turns targeted faults into plain lines. Then removes nodes, faults, options and messages from
/// the script, as long as the script still breaks the same property. Runs every candidate in its
/// own process.
Shrunk shrink(const Script& script, const ShrinkOptions& options);

}  // namespace peal::sim
