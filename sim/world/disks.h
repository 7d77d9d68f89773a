// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/world/machines.h"
#include "sim/world/node_log.h"
#include "sim/world/options.h"
#include "sim/world/schedule.h"

namespace peal::sim {

/// The disks of a cluster's nodes, if the engine has logs. Disks write in the background while
/// their nodes continue.
class Disks {
 public:
  /// Called when more of a process's log has become durable, or when the log has failed.
  using Durable = std::function<void(Process&)>;
  Disks(const WorldOptions& options, Schedule& schedule, Machines& machines, Durable durable);

  /// A node's disk; null if the engine has no logs.
  NodeLog* of(NodeId node) { return logs_.empty() ? nullptr : logs_[node.value].get(); }
  /// `ghost` observes the log operations of all incarnations that start later.
  void watch(order::Ghost* ghost);
  /// Opens the log of a new incarnation. False if the log refuses the folder's content; the process
  /// then ends before its start.
  bool open(MemberId self, order::Ghost* ghost);
  /// Starts to write and sync the records that the process has appended.
  void commit(const Process& process);
  /// Ends a hang of the disk.
  void end_hang(NodeId node);
  /// Ends failures, slowness and a hang of the disk.
  void mend(NodeId node);
  /// Call when the node's process has ended. The node's logs lose the bytes that a crash may lose.
  void crash(NodeId node);

 private:
  void written(NodeLog& log, NodeId node, std::uint32_t incarnation);

  Schedule& schedule_;
  Machines& machines_;
  Durable durable_;
  std::vector<std::unique_ptr<NodeLog>> logs_;  ///< by node; empty if there are no logs
};

}  // namespace peal::sim
