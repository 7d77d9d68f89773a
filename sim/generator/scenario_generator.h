// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "sim/generator/swarm.h"
#include "sim/scenario/scenario.h"

namespace peal::sim {

/// Draws the scenario of one seed and writes it as a script. The order of draws determines the
/// scenario of a seed. So new draws come last, or use a generator of their own. Two draws never
/// stand in one expression, since compilers differ in their order of evaluation.
class ScenarioGenerator {
 public:
  ScenarioGenerator(std::uint64_t seed, const SwarmOptions& options);
  Script write();

 private:
  bool often() { return random_.chance(0.5); }
  bool maybe(double p) { return random_.chance(p); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return random_.between(low, high); }
  /// Between 0 and 1; small values are likelier.
  double small();
  std::string number(std::int64_t low, std::int64_t high) {
    return std::to_string(between(low, high));
  }
  /// "8-200"; draws the second number first.
  std::string range(std::int64_t low, std::int64_t middle, std::int64_t high);
  /// Between two durations, with equal weight for each order of magnitude.
  Duration spread(Duration low, Duration high);
  std::string node() { return "n" + std::to_string(1 + random_.below(nodes_)); }
  std::string other_than(const std::string& name);
  std::string some_parts(std::uint64_t parts, bool overlapping);
  Duration moment() { return Duration{between(0, length_.ns)}; }
  static std::string decimal(double value);
  void at(Duration when, std::string line) { timeline_.emplace(when.ns, std::move(line)); }

  void draw_nodes();
  void draw_options();
  bool draw_knobs();
  bool is_fixed(const std::string& key) const;
  bool overridden(const order::Option& option) const;
  void draw_network();
  void draw_load();
  void write_cluster();
  std::string domains();
  void plan_load();
  void plan_faults();
  void plan_packets();
  void plan_rule();
  void plan_gap();
  void plan_links();
  void plan_processes();
  void plan_resources();
  void plan_targets();
  std::string data_kind();
  std::string drawn_kind();
  void plan_quorum_targets();
  void plan_power_and_disks();
  void plan_lost_disk();
  void plan_slow_node();
  void plan_damaged_disk();
  std::string log_keys(bool slow_syncs);
  void plan_restarts();
  void plan_moved_node();
  void spare_lives();
  void draw_lists();
  void plan_lists();
  void draw_replacement(const std::vector<NodeId>& first);
  void plan_replacement();
  void write_timeline();
  void write_ending();
  void write_put_back();
  bool may_lose_disk_of(NodeId victim) const;
  std::optional<NodeId> some_disk(Random& own, double share) const;
  void write_late_duplicates();
  void write_lasting();
  /// The lines of one lasting fault among `nodes`.
  std::vector<std::string> lasting_fault(Random& own, const std::vector<NodeId>& nodes);

  std::uint64_t seed_;
  SwarmOptions options_;
  std::vector<std::pair<std::string, std::string>> fixed_;  ///< overridden keys and their values
  Random random_;
  Script script_;
  std::uint64_t nodes_ = 3;
  EngineOptions drawn_;  ///< the options of the default engine
  std::string knobs_;
  std::string calm_;
  std::string failed_disk_;    ///< the node whose disk fails; empty: none
  bool loses_disk_ = false;    ///< a node loses its disk
  bool damages_disk_ = false;  ///< damage on a disk may make a node refuse to start
  std::size_t acceptors_ = 0;  ///< 0: the default number
  Duration hop_{};             ///< approximate time of one hop of the token
  Duration length_{};          ///< length of the phase with faults
  double rate_ = 0;            ///< messages per second and node
  /// If the list of nodes changes: a generator of its own, and the first list, the one in between
  /// if there are two changes, and the last.
  Random list_random_;
  std::vector<NodeId> list_before_, list_between_, list_after_;
  std::string list_majority_;  ///< a key for the `cluster` line
  std::multimap<std::int64_t, std::string> timeline_;
};

}  // namespace peal::sim
