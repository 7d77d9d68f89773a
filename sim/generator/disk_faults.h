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

/// Acceptors of a scenario that lose their disk, or what is on it. Each fault has a source of
/// chance of its own, so that everything else does not depend on it.
class DiskFaults {
 public:
  /// `acceptors` 0: the default number.
  DiskFaults(std::uint64_t seed, const SwarmOptions& options, std::uint64_t nodes,
             std::size_t acceptors, const ListChange& lists);

  /// One acceptor loses its disk and restarts with an empty one.
  void plan_lost(Timeline& timeline, Duration length);
  /// A disk is damaged, full, or another node's. The node says why it refuses to start and what to
  /// do; the operator does that, and starts the node again. Plans nothing if plan_lost() planned
  /// the loss of a disk.
  void plan_damaged(Timeline& timeline, Duration length);
  /// An acceptor's disk is replaced by an older copy while all other nodes run: a restarted node
  /// would have forgotten what it heard of logs. Then the operator empties the disk, as the
  /// documentation says.
  void write_put_back(Script& script) const;
  /// Damage on a disk may make a node refuse to start.
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
