// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/world/engine_options.h"

namespace peal::sim {

struct SwarmOptions {
  EngineOptions engine;
  std::uint32_t domains = 0;           ///< of engines with domains: so many at most
  std::uint32_t nodes = 0;             ///< 0: drawn, 2 to 9, mostly 3 and 4
  std::vector<std::string> overrides;  ///< "key=value" for `cluster`, e.g. accelerated_window=0
  double targeted = -1;                ///< probability of targeted faults; below 0: drawn
  bool faults = true;                  ///< false: load only
  bool groups = false;    ///< the load comes from clients of process groups; the rest is the same
  bool lists = false;     ///< the list of nodes changes in every story, not in some
  bool sessions = false;  ///< these have sessions with their nodes, and troubles of their own
};

/// Writes the story of one seed: which cluster, which options from their hostile ranges, which
/// load, and which faults when. Each class of fault is left out of half of the stories, so that the
/// others meet in many mixtures. Ends with `settle`: after the faults everything must get well.
Script make_swarm_script(std::uint64_t seed, const SwarmOptions& options);

}  // namespace peal::sim
