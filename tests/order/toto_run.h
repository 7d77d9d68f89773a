// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "order/toto/total_order.h"

// Random causal graphs, and the orders in which their nodes can arrive at a member.

namespace peal::order::toto::test {

/// The members of examples.
inline constexpr Index kA = 0, kB = 1, kC = 2, kD = 3, kE = 4;

/// A node of a causal graph, as TotalOrder::on_node() takes it.
struct GraphNode {
  NodeRef ref{};
  bool ordered = false;
  std::vector<Seq> past;
  std::vector<Cover> covers;
};

/// All nodes of one view. The address of a node does not change.
class Graph {
 public:
  /// Numbers begin after `first`.
  explicit Graph(Index members, Seq first = 0);

  Index members() const { return static_cast<Index>(by_origin_.size()); }
  Seq first() const { return first_; }
  /// The next node of `origin`. It follows the nodes in `past` and all earlier nodes of `origin`.
  const GraphNode& add(Index origin, bool ordered, std::vector<Seq> past);
  /// The same for a node that follows these nodes, and all that these nodes follow.
  const GraphNode& add_after(Index origin, bool ordered, std::span<const NodeRef> followed);
  /// The number of the newest node of each member.
  std::vector<Seq> newest() const;
  const GraphNode& at(NodeRef ref) const { return *by_origin_[ref.origin][ref.seq - first_ - 1]; }
  /// In the order in which they were added.
  const std::deque<GraphNode>& nodes() const { return nodes_; }

 private:
  Seq first_;
  std::deque<GraphNode> nodes_;
  std::vector<std::vector<const GraphNode*>> by_origin_;
};

/// How a random run of a view goes.
struct RunShape {
  Index members = 3;
  std::uint32_t nodes = 20;
  double ordered = 1;  ///< the share of nodes with a unit that needs a place
  double sends = 0.4;  ///< the share of steps in which a member makes a node, instead of taking one
  std::optional<Index> silent{};  ///< a member that makes no node
  Seq first = 0;
};

/// What happened in a run.
struct CausalRun {
  Graph graph;
  std::vector<std::vector<Seq>> held;  ///< for each member: the nodes that it had taken at the end
};

/// Members make nodes and take those of others, one at a time, in a random order that respects
/// causality.
CausalRun random_run(const RunShape& shape, Random& random);
/// A shape with this many members, 6 to 40 nodes, and random shares.
RunShape random_shape(Index members, Random& random);

/// One input of a member's total order: a node, or, without one, the crash of a member.
struct Input {
  const GraphNode* node = nullptr;
  Index crashed = 0;
};
using Inputs = std::vector<Input>;

/// The nodes of the graph up to `last`, in a random order that respects causality. Half of the
/// orders prefer the nodes of some members.
Inputs random_inputs(const Graph& graph, std::span<const Seq> last, Random& random);

/// The end of a view: the union of the survivors' graphs, and a last node of each survivor, which
/// follows the whole union.
class Flush {
 public:
  Flush(const CausalRun& run, std::vector<Index> survivors);

  /// In a random order: the nodes of the union; the crash of each other member, after that member's
  /// last node; and the survivors' last nodes.
  Inputs random_inputs(Random& random) const&;
  /// The inputs refer to nodes in this object.
  Inputs random_inputs(Random& random) && = delete;

 private:
  const Graph& graph_;
  std::vector<Index> survivors_;
  std::vector<Seq> cut_;
  std::vector<GraphNode> flushes_;
};

/// At least one member, at random, in ascending order.
std::vector<Index> random_survivors(Index members, Random& random);

/// The units of each activation.
using Decisions = std::vector<std::vector<NodeRef>>;

/// A member's total order, and what it decided.
class Replica {
 public:
  explicit Replica(const TotalOrder::Shape& shape) { order.begin(shape); }
  void take(const Input& input);

  TotalOrder order;
  Decisions decided;
};

/// The total order of so many members, with space for all units of a graph.
TotalOrder::Shape roomy(const Graph& graph, Index win, Rule rule = Rule::toto);

/// Whether one of the two is a prefix of the other.
bool agree(const Decisions& a, const Decisions& b);
std::size_t units_in(const Decisions& decisions);

/// The lowest threshold that a view may have.
constexpr Index lowest_win(Index members) { return static_cast<Index>(members / 2 + 1); }

}  // namespace peal::order::toto::test
