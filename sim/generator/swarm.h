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
  std::uint32_t domains = 0;           ///< for engines with domains: maximum number of domains
  std::uint32_t nodes = 0;             ///< 0: draws 2 to 9 nodes, mostly 3 or 4
  std::vector<std::string> overrides;  ///< "key=value" for `cluster`, e.g. accelerated_window=0
  double targeted = -1;                ///< share of scenarios with targeted faults; negative: 0.6
  bool faults = true;                  ///< false: the scenario has only a load
  bool groups = false;                 ///< clients of process groups send the load
  bool lists = false;     ///< the list of nodes changes in every scenario, not only in some
  bool sessions = false;  ///< clients have sessions with their nodes, and clients fail too
};

/// Writes the scenario of one seed: the cluster, options (from order::Option::drawn_least to
/// drawn_most), the load, and the times of faults. Each class of faults is absent from many
/// scenarios, so that the remaining classes combine in many ways. After the faults, `settle` checks
/// that the cluster recovers.
Script make_swarm_script(std::uint64_t seed, const SwarmOptions& options);

}  // namespace peal::sim
