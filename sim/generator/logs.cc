// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/generator/scenario_generator.h"
#include "sim/scenario/tokenizer.h"
#include "sim/world/node_log.h"

// Plans scenarios in which durable state matters: truncated logs, repeated restarts, competing
// coordinators, clocks that jump ahead. Each part has its own random generator, so that the rest of
// the scenario does not depend on that part.

namespace peal::sim {
namespace {

/// The random generator for one part of a seed's scenario.
Random part_of(std::uint64_t seed, std::uint64_t part) {
  return Random(seed * 0x9e3779b97f4a7c15ULL + part);
}

}  // namespace

/// Draws keys for the `cluster` line. Some scenarios get small segments. Some get a history so
/// short that logs discard their beginning during the scenario. Some get a short `suspect`.
std::string ScenarioGenerator::log_keys(bool slow_syncs) {
  if (!options_.engine.has_acceptors()) return "";
  Random own = part_of(seed_, 0x73);
  std::string keys;
  const auto add = [&](double p, const std::string& key, std::int64_t low, std::int64_t high) {
    const bool wanted = own.chance(p);
    std::int64_t top = high;
    while (top > 2 * low && own.chance(0.5)) top /= 2;
    const std::int64_t value = own.between(low, top) / 8 * 8;
    if (wanted && !is_fixed(key)) keys += " " + key + "=" + std::to_string(value);
  };
  if (options_.engine.has_logs()) {
    const auto packet = static_cast<std::int64_t>(drawn_.packet_bytes_max()) + 4'096 + 8;
    const auto least = static_cast<std::int64_t>(NodeLog::kSegmentBytesLeast);
    add(0.7, "segment", std::max(least, packet), 256 << 10);
  }
  // Nodes retain up to twice `history` for cut-off members; with Ridge, seed 326 needs a history of
  // at least 768 KiB. Several ensembles share the history, so a short history would not suffice for
  // cut-off members.
  const bool alone = options_.engine.ensembles() == 1 && options_.domains == 0;
  add(alone ? 0.5 : 0, "history", 1 << 20, 4 << 20);
  // A disk that makes no progress for five times `suspect` counts as hanging
  // (order/paxos/link_watch.cc), and the slowest sync takes 200 ms. With slow syncs and a short
  // `suspect`, the other nodes would exclude a node that the scenario regards as working.
  if (own.chance(0.3) && !is_fixed("suspect") && !slow_syncs) {
    keys += " suspect=" + std::to_string(own.between(30, 90)) + "ms";
  }
  return keys;
}

/// In some scenarios, one or two nodes restart repeatedly, and their clocks sometimes jump ahead.
/// In some scenarios of engines with acceptors, nodes pause repeatedly: other nodes take over as
/// coordinators before the paused nodes return.
void ScenarioGenerator::plan_restarts() {
  if (!options_.faults) return;
  Random own = part_of(seed_, 0x74);
  const auto some_node = [&] {
    // Prefer the lowest nodes: acceptors and representatives are among them.
    const std::uint64_t most = own.chance(0.7) ? std::min<std::uint64_t>(nodes_, 3) : nodes_;
    return "n" + std::to_string(1 + own.below(most));
  };
  if (own.chance(0.35)) {
    std::string who = some_node();
    if (own.chance(0.4)) {
      const std::string other = some_node();
      if (other != who) who += "," + other;
    }
    const std::int64_t times = own.between(2, 8);
    std::int64_t when = own.between(0, length_.ns);
    // Domains that lose their orders begin with larger positions only if their clocks agree.
    const std::int64_t furthest = options_.engine.is_genuine() ? 1'000 : 1'000'000'000;
    for (std::int64_t i = 0; i < times; ++i) {
      timeline_.at(Duration{when}, "crash " + who);
      when += own.between(1'000, 200'000'000);
      const bool jumps = own.chance(0.15);
      const std::int64_t ahead = own.between(1, furthest);
      timeline_.at(Duration{when},
                   "start " + who + (jumps ? " epoch=+" + std::to_string(ahead) : ""));
      when += own.between(100'000, 300'000'000);
    }
  }
  if (options_.engine.has_quorum() && own.chance(0.35)) {
    const std::int64_t times = own.between(2, 10);
    std::int64_t when = own.between(0, length_.ns);
    for (std::int64_t i = 0; i < times; ++i) {
      const std::int64_t pause = own.between(20, 400);
      timeline_.at(Duration{when}, "pause " + some_node() + " " + std::to_string(pause) + "ms");
      when += own.between(1'000'000, 400'000'000);
    }
  }
}

/// A node restarts at another address, but the configuration files of some other nodes contain the
/// old address. Until such a node reads a new file, it cannot exchange packets with the moved node.
void ScenarioGenerator::plan_moved_node() {
  constexpr double kShareMoved = 0.12;
  if (!options_.faults) return;
  Random own = part_of(seed_, 0x79);
  if (!own.chance(kShareMoved)) return;
  const NodeId moved{1 + static_cast<std::uint32_t>(own.below(nodes_))};
  const std::string name = nodes_text({moved});
  const Duration when{own.between(0, length_.ns)};
  timeline_.at(when, "crash " + name);
  for (std::uint32_t n = 1; n <= nodes_; ++n) {
    const bool old_file = own.chance(0.5);
    const Duration reads = when + milliseconds(own.between(1, 1'500));
    if (!old_file || NodeId{n} == moved) continue;
    const std::string other = nodes_text({NodeId{n}});
    timeline_.at(when, "move " + name + " from " + other);
    timeline_.at(reads, "heal " + other + " with " + name);
  }
  timeline_.at(when + milliseconds(own.between(1, 300)), "start " + name);
}

}  // namespace peal::sim
