// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "order/toto/causal_graph.h"
#include "toto_packets.h"

namespace peal::order::toto::test {

inline constexpr std::uint32_t kCapacity = 8;
inline constexpr Index kSelf = 0;

/// The graph of the member with the index kSelf in a view of four members.
struct Member {
  explicit Member(std::uint32_t capacity = kCapacity, std::size_t members = 4, Seq first = 0) {
    graph.begin(members, kSelf, capacity, first);
  }
  ~Member() { graph.check_invariants(); }

  Taken store_node(const wire::Node& node) { return graph.store(node, packets.make(node)); }
  Taken store(NodeRef ref, std::initializer_list<wire::Advance> advances = {},
              wire::NodeKind kind = wire::NodeKind::control) {
    wire::Node node = wire_node(ref, kind);
    for (const wire::Advance& advance : advances) node.advances.push_back(advance);
    return store_node(node);
  }
  /// The nodes that join now, in this order.
  std::vector<NodeRef> join() {
    std::vector<NodeRef> nodes;
    Joined joined;
    while (graph.join(joined)) nodes.push_back(joined.node);
    graph.check_invariants();
    return nodes;
  }
  /// The next node of this member, which names at most `most` others.
  wire::Node append(std::size_t most = wire::kMembersMax) {
    wire::Node node = wire_node({});
    graph.next_node(node, most);
    graph.append(node, packets.make(node));
    return node;
  }
  std::vector<wire::NodeRange> lacking() const {
    wire::TotoLacks lacks;
    for (Index origin = 0; origin < graph.members(); ++origin) {
      graph.append_lacking(origin, lacks);
    }
    return {lacks.ranges.begin(), lacks.ranges.end()};
  }

  Packets packets{256};  // outlives the graph, which refers to its packets
  CausalGraph graph;
};

using Nodes = std::vector<NodeRef>;

}  // namespace peal::order::toto::test
