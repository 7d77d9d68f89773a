// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "sim/generator/timeline.h"

namespace peal::sim {

/// A change of the list of nodes during a scenario. Most scenarios have no change. The change has
/// its own random generator, so that the rest of the scenario does not depend on the change.
class ListChange {
 public:
  explicit ListChange(std::uint64_t seed);

  struct Kind {
    std::uint64_t nodes = 0;
    double share = 0;          ///< share of scenarios in which the list changes
    bool may_replace = false;  ///< a new node may replace a node, in two changes
    /// True if nothing else sets `primary` and the engine needs no quorum: then the change may set
    /// `primary=majority`.
    bool may_set_primary = false;
  };
  /// Draws whether the list of nodes stays, gains a node, loses a node, or does both in two
  /// changes.
  void draw(const Kind& kind);
  /// Plans the changes. Each node gets the new list at a random time. An added node may start
  /// before the other nodes have the new list. A removed node stops at a random time.
  void plan(Timeline& timeline, Duration length);

  bool none() const { return after_.empty(); }
  /// The first list, sorted; empty if there is no change.
  const std::vector<NodeId>& before() const { return before_; }
  /// The list between two changes; empty if there is at most one change.
  const std::vector<NodeId>& between() const { return between_; }
  const std::vector<NodeId>& after() const { return after_; }
  /// The last list: after(), or nodes 1 to `nodes` if there is no change.
  std::vector<NodeId> last_of(std::uint64_t nodes) const;
  /// Keys for the `cluster` line; empty if there is no change.
  std::string cluster_keys() const;
  bool removes(NodeId node) const;

 private:
  void draw_replacement(const std::vector<NodeId>& all, const std::vector<NodeId>& first);
  void plan_replacement(Timeline& timeline, Duration length);

  Random random_;
  std::uint64_t nodes_ = 0;
  std::vector<NodeId> before_, between_, after_;
  std::string keys_;
};

}  // namespace peal::sim
