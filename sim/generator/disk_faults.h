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

/// Faults of a scenario in which acceptors lose their disks or the disks' content. Each fault has
/// its own random generator, so that the rest of the scenario does not depend on the fault.
class DiskFaults {
 public:
  /// If `acceptors` is 0, the engine chooses the acceptors.
  DiskFaults(std::uint64_t seed, const SwarmOptions& options, std::uint64_t nodes,
             std::size_t acceptors, const ListChange& lists);

  /// One acceptor loses its disk and restarts with an empty one.
  void plan_lost(Timeline& timeline, Duration length);
  /// A node's disk is damaged or full, or the node gets another node's disk. The node reports why
  /// it refuses to start, and a remedy; the operator applies the remedy and starts the node again.
  /// Plans nothing if plan_lost() planned the loss of a disk.
  void plan_damaged(Timeline& timeline, Duration length);
  /// An older copy replaces an acceptor's disk, once or twice, while all other nodes run: if the
  /// other nodes restarted, they would lose what they know of that acceptor's log. At the end the
  /// operator empties the disk, as the documentation demands.
  void write_put_back(Script& script) const;
  /// True if plan_damaged() planned a fault, so that a node may refuse to start.
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
