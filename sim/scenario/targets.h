// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sim/world/world.h"

namespace peal::sim {

/// Targeted faults: when a node sends a packet of a chosen kind, a fault follows with some
/// probability within a very short time. Faults at random times almost never hit these moments.
struct TargetRule {
  enum Moment : std::uint32_t {
    at_commit = 1,          ///< commit tokens
    at_recovery_token = 2,  ///< tokens while some node recovers
    at_token = 4,           ///< any token
    at_join = 8,            ///< joins
    at_prepare = 16,        ///< a coordinator begins Phase 1
    at_promise = 32,        ///< an acceptor promises
    at_view = 64,           ///< a coordinator proposes a view
    at_vote = 128,          ///< an acceptor reports votes that it has written
    at_takeover = 256,      ///< genuine multicast: a server asks to lead, or hands over its state
  };
  std::uint32_t moments = at_commit | at_recovery_token;
  double probability = 0.05;
  bool split = true, cut = true, crash = true, pause = true;
  Duration within = microseconds(400);
  std::pair<Duration, Duration> heal{milliseconds(20), milliseconds(300)};
  std::uint64_t most = 200;  ///< maximum number of faults of this rule in a run
};

/// The TargetRule::Moment named "commit", "recovery", "token", "join", "prepare", "promise",
/// "view", "vote" or "takeover"; 0 for any other name.
std::uint32_t moment_of_name(std::string_view name);

/// Plans targeted faults as lines of the scenario language; `run_line` executes each line at its
/// time.
class Targets {
 public:
  /// `counted` is the fault that the line causes, or Fault::count if the line repairs a fault.
  using RunLine = std::function<void(const std::string& line, Fault counted)>;

  Targets(World& world, std::uint64_t seed, RunLine run_line);
  void add_rule(const TargetRule& rule) { rules_.push_back(rule); }
  /// Stops new faults, and cancels the planned faults.
  void stop() {
    rules_.clear();
    ++era_;
  }
  void on_send(const Packet& packet);

 private:
  std::uint32_t moments_of(const Packet& packet);
  void strike(TargetRule& rule, const Packet& packet);
  void plan(Instant at, std::string line, Fault counted);
  std::string random_split();
  NodeId random_node();

  World& world_;
  Random random_;
  RunLine run_line_;
  std::vector<TargetRule> rules_;
  /// By node: last instance for which the node has reported a vote.
  std::vector<std::uint64_t> told_votes_;
  std::uint32_t era_ = 0;
};

}  // namespace peal::sim
