// SPDX-License-Identifier: Apache-2.0
#include "sim/world/machines.h"

#include <algorithm>

#include "base/hooks.h"
#include "base/random.h"

namespace peal::sim {
namespace {

/// A correct clock's epoch at world time 0, in milliseconds.
constexpr std::uint64_t kFirstEpoch = 1'000'000;

}  // namespace

Machines::Machines(const WorldOptions& options)
    : with_logs_(options.engine.has_quorum()), machines_(options.nodes + 1) {
  Random clocks(seed_for(options, 5));
  for (std::uint32_t n = 1; n <= options.nodes; ++n) {
    const auto drift =
        static_cast<std::int32_t>(clocks.between(-options.drift_ppm, options.drift_ppm));
    machines_[n].clock = Clock(milliseconds(clocks.between(1, 1'000'000'000)), drift);
    machines_[n].first_drift = drift;
  }
}

Process* Machines::process(NodeId node, std::uint32_t incarnation) {
  Process* running = process(node);
  return running != nullptr && running->incarnation == incarnation ? running : nullptr;
}

bool Machines::is_up(NodeId node) const {
  const Process* running = process(node);
  return running != nullptr && running->state == Process::State::up;
}

bool Machines::anyone_recovers() const {
  return std::any_of(machines_.begin(), machines_.end(), [](const Machine& machine) {
    return machine.process != nullptr && machine.process->status.recovering;
  });
}

std::uint64_t Machines::next_epoch(NodeId node, std::int64_t step, Instant now) const {
  const std::uint64_t last = machines_[node.value].epoch;
  if (PEAL_MUTANT(restart_same_epoch) && last != 0) return last;
  const auto now_ms = static_cast<std::uint64_t>(now.ns / 1'000'000);
  const std::uint64_t good = std::max(last + 1, kFirstEpoch + now_ms);
  if (step >= 0 || with_logs_) {
    return good + static_cast<std::uint64_t>(std::max<std::int64_t>(step, 0));
  }
  const auto back = static_cast<std::uint64_t>(-step);
  return good > back ? good - back : 1;
}

Process& Machines::start(World& world, MemberId self) {
  Machine& machine = machines_[self.node.value];
  machine.process = std::make_unique<Process>(world, self, ++machine.incarnation, machine.clock);
  machine.process->set_back = self.epoch <= machine.epoch;
  machine.epoch = std::max(machine.epoch, self.epoch);
  return *machine.process;
}

void Machines::remove(Process& process) {
  Machine& machine = machines_[process.self.node.value];
  machine.epoch = std::max(machine.epoch, process.self.epoch);
  machine.process.reset();
}

bool Machines::set_clock_drift(NodeId node, std::int32_t drift_ppm, Instant now) {
  Machine& machine = machines_[node.value];
  if (machine.clock.drift_ppm() == drift_ppm) return false;
  machine.clock = machine.clock.drifting(now, drift_ppm);
  if (machine.process != nullptr) machine.process->clock = machine.clock;
  return true;
}

}  // namespace peal::sim
