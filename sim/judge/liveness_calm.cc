// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/judge/liveness.h"

// What a cluster does in a calm network: how much it sends, what it holds, and that views stay.

namespace peal::sim {
namespace {

/// Buffers that a node at rest may hold: copies of its last token and joins.
constexpr std::uint32_t kSlabsAtRest = 64;
/// A calm network loses nothing, so every unit should cross it about once; requests and answers
/// that overtook each other may double some.
constexpr std::uint64_t kBytesPerByteMost = 4;
constexpr Duration kIdleWatch = milliseconds(500);

/// An acceptor keeps its votes for what an earlier coordinator had under way until something else
/// has that place: no more than a window, and perhaps another value that was heard since.
std::uint64_t ahead_of(const Process& process) {
  for (const order::Counter& each : process.counters()) {
    if (each.name == "quorum_instances_ahead") return each.value;
  }
  return 0;
}

}  // namespace

/// One packet in a hundred is lost for a while: tokens are sent again, and nobody is missed.
void Liveness::lose_a_little() {
  constexpr Duration kLength = milliseconds(150);
  Load load;
  load.rate = 300;
  load.until = world_.now() + kLength;
  for (const Part& part : parts_) {
    load.nodes.insert(load.nodes.end(), part.alive.begin(), part.alive.end());
  }
  if (load.nodes.empty()) return;
  world_.add_load(load);
  world_.network().conditions().loss = 0.01;
  advance(kLength);
  world_.network().conditions().loss = 0;
}

void Liveness::remember_views() {
  views_.assign(world_.nodes() + 1, 0);
  for (std::uint32_t n = 1; n <= world_.nodes(); ++n) {
    if (const Process* process = world_.process(NodeId{n})) views_[n] = process->views;
  }
}

void Liveness::check_views() {
  for (std::uint32_t n = 1; n <= world_.nodes() && !stopped_(); ++n) {
    const Process* process = world_.process(NodeId{n});
    if (process == nullptr || (process->views == views_[n] && process->operational)) continue;
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
      wire += process->data_bytes_sent;
      bytes += process->unit_bytes_originated;
    }
  };
  sum(sent_before, units_before);
  const std::uint64_t before = world_.recorder().figures().units_originated;
  submit_more();
  if (!drain()) return;
  sum(sent, units);
  const std::uint64_t count = world_.recorder().figures().units_originated - before;
  const std::uint64_t once = units - units_before + 100 * count;
  // Along a chain and from a distributor each node gets a copy of its own.
  const bool each = world_.options().fan_out || world_.options().order->traits.ensembles;
  const std::uint64_t copies = each ? world_.nodes() : 1;
  // While a disk takes longer than answers took before, what it holds up may look lost.
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
      before[n] = {process->packets_sent, process->idle_timer_calls, process->incarnation};
    }
  }
  advance(kIdleWatch);
  if (stopped_()) return;
  const order::ring::Options& ring = world_.options().ring;
  // A rotation each time the token is let go, joins to nobody, and probes; twice that is too much.
  const auto rotations =
      static_cast<std::uint64_t>(kIdleWatch.ns / order::ring::rest_max(ring).ns + 8);
  const bool paxos = world_.options().order->traits.quorum;
  const auto heartbeats =
      static_cast<std::uint64_t>(kIdleWatch.ns / world_.options().paxos.heartbeat.ns);
  for (std::uint32_t n = 1; n <= world_.nodes(); ++n) {
    // Each ensemble has heartbeats of its own, those of a domain one for each of its nodes.
    std::uint64_t to = world_.options().ensembles;
    for (const order::Domain domain : world_.domains_of(NodeId{n})) {
      if (domain != 0) to += world_.options().domains[domain - 1].nodes.size();
    }
    const std::uint64_t most = paxos ? 2 * heartbeats * to + 100 : 4 * rotations + 100;
    const Process* process = world_.process(NodeId{n});
    if (process == nullptr || process->incarnation != before[n].incarnation) continue;
    const std::uint64_t sent = process->packets_sent - before[n].sent;
    const std::uint64_t idle = process->idle_timer_calls - before[n].idle;
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
    const std::uint32_t held =
        process->receive_pool->slab_count() - process->receive_pool->free_count() +
        process->unit_pool->slab_count() - process->unit_pool->free_count() +
        process->large_pool->slab_count() - process->large_pool->free_count();
    if (held > kSlabsAtRest + 2 * ahead_of(*process)) {
      recorder.violation(world_.now(), "R1",
                         name + std::to_string(held) + " buffers in use while at rest");
    }
    if (process->node->queued_bytes() != 0 || process->node->reassembly_bytes() != 0) {
      recorder.violation(world_.now(), "R1", name + "memory kept for messages that are gone");
    }
  }
}

}  // namespace peal::sim
