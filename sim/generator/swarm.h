// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/world/order_engine.h"

namespace peal::sim {

struct SwarmOptions {
  const order::Descriptor* order = &order::default_engine();
  Dissemination dissemination = Dissemination::distributors;  ///< for ridge
  std::uint32_t ensembles = 1;                                ///< for ridge
  Merging merging = Merging::keys;                            ///< for several ensembles
  std::uint32_t domains = 0;                                  ///< for ridge: at most this many
  Storage storage = Storage::disk;                            ///< of votes, for engines with
                                                              ///< acceptors
  bool optimistic = false;             ///< for engines with acceptors: nodes also deliver messages
                                       ///< optimistically
  std::uint32_t nodes = 0;             ///< 0: drawn, 2 to 9, mostly 3 and 4
  std::vector<std::string> overrides;  ///< "key=value" for `cluster`, e.g. accelerated_window=0
  double targeted = -1;                ///< probability of targeted faults; below 0: drawn
  bool faults = true;                  ///< false: load only
  bool groups = false;    ///< clients of process groups send the load; everything else is the same
  bool lists = false;     ///< the list of nodes changes in every scenario, not only in some
  bool sessions = false;  ///< clients have sessions with their nodes, and faults of their own
};

/// Writes the scenario of one seed: the cluster, options from their hostile ranges, the load, and
/// the times of faults. Each class of fault is absent from half of the scenarios, so that the
/// others combine in many ways. Ends with `settle`: after the faults the cluster must recover.
Script make_swarm_script(std::uint64_t seed, const SwarmOptions& options);

}  // namespace peal::sim
