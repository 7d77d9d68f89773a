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
  Dissemination dissemination = Dissemination::distributors;  ///< of ridge
  std::uint32_t ensembles = 1;                                ///< of ridge
  Merging merging = Merging::keys;                            ///< of several ensembles
  std::uint32_t domains = 0;                                  ///< of ridge: so many at most
  Storage storage = Storage::disk;                            ///< of votes, on quorums
  bool optimistic = false;  ///< on quorums: messages are told before they have their places
  std::uint32_t nodes = 0;  ///< 0: drawn, 2 to 9, mostly 3 and 4
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
