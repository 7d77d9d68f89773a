// SPDX-License-Identifier: Apache-2.0
// How many elementary operations the total order needs for one input, with n members, p
// pending units and c candidates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "toto_run.h"

namespace peal::order::toto::test {
namespace {

/// Counts the operations of a member, input by input, and compares each count with its bound.
class Counted {
 public:
  explicit Counted(const TotalOrder::Shape& shape) : n_(shape.members) { order_.begin(shape); }

  void take(const Input& input) {
    std::uint64_t before = order_.steps();
    if (input.node == nullptr) {
      order_.on_crash(input.crashed);
      EXPECT_EQ(order_.steps(), before);
    } else {
      const GraphNode& node = *input.node;
      order_.on_node(node.ref.origin, node.ref.seq, node.ordered, node.past, node.covers);
      // What the node follows is copied, and compared with the oldest unit of each member. Then
      // each pending unit that its origin follows for the first time is marked.
      EXPECT_LE(order_.steps() - before, 3 * n_ + order_.pending() + order_.candidates());
    }
    inputs_ += order_.steps() - before;
    Activation activation;
    for (;;) {
      before = order_.steps();
      const std::uint64_t tested = order_.candidates();
      const bool decided = order_.decide(activation);
      const std::uint64_t steps = order_.steps() - before;
      const std::uint64_t test = tested * tested;
      if (!decided) {
        EXPECT_LE(steps, test);
        tests_ += steps;
        return;
      }
      // Each decided unit is compared with the units that follow it, and so is the next one of its
      // origin. Then the votes on the next candidates are counted anew.
      const std::uint64_t decided_units = activation.size(), next = order_.candidates();
      EXPECT_LE(steps, test + 3 * n_ * decided_units + 2 * n_ + 2 * n_ * next);
      decisions_ += steps;
      ++activations_;
    }
  }

  const TotalOrder& order() const { return order_; }
  std::uint64_t activations() const { return activations_; }
  /// Operations for nodes that joined; for tests of the criterion that did not hold; and for
  /// decisions.
  std::uint64_t inputs() const { return inputs_; }
  std::uint64_t tests() const { return tests_; }
  std::uint64_t decisions() const { return decisions_; }

 private:
  TotalOrder order_;
  std::uint64_t n_;
  std::uint64_t activations_ = 0, inputs_ = 0, tests_ = 0, decisions_ = 0;
};

TEST(TotoWork, OfEachInputIsWithinItsBound) {
  Random random(11);
  for (Index members = 2; members <= 40; members += 2) {
    RunShape shape;
    shape.members = members;
    shape.nodes = 40U * members;
    // From graphs in which few nodes are concurrent to graphs in which most are.
    for (const double sends : {0.5 / members, 2.0 / members, 0.3, 0.7}) {
      shape.sends = sends;
      const CausalRun run = random_run(shape, random);
      const Flush flush(run, random_survivors(members, random));
      for (const Rule rule : {Rule::toto, Rule::all_ack}) {
        Counted counted(roomy(run.graph, lowest_win(members), rule));
        for (const Input& input : flush.random_inputs(random)) counted.take(input);
        EXPECT_TRUE(counted.order().idle());
        EXPECT_GT(counted.activations(), 0U);
      }
    }
  }
}

// The widest graph: each member sends one unit, and then a node that follows all of them.
TEST(TotoWork, OfConcurrentUnitsGrowsWithTheSquareOfTheCandidates) {
  for (const Index members : {Index{8}, Index{32}, Index{128}}) {
    Graph graph(members);
    for (Index origin = 0; origin < members; ++origin) {
      graph.add(origin, true, std::vector<Seq>(members, 0));
    }
    const std::vector<Seq> units = graph.newest();
    for (Index origin = 0; origin < members; ++origin) graph.add(origin, false, units);
    Counted counted(roomy(graph, lowest_win(members)));
    for (const GraphNode& node : graph.nodes()) counted.take({&node, 0});
    EXPECT_TRUE(counted.order().idle());
    EXPECT_EQ(counted.activations(), 1U);
    // Every unit is one more candidate, and the criterion is tested after each unit.
    const std::uint64_t n = members;
    EXPECT_GT(counted.tests(), n * n * n / 5);
    EXPECT_LT(counted.tests(), n * n * n);
    EXPECT_LT(counted.decisions(), 4 * n * n);
  }
}

// A member marks each unit only once for each origin of nodes, even if many nodes follow the unit.
TEST(TotoWork, OfNodesThatFollowNothingNewIsNone) {
  Graph graph(4);
  graph.add(kA, true, {0, 0, 0, 0});
  for (int i = 0; i < 100; ++i) graph.add(kB, false, {1, 0, 0, 0});
  Counted counted(roomy(graph, 4));
  counted.take({&graph.nodes()[0], 0});
  counted.take({&graph.nodes()[1], 0});
  const std::uint64_t before = counted.order().steps();
  for (std::size_t i = 2; i < graph.nodes().size(); ++i) counted.take({&graph.nodes()[i], 0});
  // One step for each node: the node's origin is among the members that the node names.
  EXPECT_EQ(counted.order().steps() - before, 99U);
}

/// Prints the operations for each node that joins, in runs where few nodes are concurrent.
TEST(TotoWork, GrowsWithTheMembers) {
  std::uint64_t before = 0;
  for (const Index members : {Index{4}, Index{8}, Index{16}, Index{32}}) {
    Random random(12);
    RunShape shape;
    shape.members = members;
    shape.nodes = 2'000;
    shape.sends = 0.5 / members;
    const CausalRun run = random_run(shape, random);
    Counted counted(roomy(run.graph, lowest_win(members)));
    for (const Input& input : random_inputs(run.graph, run.graph.newest(), random)) {
      counted.take(input);
    }
    const double nodes = shape.nodes;
    std::printf(
        "%2u members: %5.1f operations for a node that joins, %5.1f for tests, %6.1f for "
        "decisions\n",
        unsigned{members}, static_cast<double>(counted.inputs()) / nodes,
        static_cast<double>(counted.tests()) / nodes,
        static_cast<double>(counted.decisions()) / nodes);
    EXPECT_GT(counted.order().steps(), before);
    before = counted.order().steps();
  }
}

}  // namespace
}  // namespace peal::order::toto::test
