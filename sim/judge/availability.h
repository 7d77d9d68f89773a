// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/world/world.h"

namespace peal::sim {

/// Judges E13 (TESTING.md): nodes whose links work in both directions continue to order while other
/// nodes or links stay faulty. The judge reads from the simulated world which links and nodes work.
/// The judge repairs only stopped applications, because such an application blocks all nodes by
/// design. First the nodes must report that they wait for the stopped applications. Then the judge
/// lets these applications continue, and the bounds count from that time.
class Availability {
 public:
  struct Times {
    Duration bound;  ///< longest time for each step
    Duration watch;  ///< how long views must stay unchanged
  };
  /// The bound is 2 s, or 5 s if a link is lossy, multiplied by the engine's order::Needs::slower.
  static Duration usual_bound(World& world);

  Availability(World& world, const Times& times) : world_(world), times_(times) {}

  /// Reports violations of E13. Ends early if `stopped` returns true.
  void judge(const std::function<bool()>& stopped);

 private:
  using Nodes = std::vector<NodeId>;
  static constexpr std::size_t kProbeBytes = 16;

  bool node_works(NodeId node) const;
  bool pair_works(NodeId a, NodeId b) const;
  /// Writes into memory arrive in both directions. A link that loses packets delays them only.
  bool pair_carries_writes(NodeId a, NodeId b) const;
  using PairTest = bool (Availability::*)(NodeId a, NodeId b) const;
  bool all_work_together(const Nodes& nodes, PairTest pair = &Availability::pair_works) const;
  /// Returns `first` and the working nodes that `first` reaches, also through other working nodes.
  /// Uses only pairs of nodes whose links work in both directions. Sorted.
  Nodes linked_with(NodeId first) const;
  Nodes running() const;

  void wake_applications();
  void judge_sets();
  void judge_quorum();
  /// Sets of nodes that work together and can order without any other node. Empty if too many nodes
  /// run to try all sets.
  std::vector<Nodes> quorums() const;
  bool is_quorum(const Nodes& nodes) const;
  bool can_vote(NodeId node) const;
  void judge_outside(const Nodes& members);

  // Engines with genuine multicast.
  void judge_domains();
  std::vector<Nodes> ordering_sets(PairTest pair) const;
  /// A large set of working nodes that all work with each other.
  Nodes working_set(PairTest pair) const;
  bool can_order(const Nodes& nodes) const;
  bool exchange_in_domains(const Nodes& nodes, Instant limit);
  void judge_reasons();

  bool in_one_view(const Nodes& nodes) const;
  Nodes view_of(NodeId node) const;
  /// Each node of `nodes` sends a message in each of its domains. All members of the sender's view
  /// that belong to the domain must get the message in time. `when` ends the text of a violation.
  bool exchange(const Nodes& nodes, const std::string& when);
  bool wait_for_own(const Nodes& nodes, Instant limit, std::uint64_t WorkCounts::*done);
  bool try_exchange(const Nodes& nodes, Instant limit);
  bool drain(const Nodes& nodes);
  bool stays(NodeId node, ViewId& view, Nodes& members) const;
  /// The views of `nodes` must stay while these nodes send occasional messages, alternately small
  /// and large.
  void watch(const Nodes& nodes);

  /// Size of a message that fills a packet.
  std::size_t large_bytes() const;
  /// Each working node that has delivered all its earlier messages sends a message of
  /// large_bytes().
  void send_large();
  bool settle_down(const std::function<bool()>& met);
  bool wait(Instant limit, const std::function<bool()>& met);
  void say(const std::string& text);
  std::string state_text() const;

  World& world_;
  Times times_;
  std::function<bool()> stopped_;
};

}  // namespace peal::sim
