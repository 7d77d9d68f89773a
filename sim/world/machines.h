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
  /// This incarnation, or null if it does not run any more.
  Process* process(NodeId node, std::uint32_t incarnation);
  bool is_up(NodeId node) const;
  bool anyone_recovers() const;

  bool has_run(NodeId node) const { return machines_[node.value].incarnation != 0; }
  /// The epoch of the node's next incarnation: `step` is added to that of a correct clock.
  std::uint64_t next_epoch(NodeId node, std::int64_t step, Instant now) const;
  Process& start(World& world, MemberId self);
  /// The process ends.
  void remove(Process& process);

  /// Changes how fast the node's clock is; it never goes back. False if that is so already.
  bool set_clock_drift(NodeId node, std::int32_t drift_ppm, Instant now);
  std::int32_t first_drift(NodeId node) const { return machines_[node.value].first_drift; }

 private:
  struct Machine {
    Clock clock;
    std::int32_t first_drift = 0;
    std::uint32_t incarnation = 0;  ///< number of the last one
    std::uint64_t epoch = 0;        ///< the largest one so far
    std::unique_ptr<Process> process;
  };

  const bool with_logs_;           ///< a node knows its last incarnation from its log
  std::vector<Machine> machines_;  ///< by node
};

}  // namespace peal::sim
