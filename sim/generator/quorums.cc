// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include "sim/generator/scenario_generator.h"
#include "sim/scenario/tokenizer.h"

// Faults only for engines with acceptors: at moments of their protocols, power failures of the
// whole cluster, disks.

namespace peal::sim {

std::string ScenarioGenerator::data_kind() {
  return std::string(options_.engine.engine().unit_packets);
}

std::string ScenarioGenerator::drawn_kind() {
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
  if (!maybe(wanted)) return;
  std::string kinds;
  for (const char* kind : {"prepare", "promise", "view"}) {
    if (maybe(0.6)) kinds += (kinds.empty() ? "" : ",") + std::string(kind);
  }
  if (kinds.empty()) kinds = "promise";
  std::string actions;
  for (const char* action : {"split", "cut", "crash", "pause"}) {
    if (often()) actions += (actions.empty() ? "" : ",") + std::string(action);
  }
  if (actions.empty()) actions = "crash";
  const auto line = [&](const std::string& at_kinds, double most) {
    const Duration low = spread(milliseconds(1), milliseconds(60));
    const Duration high = low + spread(milliseconds(10), milliseconds(600));
    const std::string within = duration_text(spread(microseconds(10), microseconds(400)));
    const std::string p = decimal(most * (0.1 + 0.9 * random_.unit()));
    return "target kinds=" + at_kinds + " p=" + p + " actions=" + actions + " within=" + within +
           " heal=" + duration_text(low) + "-" + duration_text(high);
  };
  at(Duration{}, line(kinds, 0.25));
  // Votes are frequent: let few of them trigger a fault.
  if (often()) at(Duration{}, line("vote", 0.01) + " most=20");
  // Something must make a new coordinator necessary.
  const Duration first{between(0, length_.ns / 4)};
  if (often()) {
    at(first, "split " + some_parts(2, false));
    at(first + milliseconds(between(10, 300)), "heal");
  } else {
    const std::string a = often() ? "n1" : node();
    at(first, "crash " + a);
    at(first + milliseconds(between(1, 300)), "start " + a);
  }
}

/// The disks alone must suffice: power fails for all nodes at once, and disks fail or are slow.
void ScenarioGenerator::plan_power_and_disks() {
  if (maybe(0.3)) {
    const std::int64_t times = between(1, 3);
    for (std::int64_t i = 0; i < times; ++i) {
      const Duration from = moment();
      at(from, "crash all");
      at(from + spread(milliseconds(1), milliseconds(400)), "start all");
    }
  }
  if (maybe(0.25)) {
    const Duration from = moment();
    const std::string a = often() ? "n1" : node();
    at(from, "disk " + a + " fails");
    failed_disk_ = a;
    at(from + spread(milliseconds(1), milliseconds(600)), "start " + a);
  }
  if (maybe(0.25)) {
    const Duration from = moment();
    const std::string a = often() ? "n1" : node();
    at(from, "disk " + a + " slow " + duration_text(spread(milliseconds(2), milliseconds(200))));
    at(from + spread(milliseconds(50), seconds(1)), "disk " + a + " mended");
  }
}

/// Whether votes are on disk and, without those of `victim`, most acceptors of each list of this
/// scenario keep theirs. A node that is removed for good does not count, since it may stop before
/// the removal is decided.
bool ScenarioGenerator::may_lose_disk_of(NodeId victim) const {
  const bool on_disk = options_.engine.has_logs();
  if (!options_.faults || !on_disk || options_.domains > 0 || nodes_ < 3) return false;
  std::vector<NodeId> all;
  for (std::uint32_t n = 1; n <= nodes_; ++n) all.push_back(NodeId{n});
  const std::vector<NodeId>& last = list_after_.empty() ? all : list_after_;
  const auto enough = [&](const std::vector<NodeId>& list) {
    std::vector<NodeId> acceptors = options_.engine.engine().default_acceptors(list);
    if (acceptors_ != 0) {
      acceptors.assign(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(
                                                        std::min(acceptors_, list.size())));
    }
    const auto left = std::count_if(acceptors.begin(), acceptors.end(), [&](NodeId node) {
      return node != victim && std::binary_search(last.begin(), last.end(), node);
    });
    return 2 * static_cast<std::size_t>(left) > acceptors.size();
  };
  return enough(last) && (list_before_.empty() || enough(list_before_)) &&
         (list_between_.empty() || enough(list_between_));
}

/// In this share of the scenarios, an acceptor that may lose its disk.
std::optional<NodeId> ScenarioGenerator::some_disk(Random& own, double share) const {
  if (!own.chance(share)) return std::nullopt;
  const auto most = std::min<std::uint64_t>(nodes_, 5);
  const NodeId victim{1 + static_cast<std::uint32_t>(own.below(most))};
  return may_lose_disk_of(victim) ? std::optional(victim) : std::nullopt;
}

/// A disk is damaged, full, or another node's. The operator reads why the node refuses to start,
/// follows that advice, and starts it again. Drawn apart, too.
void ScenarioGenerator::plan_damaged_disk() {
  constexpr double kShareDamaged = 0.15;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x77);
  const std::optional<NodeId> victim = some_disk(own, kShareDamaged);
  if (loses_disk_ || !victim) return;
  damages_disk_ = true;
  const std::string name = nodes_text({*victim});
  Duration when{own.between(0, length_.ns)};
  const auto later = [&](std::int64_t low, std::int64_t high) {
    return when = when + milliseconds(own.between(low, high));
  };
  const std::uint64_t what = own.below(4);
  if (what == 3) {
    at(when, "disk " + name + " full");
    at(later(1, 800), "start " + name);
    at(when, "disk " + name + " mended");
    at(later(1, 300), "start " + name);
    return;
  }
  at(when, "crash " + name);
  const std::uint32_t other = 1 + victim->value % static_cast<std::uint32_t>(nodes_);
  at(when, "disk " + name +
               (what == 0   ? " rots"
                : what == 1 ? " stray"
                            : " of " + nodes_text({NodeId{other}})));
  at(later(1, 500), "start " + name);
  at(later(1, 500), "start " + name);
}

