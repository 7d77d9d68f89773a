// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "sim/generator/scenario_generator.h"
#include "sim/scenario/tokenizer.h"

// The faults of a generated scenario, class by class.

namespace peal::sim {

void ScenarioGenerator::plan_faults() {
  if (!options_.faults) return;
  if (often()) plan_packets();
  if (often()) plan_links();
  if (often()) plan_processes();
  if (maybe(0.35)) plan_resources();
  if (options_.engine.has_quorum()) {
    plan_quorum_targets();
    plan_power_and_disks();
  } else {
    plan_targets();
  }
}

void ScenarioGenerator::plan_packets() {
  std::string line = "network " + calm_;
  const auto add = [&](const char* key, double most) {
    if (often()) line += std::string(" ") + key + "=" + decimal(most * small());
  };
  add("loss", 0.3);
  add("burst", 0.01);
  add("duplicate", 0.2);
  add("reorder", 0.2);
  add("late", 0.03);
  add("flip", 0.01);
  add("partial", 0.1);
  add("replay", 0.02);
  if (often()) line += " burst-packets=" + number(2, 300);
  line += " reorder-by=" + duration_text(spread(microseconds(50), milliseconds(30)));
  line += " late-by=" + duration_text(spread(milliseconds(1), milliseconds(600)));
  line += " replay-by=" + duration_text(spread(milliseconds(1), seconds(2)));
  if (maybe(0.15)) {
    const std::int64_t largest = drawn_.packet_bytes_max();
    line += " mtu=" + number(std::min<std::int64_t>(300, largest), largest);
  }
  if (maybe(0.1)) {
    const std::string delay = duration_text(spread(milliseconds(1), milliseconds(900)));
    line += " large=" + number(300, 1'200) + " large-by=" + delay;
  }
  if (maybe(0.25)) {
    static constexpr std::array<const char*, 5> kKinds{"token", "data", "join", "commit", "probe"};
    const std::string loss = decimal(random_.unit());
    const std::string kind =
        options_.engine.has_quorum() ? drawn_kind() : kKinds[random_.below(kKinds.size())];
    line += " bad-kind=" + kind + " bad-kind-loss=" + loss;
  }
  const Duration from = moment();
  at(from, line);
  if (often()) at(from + Duration{between(0, length_.ns - from.ns)}, "network " + calm_);
  if (maybe(0.3)) plan_rule();
  if (maybe(0.3)) {
    const std::string count = number(1, 200);
    at(moment(), "inject random count=" + count);
  }
  if (maybe(0.3)) {
    const std::string count = number(1, 60);
    at(moment(), "replay-old count=" + count + " delay=0-50ms");
  }
}

/// Delays or duplicates packets of one kind for a while: nodes must ignore tokens of a past
/// attempt.
void ScenarioGenerator::plan_rule() {
  static constexpr std::array<const char*, 6> kKinds{"commit",         "commit phase=2", "token",
                                                     "recovery-token", "join",           "data"};
  const Duration from = moment();
  const std::string range = "0-" + duration_text(spread(milliseconds(1), milliseconds(300)));
  const std::string p = decimal(0.02 + 0.5 * small());
  const std::string kind =
      options_.engine.has_quorum() ? drawn_kind() : kKinds[random_.below(kKinds.size())];
  const std::string which = " kind=" + kind + " p=" + p;
  at(from, often() ? "delay " + range + which : "duplicate delay=" + range + which);
  at(from + spread(milliseconds(20), seconds(2)), "clear rules");
}

/// A node crashes and leaves a gap: its last packets reach no or few nodes, while others have sent
/// later ones.
void ScenarioGenerator::plan_gap() {
  const Duration from = moment();
  const std::string a = node();
  at(from, std::string("drop kind=") + data_kind() + " from " + a +
               " p=" + (often() ? "1" : decimal(random_.unit())));
  const Duration dies = from + spread(microseconds(100), milliseconds(8));
  at(dies, "crash " + a + (often() ? " after-sends " + number(1, 20) : ""));
  at(dies + milliseconds(between(5, 60)), "clear rules");
  at(dies + milliseconds(between(1, 900)), "start " + a);
}

void ScenarioGenerator::plan_links() {
  const std::int64_t events = between(1, 6);
  for (std::int64_t i = 0; i < events; ++i) {
    const Duration from = moment();
    const Duration until = from + spread(milliseconds(1), milliseconds(900));
    const std::string a = node();
    const std::string b = other_than(a);
    switch (random_.below(6)) {
      case 0: at(from, "split " + some_parts(2, false)); break;
      case 1: at(from, "split " + some_parts(nodes_ > 3 ? 3 : 2, often())); break;
      case 2: at(from, "cut " + a + " > " + b); break;
      case 3:
        at(from, "cut " + a + " from " + b);
        if (often()) at(until, "heal " + a + " with " + b);
        break;
      case 4: {
        const std::string length = duration_text(spread(milliseconds(10), seconds(1)));
        const std::string period = duration_text(spread(milliseconds(1), milliseconds(200)));
        at(from, "flap " + a + " from " + b + " every " + period + " for " + length);
        break;
      }
      default:
        at(from, "link " + a + " > " + b + " loss=" + decimal(random_.unit()) + " " + calm_);
        at(until, "clear links");
        break;
    }
    if (maybe(0.8)) at(until, "heal");
  }
}

void ScenarioGenerator::plan_processes() {
  const std::int64_t events = between(1, 5);
  for (std::int64_t i = 0; i < events; ++i) {
    const Duration from = moment();
    const std::string a = node();
    const Duration until = from + milliseconds(between(1, 900));
    switch (random_.below(9)) {
      case 8: plan_gap(); break;
      case 0:
      case 1:
        at(from, "crash " + a);
        at(until, "start " + a + (maybe(0.1) ? " epoch=-" + number(1, 5'000) : ""));
        break;
      case 2:
        at(from, "crash " + a + " after-sends " + number(1, 40));
        at(until, "start " + a);
        break;
      case 3:  // it joins and crashes
        at(from, "crash " + a);
        at(until, "start " + a);
        at(until, "crash " + a + " after-sends " + number(1, 12));
        at(until + milliseconds(between(1, 300)), "start " + a);
        break;
      case 4:
        if (maybe(0.3)) {
          at(from, "crash all");
          at(until, "start all");
          break;
        }
        [[fallthrough]];
      case 5:
        at(from, "pause " + a + " " +
                     duration_text(spread(milliseconds(1), maybe(0.1) ? seconds(30) : seconds(1))));
        break;
      case 6:
        at(from, "slow " + a + " " + number(10, 100));
        at(until, "slow " + a + " 1");
        break;
      default:
        at(from, "leave " + a);
        at(until, "start " + a);
        break;
    }
  }
}

void ScenarioGenerator::plan_resources() {
  const std::int64_t events = between(1, 3);
  for (std::int64_t i = 0; i < events; ++i) {
    const Duration from = moment();
    const std::string a = node();
    std::string line = "application " + a + " room=" + number(0, 60);
    if (often()) line += " per-unit=" + duration_text(spread(microseconds(10), milliseconds(5)));
    at(from, line);
    at(from + spread(milliseconds(1), milliseconds(700)), "application " + a + " normal");
  }
}

/// In some scenarios the list of nodes gains or loses a node.
void ScenarioGenerator::draw_lists() {
  if (!options_.faults || nodes_ < 3 || is_fixed("list")) return;
  if (!list_random_.chance(options_.lists ? 1.0 : 0.15)) return;
  std::vector<NodeId> all;
  for (std::uint32_t n = 1; n <= nodes_; ++n) all.push_back(NodeId{n});
  std::vector<NodeId> fewer = all;
  fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(list_random_.below(nodes_)));
  if (options_.engine.has_quorum() && nodes_ > 3 && list_random_.chance(0.5)) {
    return draw_replacement(fewer);
  }
  const bool adds = list_random_.chance(0.5);
  list_before_ = adds ? fewer : all;
  list_after_ = adds ? all : fewer;
  const bool majority = list_random_.chance(0.8) && !options_.engine.has_quorum() &&
                        !is_fixed("primary") && knobs_.find("primary=") == std::string::npos;
  if (majority) list_majority_ = " primary=majority";
}

/// Each node learns of the new list at a random time. An added node may run before the others know
/// of it; a removed one stops at a random time.
void ScenarioGenerator::plan_lists() {
  if (list_after_.empty()) return;
  if (!list_between_.empty()) return plan_replacement();
  const auto some_time = [this] { return Duration{list_random_.between(0, length_.ns)}; };
  const bool adds = list_before_.size() < list_after_.size();
  const auto& larger = adds ? list_after_ : list_before_;
  const auto& smaller = adds ? list_before_ : list_after_;
  const NodeId odd = *std::find_if(larger.begin(), larger.end(), [&](NodeId node) {
    return std::find(smaller.begin(), smaller.end(), node) == smaller.end();
  });
  const std::string change = " to " + nodes_text(list_after_);
  const Duration about = some_time();
  const bool together = list_random_.chance(0.5);
  for (const NodeId node : smaller) {
    const Duration when =
        together ? about + Duration{list_random_.between(0, 50'000'000)} : some_time();
    at(when, "list " + nodes_text({node}) + change);
  }
  if (adds) {
    at(Duration{}, "list " + nodes_text({odd}) + change);
    at(some_time(), "start " + nodes_text({odd}));
    return;
  }
  const Duration stops = some_time();
  at(stops, (list_random_.chance(0.5) ? "leave " : "crash ") + nodes_text({odd}));
  at(stops, "list " + nodes_text({odd}) + change);
}

void ScenarioGenerator::plan_targets() {
  const double wanted = options_.targeted < 0 ? 0.6 : options_.targeted;
  if (!maybe(wanted)) return;
  std::string kinds;
  for (const char* kind : {"commit", "recovery"}) {
    if (maybe(0.7)) kinds += (kinds.empty() ? "" : ",") + std::string(kind);
  }
  if (maybe(0.1)) kinds += (kinds.empty() ? "" : ",") + std::string("join");
  if (kinds.empty()) kinds = "commit";
  std::string actions;
  for (const char* action : {"split", "cut", "crash", "pause"}) {
    if (often()) actions += (actions.empty() ? "" : ",") + std::string(action);
  }
  if (actions.empty()) actions = "split";
  const Duration low = spread(milliseconds(1), milliseconds(60));
  const Duration high = low + spread(milliseconds(10), milliseconds(600));
  const std::string within = duration_text(spread(microseconds(10), microseconds(400)));
  at(Duration{}, "target kinds=" + kinds + " p=" + decimal(0.01 + 0.11 * random_.unit()) +
                     " actions=" + actions + " within=" + within + " heal=" + duration_text(low) +
                     "-" + duration_text(high));
  // Something must trigger the first view change.
  const Duration first{between(0, length_.ns / 4)};
  if (maybe(0.3)) {
    plan_gap();
  } else if (often()) {
    at(first, "split " + some_parts(2, false));
    at(first + milliseconds(between(10, 300)), "heal");
  } else {
    const std::string a = node();
    at(first, "crash " + a);
    at(first + milliseconds(between(1, 300)), "start " + a);
  }
}

std::string ScenarioGenerator::some_parts(std::uint64_t parts, bool overlapping) {
  std::vector<std::vector<NodeId>> part(parts);
  for (std::uint32_t n = 1; n <= nodes_; ++n) {
    const std::uint64_t first = random_.below(parts);
    part[first].push_back(NodeId{n});
    if (overlapping && maybe(0.4)) part[(first + 1) % parts].push_back(NodeId{n});
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
