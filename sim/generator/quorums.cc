// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "sim/baselines/registry.h"
#include "sim/generator/scenario_generator.h"
#include "sim/scenario/tokenizer.h"

// Plans the faults of engines with acceptors: faults at certain moments of the protocol, power
// failures of the whole cluster, faults of disks, and slow nodes.

namespace peal::sim {

std::string ScenarioGenerator::data_kind() {
  return std::string(options_.engine.engine().unit_packets);
}

std::string ScenarioGenerator::drawn_kind() {
  if (options_.engine.is_genuine()) {
    const order::Inspection* inspection = find_inspection(options_.engine.engine().name);
    if (inspection == nullptr || inspection->packets.empty()) return "other";
    return std::string(inspection->packets[random_.below(inspection->packets.size())].name);
  }
  if (options_.engine.engine().traits.ensembles && random_.chance(0.3)) {
    const bool relay = random_.chance(0.5) || options_.engine.differs("dissemination");
    return relay ? "relay" : "distribute";
  }
  static constexpr std::array<const char*, 12> kKinds{
      "state",   "submit", "propose", "prepare",    "promise",        "fetch",
      "fetched", "repeat", "decided", "checkpoint", "checkpoint-get", "lacks"};
  return kKinds[random_.below(kKinds.size())];
}

void ScenarioGenerator::plan_quorum_targets() {
  const double wanted = options_.targeted < 0 ? 0.6 : options_.targeted;
  if (!random_.chance(wanted)) return;
  std::string kinds;
  for (const char* kind : {"prepare", "promise", "view"}) {
    if (random_.chance(0.6)) kinds += (kinds.empty() ? "" : ",") + std::string(kind);
  }
  if (kinds.empty()) kinds = "promise";
  const std::string actions = draw_target_actions("crash");
  const auto line = [&](const std::string& at_kinds, double most) {
    const Duration low = random_.spread(milliseconds(1), milliseconds(60));
    const Duration high = low + random_.spread(milliseconds(10), milliseconds(600));
    const std::string within = duration_text(random_.spread(microseconds(10), microseconds(400)));
    const std::string p = decimal(most * (0.1 + 0.9 * random_.unit()));
    return "target kinds=" + at_kinds + " p=" + p + " actions=" + actions + " within=" + within +
           " heal=" + duration_text(low) + "-" + duration_text(high);
  };
  timeline_.at(Duration{}, line(kinds, 0.25));
  // Votes are frequent: let few votes trigger a fault.
  if (random_.often()) timeline_.at(Duration{}, line("vote", 0.01) + " most=20");
  // The rules above need a new coordinator: plan a fault that makes an election necessary.
  const Duration first{random_.between(0, length_.ns / 4)};
  if (random_.often()) {
    timeline_.at(first, "split " + some_parts(2, false));
    timeline_.at(first + milliseconds(random_.between(10, 300)), "heal");
  } else {
    const std::string a = random_.often() ? "n1" : node();
    timeline_.at(first, "crash " + a);
    timeline_.at(first + milliseconds(random_.between(1, 300)), "start " + a);
  }
}

/// In some scenarios, power fails for all nodes at once, so that only the disks keep state. In
/// some, a disk fails. In some, a disk is slow.
void ScenarioGenerator::plan_power_and_disks() {
  if (random_.chance(0.3)) {
    const std::int64_t times = random_.between(1, 3);
    for (std::int64_t i = 0; i < times; ++i) {
      const Duration from = moment();
      timeline_.at(from, "crash all");
      timeline_.at(from + random_.spread(milliseconds(1), milliseconds(400)), "start all");
    }
  }
  if (random_.chance(0.25)) {
    const Duration from = moment();
    const std::string a = random_.often() ? "n1" : node();
    timeline_.at(from, "disk " + a + " fails");
    failed_disk_ = a;
    timeline_.at(from + random_.spread(milliseconds(1), milliseconds(600)), "start " + a);
  }
  if (random_.chance(0.25)) {
    const Duration from = moment();
    const std::string a = random_.often() ? "n1" : node();
    timeline_.at(from, "disk " + a + " slow " +
                           duration_text(random_.spread(milliseconds(2), milliseconds(200))));
    timeline_.at(from + random_.spread(milliseconds(50), seconds(1)), "disk " + a + " mended");
  }
}

/// In some scenarios, one node has a slow disk, a slow application and sometimes a slow processor
/// for a while. These faults have their own random generator.
void ScenarioGenerator::plan_slow_node() {
  constexpr double kShareThatSlow = 0.12;
  if (!options_.faults || !options_.engine.has_quorum()) return;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x76);
  if (!own.chance(kShareThatSlow)) return;
  const std::string name = nodes_text({NodeId{1 + static_cast<std::uint32_t>(own.below(nodes_))}});
  const Duration from{own.between(0, length_.ns)};
  const Duration to = from + milliseconds(own.between(50, 1'500));
  timeline_.at(from, "disk " + name + " slow " + std::to_string(own.between(5, 250)) + "ms");
  // Draw in separate statements, because compilers differ in their order of evaluation.
  const std::string per_unit = std::to_string(own.between(100, 5'000));
  const std::string room = std::to_string(own.between(1, 60));
  timeline_.at(from, "application " + name + " room=" + room + " per-unit=" + per_unit + "us");
  if (own.chance(0.5))
    timeline_.at(from, "slow " + name + " " + std::to_string(own.between(2, 20)));
  timeline_.at(to, "disk " + name + " mended");
  timeline_.at(to, "application " + name + " normal");
  timeline_.at(to, "slow " + name + " 1");
}

/// Removes crashes from most scenarios with votes in memory. A crashed acceptor must not vote after
/// its restart. Once most acceptors have crashed, the cluster cannot order until all nodes restart.
/// So only one node may crash or leave, or all nodes at once. Targeted faults pause nodes instead
/// of crashing them.
void ScenarioGenerator::spare_lives() {
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x6d);
  if (!own.chance(0.7)) return;
  NodeId one{static_cast<std::uint32_t>(1 + own.below(nodes_))};
  for (const NodeId node : lists_.before()) {  // a removed node must stop: make it the victim
    if (lists_.removes(node)) one = node;
  }
  const std::string victim = nodes_text({one});
  Timeline kept;
  for (const auto& [when, text] : timeline_.lines()) {
    std::string line = target_without_crashes(text);
    const bool ends = line.starts_with("crash ") || line.starts_with("leave ");
    const std::string who = ends ? line.substr(6, line.find(' ', 6) - 6) : "";
    const bool all = who == "all" && own.chance(0.4);
    if (!ends || all || who == victim) kept.at(Duration{when}, line);
  }
  timeline_ = std::move(kept);
}

}  // namespace peal::sim
