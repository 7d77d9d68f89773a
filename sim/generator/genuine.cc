// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "sim/baselines/registry.h"
#include "sim/generator/scenario_generator.h"
#include "sim/scenario/tokenizer.h"

// Plans the faults of engines with genuine multicast.

namespace peal::sim {
namespace {

/// The nodes of a text such as "n1,n4" or "all".
std::vector<NodeId> nodes_of(const std::string& text, std::uint64_t nodes) {
  Tokenizer words(text, static_cast<std::uint32_t>(nodes));
  return words.nodes();
}

}  // namespace

/// Faults at the moments when a leader changes, and a fault at the beginning that changes one.
void ScenarioGenerator::plan_genuine_targets() {
  const double wanted = options_.targeted < 0 ? 0.6 : options_.targeted;
  if (!random_.chance(wanted)) return;
  const std::string actions = draw_target_actions("pause");
  const Duration low = random_.spread(milliseconds(1), milliseconds(60));
  const Duration high = low + random_.spread(milliseconds(10), milliseconds(600));
  const std::string within = duration_text(random_.spread(microseconds(10), microseconds(400)));
  const std::string p = decimal(0.25 * (0.1 + 0.9 * random_.unit()));
  timeline_.at(Duration{}, "target kinds=takeover p=" + p + " actions=" + actions + " within=" +
                               within + " heal=" + duration_text(low) + "-" + duration_text(high));
  const Duration first{random_.between(0, length_.ns / 4)};
  if (random_.often()) {
    timeline_.at(first, "split " + some_parts(2, false));
    timeline_.at(first + milliseconds(random_.between(10, 300)), "heal");
  } else {
    const std::string a = node();
    timeline_.at(first, "pause " + a + " " + duration_text(milliseconds(random_.between(50, 600))));
  }
}

/// In half of the scenarios with crash_stop, a domain loses members for good: mostly the first
/// one, which leads at the beginning. The draws use a random generator of their own.
void ScenarioGenerator::plan_lost_members() {
  if (!options_.faults && !processes_fail_) return;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x7b);
  for (const std::vector<NodeId>& domain : domains_) {
    if (domain.size() < 3 || !own.chance(0.5)) continue;
    const NodeId victim = own.chance(0.6) ? domain.front() : domain[own.below(domain.size())];
    const std::string sends =
        own.chance(0.5) ? " after-sends " + std::to_string(1 + own.below(40)) : "";
    timeline_.at(Duration{own.between(0, length_.ns)}, "crash " + nodes_text({victim}) + sends);
  }
}

/// Nodes of domains pause, mostly the first ones, which lead; nodes outside end while they send.
/// The draws use a random generator of their own.
void ScenarioGenerator::plan_pauses() {
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x7c);
  std::set<NodeId> outside;
  for (std::uint32_t n = 1; n <= nodes_; ++n) outside.insert(NodeId{n});
  for (const std::vector<NodeId>& domain : domains_) {
    for (const NodeId node : domain) outside.erase(node);
    for (std::uint64_t i = own.below(7); i > 0; --i) {
      const NodeId node = domain[own.chance(0.5) ? 0 : own.below(domain.size())];
      const Duration length{own.between(milliseconds(10).ns, milliseconds(200).ns)};
      timeline_.at(Duration{own.between(0, length_.ns)},
                   "pause " + nodes_text({node}) + " " + duration_text(length));
    }
  }
  for (const NodeId node : domains_.empty() ? std::set<NodeId>{} : outside) {
    if (!own.chance(0.5)) continue;
    timeline_.at(
        Duration{own.between(0, length_.ns)},
        "crash " + nodes_text({node}) + " after-sends " + std::to_string(1 + own.below(12)));
  }
}

