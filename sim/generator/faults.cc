// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "sim/generator/scenario_generator.h"
#include "sim/scenario/tokenizer.h"

// Plans the faults of a generated scenario, class by class.

namespace peal::sim {

void ScenarioGenerator::plan_faults() {
  if (!options_.faults) return;
  if (random_.often()) plan_packets();
  if (random_.often()) plan_links();
  if (random_.often()) plan_processes();
  if (random_.chance(0.35)) plan_resources();
  if (options_.engine.is_genuine()) {
    plan_genuine_targets();
  } else if (options_.engine.has_quorum()) {
    plan_quorum_targets();
    plan_power_and_disks();
  } else {
    plan_targets();
  }
}

void ScenarioGenerator::plan_packets() {
  std::string line = "network " + calm_;
  const auto add = [&](const char* key, double most) {
    if (random_.often()) line += std::string(" ") + key + "=" + decimal(most * random_.small());
  };
  add("loss", 0.3);
  add("burst", 0.01);
  add("duplicate", 0.2);
  add("reorder", 0.2);
  add("late", 0.03);
  add("flip", 0.01);
  add("partial", 0.1);
  add("replay", 0.02);
  if (random_.often()) line += " burst-packets=" + random_.number(2, 300);
  line += " reorder-by=" + duration_text(random_.spread(microseconds(50), milliseconds(30)));
  line += " late-by=" + duration_text(random_.spread(milliseconds(1), milliseconds(600)));
  line += " replay-by=" + duration_text(random_.spread(milliseconds(1), seconds(2)));
  if (random_.chance(0.15)) {
    const std::int64_t largest = drawn_.packet_bytes_max();
    line += " mtu=" + random_.number(std::min<std::int64_t>(300, largest), largest);
  }
  if (random_.chance(0.1)) {
    const std::string delay = duration_text(random_.spread(milliseconds(1), milliseconds(900)));
    line += " large=" + random_.number(300, 1'200) + " large-by=" + delay;
  }
  if (random_.chance(0.25)) {
    static constexpr std::array<const char*, 5> kKinds{"token", "data", "join", "commit", "probe"};
    const std::string loss = decimal(random_.unit());
    const std::string kind =
        options_.engine.has_quorum() ? drawn_kind() : kKinds[random_.below(kKinds.size())];
    line += " bad-kind=" + kind + " bad-kind-loss=" + loss;
  }
  const Duration from = moment();
  timeline_.at(from, line);
  if (random_.often())
    timeline_.at(from + Duration{random_.between(0, length_.ns - from.ns)}, "network " + calm_);
  if (random_.chance(0.3)) plan_rule();
  if (random_.chance(0.3)) {
    const std::string count = random_.number(1, 200);
    timeline_.at(moment(), "inject random count=" + count);
  }
  if (random_.chance(0.3)) {
    const std::string count = random_.number(1, 60);
    timeline_.at(moment(), "replay-old count=" + count + " delay=0-50ms");
  }
}

/// Delays or duplicates packets of one kind for a while. Tokens of an earlier attempt to form a
/// view may then arrive; nodes must ignore these tokens.
void ScenarioGenerator::plan_rule() {
  static constexpr std::array<const char*, 6> kKinds{"commit",         "commit phase=2", "token",
                                                     "recovery-token", "join",           "data"};
  const Duration from = moment();
  const std::string range =
      "0-" + duration_text(random_.spread(milliseconds(1), milliseconds(300)));
  const std::string p = decimal(0.02 + 0.5 * random_.small());
  const std::string kind =
      options_.engine.has_quorum() ? drawn_kind() : kKinds[random_.below(kKinds.size())];
  const std::string which = " kind=" + kind + " p=" + p;
  timeline_.at(from,
               random_.often() ? "delay " + range + which : "duplicate delay=" + range + which);
  timeline_.at(from + random_.spread(milliseconds(20), seconds(2)), "clear rules");
}

/// A node crashes and leaves a gap in the order: the node's last packets reach few nodes or none,
/// but other nodes have sent later packets.
void ScenarioGenerator::plan_gap() {
  const Duration from = moment();
  const std::string a = node();
  timeline_.at(from, std::string("drop kind=") + data_kind() + " from " + a +
                         " p=" + (random_.often() ? "1" : decimal(random_.unit())));
  const Duration dies = from + random_.spread(microseconds(100), milliseconds(8));
  timeline_.at(dies,
               "crash " + a + (random_.often() ? " after-sends " + random_.number(1, 20) : ""));
  timeline_.at(dies + milliseconds(random_.between(5, 60)), "clear rules");
  timeline_.at(dies + milliseconds(random_.between(1, 900)), "start " + a);
}

void ScenarioGenerator::plan_links() {
  const std::int64_t events = random_.between(1, 6);
  for (std::int64_t i = 0; i < events; ++i) {
    const Duration from = moment();
    const Duration until = from + random_.spread(milliseconds(1), milliseconds(900));
    const std::string a = node();
    const std::string b = other_than(a);
    switch (random_.below(6)) {
      case 0: timeline_.at(from, "split " + some_parts(2, false)); break;
      case 1: timeline_.at(from, "split " + some_parts(nodes_ > 3 ? 3 : 2, random_.often())); break;
      case 2: timeline_.at(from, "cut " + a + " > " + b); break;
      case 3:
        timeline_.at(from, "cut " + a + " from " + b);
        if (random_.often()) timeline_.at(until, "heal " + a + " with " + b);
        break;
      case 4: {
        const std::string length = duration_text(random_.spread(milliseconds(10), seconds(1)));
        const std::string period =
            duration_text(random_.spread(milliseconds(1), milliseconds(200)));
        timeline_.at(from, "flap " + a + " from " + b + " every " + period + " for " + length);
        break;
      }
      default:
        timeline_.at(from,
                     "link " + a + " > " + b + " loss=" + decimal(random_.unit()) + " " + calm_);
        timeline_.at(until, "clear links");
        break;
    }
    if (random_.chance(0.8)) timeline_.at(until, "heal");
  }
}

void ScenarioGenerator::plan_processes() {
  const std::int64_t events = random_.between(1, 5);
  for (std::int64_t i = 0; i < events; ++i) {
    const Duration from = moment();
    const std::string a = node();
    const Duration until = from + milliseconds(random_.between(1, 900));
    switch (random_.below(9)) {
      case 8: plan_gap(); break;
      case 0:
      case 1:
        timeline_.at(from, "crash " + a);
        timeline_.at(until, "start " + a +
                                (random_.chance(0.1) ? " epoch=-" + random_.number(1, 5'000) : ""));
        break;
      case 2:
        timeline_.at(from, "crash " + a + " after-sends " + random_.number(1, 40));
        timeline_.at(until, "start " + a);
        break;
      case 3:  // the node restarts, and crashes while joining
        timeline_.at(from, "crash " + a);
        timeline_.at(until, "start " + a);
        timeline_.at(until, "crash " + a + " after-sends " + random_.number(1, 12));
        timeline_.at(until + milliseconds(random_.between(1, 300)), "start " + a);
        break;
      case 4:
        if (random_.chance(0.3)) {
          timeline_.at(from, "crash all");
          timeline_.at(until, "start all");
          break;
        }
        [[fallthrough]];
      case 5:
        timeline_.at(from,
                     "pause " + a + " " +
                         duration_text(random_.spread(
                             milliseconds(1), random_.chance(0.1) ? seconds(30) : seconds(1))));
        break;
      case 6:
        timeline_.at(from, "slow " + a + " " + random_.number(10, 100));
        timeline_.at(until, "slow " + a + " 1");
        break;
      default:
        timeline_.at(from, "leave " + a);
        timeline_.at(until, "start " + a);
        break;
    }
  }
}

void ScenarioGenerator::plan_resources() {
  const std::int64_t events = random_.between(1, 3);
  for (std::int64_t i = 0; i < events; ++i) {
    const Duration from = moment();
    const std::string a = node();
    std::string line = "application " + a + " room=" + random_.number(0, 60);
    if (random_.often())
      line += " per-unit=" + duration_text(random_.spread(microseconds(10), milliseconds(5)));
    timeline_.at(from, line);
    timeline_.at(from + random_.spread(milliseconds(1), milliseconds(700)),
                 "application " + a + " normal");
  }
}

/// Some of the actions that faults at chosen moments may take; `otherwise` if none is drawn.
std::string ScenarioGenerator::draw_target_actions(const char* otherwise) {
  std::string actions;
  for (const char* action : {"split", "cut", "crash", "pause"}) {
    if (random_.often()) actions += (actions.empty() ? "" : ",") + std::string(action);
  }
  return actions.empty() ? otherwise : actions;
}

/// The line of a scenario, whose targeted faults pause nodes instead of crashing them.
std::string ScenarioGenerator::target_without_crashes(std::string line) {
  const std::size_t at = line.starts_with("target ") ? line.find("crash") : std::string::npos;
  return at == std::string::npos ? line : line.replace(at, 5, "pause");
}

void ScenarioGenerator::plan_targets() {
  const double wanted = options_.targeted < 0 ? 0.6 : options_.targeted;
  if (!random_.chance(wanted)) return;
  std::string kinds;
  for (const char* kind : {"commit", "recovery"}) {
    if (random_.chance(0.7)) kinds += (kinds.empty() ? "" : ",") + std::string(kind);
  }
  if (random_.chance(0.1)) kinds += (kinds.empty() ? "" : ",") + std::string("join");
  if (kinds.empty()) kinds = "commit";
  const std::string actions = draw_target_actions("split");
  const Duration low = random_.spread(milliseconds(1), milliseconds(60));
  const Duration high = low + random_.spread(milliseconds(10), milliseconds(600));
  const std::string within = duration_text(random_.spread(microseconds(10), microseconds(400)));
  timeline_.at(Duration{}, "target kinds=" + kinds + " p=" + decimal(0.01 + 0.11 * random_.unit()) +
                               " actions=" + actions + " within=" + within +
                               " heal=" + duration_text(low) + "-" + duration_text(high));
  // The rule above needs a first view change: plan a fault that causes a view change.
  const Duration first{random_.between(0, length_.ns / 4)};
  if (random_.chance(0.3)) {
    plan_gap();
  } else if (random_.often()) {
    timeline_.at(first, "split " + some_parts(2, false));
    timeline_.at(first + milliseconds(random_.between(10, 300)), "heal");
  } else {
    const std::string a = node();
    timeline_.at(first, "crash " + a);
    timeline_.at(first + milliseconds(random_.between(1, 300)), "start " + a);
  }
}

std::string ScenarioGenerator::some_parts(std::uint64_t parts, bool overlapping) {
  std::vector<std::vector<NodeId>> part(parts);
  for (std::uint32_t n = 1; n <= nodes_; ++n) {
    const std::uint64_t first = random_.below(parts);
    part[first].push_back(NodeId{n});
    if (overlapping && random_.chance(0.4)) part[(first + 1) % parts].push_back(NodeId{n});
  }
  std::string text;
  for (const auto& members : part) {
    if (!members.empty()) text += (text.empty() ? "" : " | ") + nodes_text(members);
  }
  return text;
}

std::string ScenarioGenerator::other_than(const std::string& name) {
  std::string other = node();
  while (other == name) other = node();
  return other;
}

}  // namespace peal::sim
