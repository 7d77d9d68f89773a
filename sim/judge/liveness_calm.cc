// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/judge/liveness.h"

// Checks of a cluster in a calm network: bytes and packets sent, buffers held, stable views.

namespace peal::sim {
namespace {

/// Buffers that an idle node may hold: copies of its last token and JOINs.
constexpr std::uint32_t kSlabsAtRest = 64;
/// A calm network loses no packet, so every unit should cross the network about once. Requests and
/// answers that cross each other may duplicate some units.
constexpr std::uint64_t kBytesPerByteMost = 4;
constexpr Duration kIdleWatch = milliseconds(500);

/// Number of instances for which an idle acceptor may hold buffers. An acceptor keeps its votes for
/// instances that an earlier coordinator left open, until these instances have other values. These
/// votes span at most one window; the acceptor may hold a newer value beside each vote.
std::uint64_t ahead_of(const Process& process) {
  return process.counter("quorum_instances_ahead").value_or(0);
}

}  // namespace

/// Loses one packet in a hundred for a while. Members must retransmit the lost packets, and must
/// not exclude any member.
void Liveness::lose_a_little() {
  constexpr Duration kLength = milliseconds(150);
  Load load;
  load.rate = 300;
  load.until = world_.now() + kLength;
  for (const Part& part : parts_) {
    load.nodes.insert(load.nodes.end(), part.alive.begin(), part.alive.end());
  }
  if (load.nodes.empty()) return;
  world_.loads().add(load);
  world_.network().conditions().loss = 0.01;
  advance(kLength);
  world_.network().conditions().loss = 0;
}

void Liveness::remember_views() {
  views_.assign(world_.nodes() + 1, 0);
  for (std::uint32_t n = 1; n <= world_.nodes(); ++n) {
    if (const Process* process = world_.process(NodeId{n})) views_[n] = process->status.views;
  }
}

void Liveness::check_views() {
  for (std::uint32_t n = 1; n <= world_.nodes() && !stopped_(); ++n) {
    const Process* process = world_.process(NodeId{n});
    if (process == nullptr || !world_.domains().has_view(NodeId{n})) continue;
    if (process->status.views == views_[n] && process->status.operational) continue;
    world_.recorder().violation(
        world_.now(), "E11",
        "n" + std::to_string(n) + " gave up its view in a calm network: " + state_text());
  }
}

void Liveness::check_traffic() {
  std::uint64_t sent_before = 0;
  std::uint64_t units_before = 0;
  std::uint64_t units = 0;
  std::uint64_t sent = 0;
  const auto sum = [this](std::uint64_t& wire, std::uint64_t& bytes) {
    wire = bytes = 0;
    for (std::uint32_t n = 1; n <= world_.nodes(); ++n) {
      const Process* process = world_.process(NodeId{n});
      if (process == nullptr) continue;
      wire += process->work.data_bytes_sent;
      bytes += process->work.unit_bytes_originated;
    }
  };
  sum(sent_before, units_before);
  const std::uint64_t before = world_.recorder().figures().units_originated;
  submit_more();
  if (!drain()) return;
  sum(sent, units);
  const std::uint64_t count = world_.recorder().figures().units_originated - before;
  const std::uint64_t once = units - units_before + 100 * count;
  // With fan-out, a chain or a distributor, each node gets its own copy of a unit.
  const bool each = world_.options().fan_out || world_.options().engine.traits().has_domains();
  std::uint64_t copies = each ? world_.nodes() : 1;
  // With genuine multicast, each domain proposes a stamp to each destination of a message.
  if (world_.domains().is_genuine()) copies *= world_.domains().view_sets().size();
  // If disks are sometimes slow, nodes may treat delayed answers as lost.
  const std::uint64_t slow = world_.options().disks.slow > 0 ? 2 : 1;
  if (sent - sent_before > kBytesPerByteMost * slow * copies * once + 20'000) {
    world_.recorder().violation(world_.now(), "R2",
                                std::to_string(sent - sent_before) + " bytes of data sent for " +
                                    std::to_string(once) +
                                    " bytes to order in a calm network: " + state_text());
  }
}

void Liveness::check_idleness() {
  struct Work {
    std::uint64_t sent = 0;
    std::uint64_t idle = 0;
    std::uint32_t incarnation = 0;
  };
  std::vector<Work> before(world_.nodes() + 1);
  advance(milliseconds(100));
  for (std::uint32_t n = 1; n <= world_.nodes(); ++n) {
    const Process* process = world_.process(NodeId{n});
    if (process != nullptr) {
      before[n] = {process->work.packets_sent, process->work.idle_timer_calls,
                   process->incarnation};
    }
  }
  advance(kIdleWatch);
  if (stopped_()) return;
  const EngineOptions& engine = world_.options().engine;
  const auto idle_turns = static_cast<std::uint64_t>(kIdleWatch.ns / engine.needs(1).idle.ns);
  for (std::uint32_t n = 1; n <= world_.nodes(); ++n) {
    // Each ensemble sends its own heartbeats. The ensemble of a domain sends a heartbeat to each
    // node of the domain.
    std::uint64_t to = engine.ensembles();
    if (engine.is_genuine() && world_.domains().has_view(NodeId{n})) {
      to += world_.domains().view_nodes(NodeId{n}).size();
    }
    for (const order::Domain domain : world_.domains().of(NodeId{n})) {
      if (domain != 0) to += world_.options().domains[domain - 1].nodes.size();
    }
    // An engine with acceptors sends heartbeats to each destination; the ring sends its idle token,
    // JOINs without answers, and probes. The bounds are about twice this traffic.
    const std::uint64_t most =
        engine.has_quorum() ? 2 * idle_turns * to + 100 : 4 * (idle_turns + 8) + 100;
    const Process* process = world_.process(NodeId{n});
    if (process == nullptr || process->incarnation != before[n].incarnation) continue;
    const std::uint64_t sent = process->work.packets_sent - before[n].sent;
    const std::uint64_t idle = process->work.idle_timer_calls - before[n].idle;
    const std::string name = "n" + std::to_string(n) + ": ";
    HistoryRecorder& recorder = world_.recorder();
    if (sent > most) {
      recorder.violation(
          world_.now(), "R2",
          name + std::to_string(sent) + " packets sent while there was nothing to do");
    }
    if (idle > most) {
      recorder.violation(world_.now(), "R3",
                         name + std::to_string(idle) + " timer calls without any effect");
    }
    const std::uint32_t held = process->buffers.held_with_large();
    if (held > kSlabsAtRest + 2 * ahead_of(*process)) {
      recorder.violation(world_.now(), "R1",
                         name + std::to_string(held) + " buffers in use while at rest");
    }
    // With genuine multicast, no view tells that a sender of another domain has crashed in the
    // middle of a message.
    const bool parts = process->node->reassembly_bytes() != 0 && !engine.is_genuine();
    if (process->node->queued_bytes() != 0 || parts) {
      recorder.violation(world_.now(), "R1", name + "memory kept for messages that are gone");
    }
  }
}

}  // namespace peal::sim