/// Nodes crash and come back: as many of a domain as leave it a majority, mostly the first ones,
/// which lead at the beginning, and nodes outside while they send. The draws use a random generator
/// of their own.
void ScenarioGenerator::plan_crashes() {
  if (!options_.faults) return;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x7e);
  if (!own.chance(0.6)) return;
  const auto crash = [&](NodeId node) {
    const std::string name = nodes_text({node});
    const Duration from{own.between(0, length_.ns)};
    const std::string sends =
        own.chance(0.5) ? " after-sends " + std::to_string(1 + own.below(40)) : "";
    timeline_.at(from, "crash " + name + sends);
    timeline_.at(from + milliseconds(own.between(1, 900)), "start " + name);
  };
  std::set<NodeId> outside;
  for (std::uint32_t n = 1; n <= nodes_; ++n) outside.insert(NodeId{n});
  for (const std::vector<NodeId>& domain : genuine_domains()) {
    for (const NodeId node : domain) outside.erase(node);
    if (domain.size() < 3 || !own.chance(0.6)) continue;
    for (std::uint64_t i = own.below(4); i > 0; --i) {
      crash(own.chance(0.5) ? domain.front() : domain[own.below(domain.size())]);
    }
  }
  for (const NodeId node : outside) {
    if (own.chance(0.5)) crash(node);
  }
}

/// How long a write into memory takes at most: often so long that messages overtake each other.
std::string ScenarioGenerator::slow_writes() const {
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x7d);
  const Duration most{own.between(microseconds(20).ns, milliseconds(own.chance(0.5) ? 3 : 1).ns)};
  return duration_text(most);
}

/// How writes into memory travel: which part of a write is there first, and how long some or all of
/// them take. The draws use a random generator of their own.
std::string ScenarioGenerator::draw_memory() const {
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x7f);
  static constexpr std::array<const char*, 4> kTears{"never", "ascending", "descending", "random"};
  static constexpr std::array<const char*, 3> kSegments{"8", "64", "256"};
  std::string words;
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!is_fixed(key)) words += " " + key + "=" + value;
  };
  add("tear", kTears[own.below(kTears.size())]);
  add("memory-segment", kSegments[own.below(kSegments.size())]);
  const Duration slow{own.between(microseconds(20).ns, milliseconds(3).ns)};
  if (own.chance(0.5)) add("slow-write", duration_text(slow));
  const Duration most{own.between(microseconds(2).ns, microseconds(200).ns)};
  if (own.chance(0.3)) add("write", duration_text(most));
  return words;
}

/// The domains, or all nodes as one.
std::vector<std::vector<NodeId>> ScenarioGenerator::genuine_domains() const {
  if (!domains_.empty()) return domains_;
  std::vector<NodeId> all;
  for (std::uint32_t n = 1; n <= nodes_; ++n) all.push_back(NodeId{n});
  return {all};
}

/// A domain without a majority orders nothing more: with crash_stop for good, otherwise until all
/// its nodes have restarted. So as many nodes of a domain may end as leave it a majority, and
/// targeted faults pause nodes instead of crashing them. With `all_may_end`, all nodes may end at
/// once.
void ScenarioGenerator::spare_members(bool all_may_end) {
  const std::vector<std::vector<NodeId>> domains = genuine_domains();
  std::map<NodeId, std::size_t> domain_of;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    for (const NodeId node : domains[i]) domain_of[node] = i;
  }
  std::vector<std::set<NodeId>> ended(domains.size());
  const auto may_end = [&](NodeId node) {
    const auto domain = domain_of.find(node);
    if (domain == domain_of.end()) return true;
    std::set<NodeId>& gone = ended[domain->second];
    const std::size_t most = (domains[domain->second].size() - 1) / 2;
    return gone.contains(node) || (gone.size() < most && gone.insert(node).second);
  };
  Timeline kept;
  for (const auto& [when, text] : timeline_.lines()) {
    std::string line = target_without_crashes(text);
    const bool all = all_may_end && line == "crash all";
    if (!all && (line.starts_with("crash ") || line.starts_with("leave "))) {
      const std::size_t end = std::min(line.find(' ', 6), line.size());
      std::vector<NodeId> nodes = nodes_of(line.substr(6, end - 6), nodes_);
      std::erase_if(nodes, [&](NodeId node) { return !may_end(node); });
      if (nodes.empty()) continue;
      line = line.substr(0, 6) + nodes_text(nodes) + line.substr(end);
    }
    kept.at(Duration{when}, line);
  }
  timeline_ = std::move(kept);
}

/// In most scenarios of an engine that keeps its order in memory, each domain keeps a majority, and
/// more nodes crash.
void ScenarioGenerator::spare_majorities() {
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x6d);
  if (!own.chance(0.7)) return;
  plan_crashes();
  spare_members(own.chance(0.2));
}

}  // namespace peal::sim
