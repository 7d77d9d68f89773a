// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim/scenario/scenario.h"

namespace peal::sim {

struct ShrinkOptions {
  sim_hooks::Mutant mutant = sim_hooks::Mutant::none;
  std::uint32_t tries_max = 600;  ///< runs of smaller scripts
  double hang_seconds = 30;
  std::function<void(std::uint32_t tries, std::size_t lines)> progress;  ///< may be empty
};

struct Shrunk {
  Script script;         ///< the smallest one found that fails in the same way
  std::string property;  ///< empty if the script does not fail at all
  std::string text;
  std::uint32_t tries = 0;
};

/// Takes nodes, faults, options and messages out of a script for as long as it still breaks the
/// same property. Faults that chose their own moment become plain lines first. Runs every candidate
/// in a process of its own.
Shrunk shrink(const Script& script, const ShrinkOptions& options);

}  // namespace peal::sim
