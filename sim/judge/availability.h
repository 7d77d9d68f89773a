// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/world/world.h"

namespace peal::sim {

/// E13 (TESTING.md): ordering goes on among nodes that can talk both ways, while faults of others
/// stay. Which links and nodes work is read off the simulated world as it is. Nothing is mended but
/// applications that take nothing: they hold up everybody by design, which all have to say; then
/// they go on, and time counts from there.
class Availability {
 public:
  struct Times {
    Duration bound;  ///< of each step
    Duration watch;  ///< for so long views stay
  };
  /// 2 s by default, 5 s with lossy links, or longer if timers of the ring are.
  static Duration usual_bound(World& world);

  Availability(World& world, const Times& times) : world_(world), times_(times) {}

  /// What is not kept is a violation E13. Ends early if `stopped` says so.
  void judge(const std::function<bool()>& stopped);

 private:
  using Nodes = std::vector<NodeId>;
  static constexpr std::size_t kProbeBytes = 16;

  bool node_works(NodeId node) const;
  bool pair_works(NodeId a, NodeId b) const;
  bool all_work_together(const Nodes& nodes) const;
  /// The nodes that `first` reaches over pairs that work, sorted.
  Nodes linked_with(NodeId first) const;
  Nodes running() const;

  void wake_applications();
  void judge_ring();
  void judge_quorum();
  /// Sets of nodes that work together, and can order without any other node.
  std::vector<Nodes> quorums() const;
  bool is_quorum(const Nodes& nodes) const;
  bool can_vote(NodeId node) const;
  void judge_outside(const Nodes& members);

  bool in_one_view(const Nodes& nodes) const;
  Nodes view_of(NodeId node) const;
  /// Each of the nodes sends in each of its domains, and all members of its view get it in time.
  bool exchange(const Nodes& nodes, const std::string& when);
  bool try_exchange(const Nodes& nodes, Instant limit);
  bool drain(const Nodes& nodes);
  bool stays(NodeId node, ViewId& view, Nodes& members) const;
  /// Views of nodes that work stay, with a message now and then, small and large by turns.
  void watch(const Nodes& nodes);

  /// Of a message that fills a packet.
  std::size_t large_bytes() const;
  /// Each node that works sends a message of a full packet, if it has got all of its earlier ones.
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
