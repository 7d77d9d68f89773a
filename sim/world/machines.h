// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/world/clock.h"
#include "sim/world/options.h"
#include "sim/world/process.h"

namespace peal::sim {

/// The machines of a cluster, each with a clock of its own, and the process that runs on each.
class Machines {
 public:
  explicit Machines(const WorldOptions& options);

  /// The running incarnation, or null.
  Process* process(NodeId node) { return machines_[node.value].process.get(); }
  const Process* process(NodeId node) const { return machines_[node.value].process.get(); }
  /// This incarnation, or null if it has ended.
  Process* process(NodeId node, std::uint32_t incarnation);
  bool is_up(NodeId node) const;
  bool anyone_recovers() const;

  bool has_run(NodeId node) const { return machines_[node.value].incarnation != 0; }
  /// The epoch of the node's next incarnation. Takes the larger of two numbers: the epoch that a
  /// correct clock gives, and the node's largest epoch so far plus 1. Then adds `step`. If the
  /// engine has acceptors, a negative `step` counts as 0.
  std::uint64_t next_epoch(NodeId node, std::int64_t step, Instant now) const;
  Process& start(World& world, MemberId self);
  /// Removes a process that ends.
  void remove(Process& process);

  /// Changes how fast the node's clock is; the clock never goes back. False if the clock has
  /// this drift already.
  bool set_clock_drift(NodeId node, std::int32_t drift_ppm, Instant now);
  std::int32_t first_drift(NodeId node) const { return machines_[node.value].first_drift; }

 private:
  struct Machine {
    Clock clock;
    std::int32_t first_drift = 0;
    std::uint32_t incarnation = 0;  ///< number of the last incarnation
    std::uint64_t epoch = 0;        ///< the largest epoch so far
    std::unique_ptr<Process> process;
  };

  const bool with_logs_;           ///< the engine has acceptors: epochs never go back
  std::vector<Machine> machines_;  ///< by node
};

}  // namespace peal::sim
