// SPDX-License-Identifier: Apache-2.0
#include "sim/world/disks.h"

#include <optional>
#include <utility>

namespace peal::sim {

Disks::Disks(const WorldOptions& options, Schedule& schedule, Machines& machines, Durable durable)
    : schedule_(schedule), machines_(machines), durable_(std::move(durable)) {
  if (!options.engine.has_logs()) return;
  logs_.resize(options.nodes + 1);
  for (std::uint32_t n = 1; n <= options.nodes; ++n) {
    logs_[n] = std::make_unique<NodeLog>(options.disks, seed_for(options, 8'000 + n),
                                         options.segment_bytes);
  }
}

void Disks::watch(order::Ghost* ghost) {
  for (const auto& log : logs_) {
    if (log != nullptr) log->watch(ghost);
  }
}

bool Disks::open(MemberId self, order::Ghost* ghost) {
  NodeLog* log = of(self.node);
  if (log == nullptr) return true;
  if (ghost != nullptr) ghost->note_newest_segment(self.node, log->newest_segment());
  return log->open(self);
}

void Disks::commit(const Process& process) {
  const NodeId node = process.self.node;
  NodeLog* votes = of(node);
  if (votes == nullptr) return;
  for (NodeLog* log : {votes, votes->owed()}) {
    const std::optional<Duration> time = log->begin();
    if (!time) continue;
    schedule_.plan(schedule_.now() + *time, [this, log, node, incarnation = process.incarnation] {
      written(*log, node, incarnation);
    });
  }
}

void Disks::written(NodeLog& log, NodeId node, std::uint32_t incarnation) {
  Process* process = machines_.process(node, incarnation);
  if (process == nullptr) return;
  if (log.hangs()) {
    log.wait_for_end();
    return;
  }
  log.finish();
  durable_(*process);
}

void Disks::end_hang(NodeId node) {
  NodeLog* votes = of(node);
  if (votes == nullptr) return;
  for (NodeLog* log : {votes, votes->owed()}) {
    if (!log->end_hang()) continue;
    if (const Process* process = machines_.process(node)) {
      written(*log, node, process->incarnation);
    }
  }
}

void Disks::mend(NodeId node) {
  NodeLog* log = of(node);
  if (log == nullptr) return;
  log->mend();
  end_hang(node);
}

void Disks::crash(NodeId node) {
  if (NodeLog* log = of(node)) log->crash();
}

}  // namespace peal::sim
