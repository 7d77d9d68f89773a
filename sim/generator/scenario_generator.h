// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "sim/generator/dice.h"
#include "sim/generator/disk_faults.h"
#include "sim/generator/list_change.h"
#include "sim/generator/swarm.h"
#include "sim/generator/timeline.h"
#include "sim/scenario/scenario.h"

namespace peal::sim {

/// Draws the scenario of one seed and writes it as a script. The order of draws determines the
/// scenario of a seed, so new draws come last or use their own random generator. No expression has
/// two draws, because compilers differ in their order of evaluation.
class ScenarioGenerator {
 public:
  ScenarioGenerator(std::uint64_t seed, const SwarmOptions& options);
  Script write();

 private:
  std::string node() { return "n" + std::to_string(1 + random_.below(nodes_)); }
  std::string other_than(const std::string& name);
  std::string some_parts(std::uint64_t parts, bool overlapping);
  Duration moment() { return Duration{random_.between(0, length_.ns)}; }

  void draw_nodes();
  void draw_domains();
  void draw_options();
  bool draw_knobs();
  bool is_fixed(const std::string& key) const;
  bool overridden(const order::Option& option) const;
  void draw_network();
  void draw_load();
  void draw_lists();
  void write_cluster();
  std::string own_options() const;
  std::string domains();
  std::string log_keys(bool slow_syncs);
  void plan_load();
  void plan_faults();
  void plan_packets();
  void plan_rule();
  void plan_gap();
  void plan_links();
  void plan_processes();
  void plan_resources();
  std::string draw_target_actions(const char* otherwise);
  static std::string target_without_crashes(std::string line);
  void plan_targets();
  std::string data_kind();
  std::string drawn_kind();
  void plan_quorum_targets();
  void plan_genuine_targets();
  void plan_power_and_disks();
  void plan_slow_node();
  void plan_restarts();
  void plan_moved_node();
  void spare_lives();
  void plan_lost_members();
  void plan_pauses();
  void plan_crashes();
  std::string slow_writes() const;
  std::string draw_memory() const;
  std::vector<std::vector<NodeId>> genuine_domains() const;
  void spare_members(bool all_may_end);
  void spare_majorities();
  void write_timeline();
  void write_ending(const DiskFaults& disks);
  void write_late_duplicates();
  void write_lasting();
  /// Draws one lasting fault among `nodes`, and returns the lines of this fault.
  std::vector<std::string> lasting_fault(Random& own, const std::vector<NodeId>& nodes);

  std::uint64_t seed_;
  SwarmOptions options_;
  std::vector<std::pair<std::string, std::string>> fixed_;  ///< overridden keys and their values
  std::vector<std::vector<NodeId>> domains_;                ///< with genuine multicast
  Dice random_;
  ListChange lists_;
  Script script_;
  Timeline timeline_;
  std::uint64_t nodes_ = 3;
  EngineOptions drawn_;  ///< the drawn options of the default engine
  std::string knobs_;
  std::string calm_;
  std::string failed_disk_;      ///< the node whose disk fails; empty if no disk fails
  std::size_t acceptors_ = 0;    ///< number of acceptors; 0: the default number
  Duration hop_{};               ///< approximate time of one hop of the token
  Duration length_{};            ///< length of the phase with faults
  double rate_ = 0;              ///< messages per second and node
  bool processes_fail_ = false;  ///< with needs_links(): in place of all other faults
};

}  // namespace peal::sim