/// One acceptor loses its disk and restarts with an empty one. Drawn apart, so that everything else
/// does not depend on it.
void ScenarioGenerator::plan_lost_disk() {
  constexpr double kShareThatLose = 0.3;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x6f);
  const std::optional<NodeId> victim = some_disk(own, kShareThatLose);
  if (!victim) return;
  loses_disk_ = true;
  const std::string name = nodes_text({*victim});
  const Duration when{own.between(0, length_.ns)};
  at(when, "crash " + name);
  at(when, "disk " + name + " lost");
  at(when + milliseconds(own.between(1, 500)), "start " + name);
}

/// One node has a slow disk, a slow application and sometimes a slow processor. Drawn apart, too.
void ScenarioGenerator::plan_slow_node() {
  constexpr double kShareThatSlow = 0.12;
  if (!options_.faults || !options_.engine.has_quorum()) return;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x76);
  if (!own.chance(kShareThatSlow)) return;
  const std::string name = nodes_text({NodeId{1 + static_cast<std::uint32_t>(own.below(nodes_))}});
  const Duration from{own.between(0, length_.ns)};
  const Duration to = from + milliseconds(own.between(50, 1'500));
  at(from, "disk " + name + " slow " + std::to_string(own.between(5, 250)) + "ms");
  // Separate statements, since compilers differ in their order of evaluation.
  const std::string per_unit = std::to_string(own.between(100, 5'000));
  const std::string room = std::to_string(own.between(1, 60));
  at(from, "application " + name + " room=" + room + " per-unit=" + per_unit + "us");
  if (own.chance(0.5)) at(from, "slow " + name + " " + std::to_string(own.between(2, 20)));
  at(to, "disk " + name + " mended");
  at(to, "application " + name + " normal");
  at(to, "slow " + name + " 1");
}

/// An acceptor's disk is replaced by an older copy while all other nodes run: a restarted node
/// would have forgotten what it heard of logs. Then the operator empties the disk, as the
/// documentation says. Drawn apart, too.
void ScenarioGenerator::write_put_back() {
  constexpr double kShareThatPutBack = 0.2;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x70);
  if (!own.chance(kShareThatPutBack)) return;
  std::vector<NodeId> nodes = list_after_;
  for (std::uint32_t n = 1; n <= nodes_ && list_after_.empty(); ++n) nodes.push_back(NodeId{n});
  const NodeId victim = nodes[own.below(std::min<std::size_t>(nodes.size(), 5))];
  if (!may_lose_disk_of(victim)) return;
  const std::string name = nodes_text({victim});
  script_.add("load rate=" + std::to_string(own.between(10, 500)) + " nodes=" + nodes_text(nodes));
  script_.add("disk " + name + " copied");
  script_.add("run " + std::to_string(own.between(1, 2'000)) + "ms");
  for (std::int64_t again = own.between(1, 2); again > 0; --again) {
    script_.add("crash " + name);
    script_.add("disk " + name + " put-back");
    script_.add("run " + std::to_string(own.between(1, 800)) + "ms");
    script_.add("start " + name);
    script_.add("run " + std::to_string(own.between(1, 2'000)) + "ms");
  }
  script_.add("crash " + name);
  script_.add("disk " + name + " lost");
  script_.add("start " + name);
  script_.add("settle quick");
}

/// An acceptor with votes in memory that crashed votes no more. Once most acceptors have crashed,
/// the scenario cannot continue until all nodes restart. So in most scenarios only one node crashes
/// or leaves, unless all do at once.
void ScenarioGenerator::spare_lives() {
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x6d);
  if (!own.chance(0.7)) return;
  NodeId one{static_cast<std::uint32_t>(1 + own.below(nodes_))};
  for (const NodeId node : list_before_) {  // a node removed from the list has to stop
    if (!std::binary_search(list_after_.begin(), list_after_.end(), node)) one = node;
  }
  const std::string victim = nodes_text({one});
  std::multimap<std::int64_t, std::string> kept;
  for (const auto& [when, text] : timeline_) {
    std::string line = text;
    if (line.starts_with("target ")) {
      const std::size_t at = line.find("crash");
      if (at != std::string::npos) line.replace(at, 5, "pause");
    }
    const bool ends = line.starts_with("crash ") || line.starts_with("leave ");
    const std::string who = ends ? line.substr(6, line.find(' ', 6) - 6) : "";
    const bool all = who == "all" && own.chance(0.4);
    if (!ends || all || who == victim) kept.emplace(when, line);
  }
  timeline_ = std::move(kept);
}

/// Two changes in sequence: one node of `first` is removed, and the node not in it is added.
void ScenarioGenerator::draw_replacement(const std::vector<NodeId>& first) {
  list_before_ = first;
  std::vector<NodeId> fewer = first;
  fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(list_random_.below(first.size())));
  std::vector<NodeId> all;
  for (std::uint32_t n = 1; n <= nodes_; ++n) all.push_back(NodeId{n});
  const auto comes = std::mismatch(all.begin(), all.end(), first.begin(), first.end()).first;
  list_after_ = fewer;
  list_after_.insert(std::lower_bound(list_after_.begin(), list_after_.end(), *comes), *comes);
  list_between_ = list_random_.chance(0.5) ? all : fewer;
}

/// Each node learns of one list in the first half, and of the other in the second. Some know the
/// second list before the first is active, and some never learn of the first.
void ScenarioGenerator::plan_replacement() {
  const std::int64_t half = length_.ns / 2;
  const auto first_half = [&] { return Duration{list_random_.between(0, half)}; };
  const auto second_half = [&] { return Duration{list_random_.between(half, length_.ns)}; };
  const auto holds = [](const std::vector<NodeId>& list, NodeId node) {
    return std::binary_search(list.begin(), list.end(), node);
  };
  const std::string between = " to " + nodes_text(list_between_);
  const std::string after = " to " + nodes_text(list_after_);
  for (std::uint32_t n = 1; n <= nodes_; ++n) {
    const NodeId node{n};
    const std::string name = nodes_text({node});
    if (!holds(list_before_, node)) {  // an added node
      const std::string& file = holds(list_between_, node) ? between : after;
      at(Duration{}, "list " + name + file);
      const Duration starts = holds(list_between_, node) ? first_half() : second_half();
      at(starts, "start " + name);
    }
    if (!holds(list_after_, node)) {  // a removed node stops once it has learnt of the list with
                                      // the added node
      const Duration stops = holds(list_between_, node) ? second_half() : first_half();
      if (holds(list_between_, node)) at(first_half(), "list " + name + between);
      at(stops, (list_random_.chance(0.5) ? "leave " : "crash ") + name);
      at(stops, "list " + name + after);
      continue;
    }
    if (holds(list_between_, node) && list_random_.chance(0.9)) {
      const Duration when = first_half();
      at(when, "list " + name + between);
    }
    const Duration when = second_half();
    at(when, "list " + name + after);
  }
}

}  // namespace peal::sim
