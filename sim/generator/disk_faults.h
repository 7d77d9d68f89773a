// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "base/random.h"
#include "sim/generator/list_change.h"
#include "sim/generator/swarm.h"
#include "sim/generator/timeline.h"

namespace peal::sim {

/// Faults of a scenario in which nodes lose their disks or the disks' content. Each fault has its
/// own random generator, so that the rest of the scenario does not depend on the fault.
class DiskFaults {
 public:
  /// If `acceptors` is 0, the engine chooses the acceptors.
  DiskFaults(std::uint64_t seed, const SwarmOptions& options, std::uint64_t nodes,
             std::size_t acceptors, const ListChange& lists);

  /// In some scenarios, a node loses its disk and restarts with an empty disk.
  void plan_lost(Timeline& timeline, Duration length);
  /// In some scenarios, a node's disk is damaged or full, or the node gets another node's disk. The
  /// node refuses to start, and reports the reason and a remedy. The operator applies the remedy
  /// and starts the node again. Plans nothing if plan_lost() planned the loss of a disk.
  void plan_damaged(Timeline& timeline, Duration length);
  /// In some scenarios, an older copy replaces a node's disk once or twice. All other nodes keep
  /// running, because a restarted node would lose what it knows of the replaced log. At the end the
  /// operator empties the disk, as the documentation demands.
  void write_put_back(Script& script) const;
  /// True if plan_damaged() planned a fault. A node may then refuse to start.
  bool damages() const { return damages_; }

 private:
  bool may_lose(NodeId victim) const;
  std::optional<NodeId> some_disk(Random& own, double share) const;

  const std::uint64_t seed_;
  const SwarmOptions& options_;
  const std::uint64_t nodes_;
  const std::size_t acceptors_;
  const ListChange& lists_;
  bool loses_ = false;
  bool damages_ = false;
};

}  // namespace peal::sim
