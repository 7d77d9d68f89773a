// SPDX-License-Identifier: Apache-2.0
// The incremental total order agrees, in every state, with the definition that is computed from the
// whole graph.
#include "toto_definition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>

namespace peal::order::toto::test {
namespace {

struct Compared {
  std::uint64_t runs = 0, states = 0, activations = 0, units = 0;
};

void print_compared(const char* name, const Compared& compared) {
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("%s: %llu runs, %llu states, %llu activations with %llu units\n", name,
              number(compared.runs), number(compared.states), number(compared.activations),
              number(compared.units));
}

MemberBits bits_of(const std::vector<Index>& members) {
  MemberBits bits;
  for (const Index member : members) bits.set(member);
  return bits;
}

/// Returns what differs between the two in the present state; empty if nothing differs.
std::string difference(const TotalOrder& order, const Definition& definition) {
  order.check_invariants();
  const auto& pending = definition.pending();
  if (order.pending() != pending.size() || order.idle() != pending.empty()) return "pending";
  MemberBits origins;
  for (const GraphNode* node : pending) {
    if (!origins.test(node->ref.origin) && order.oldest(node->ref.origin) != node->ref) {
      return "the oldest unit of an origin";
    }
    origins.set(node->ref.origin);
  }
  if (order.origins() != origins) return "origins";
  MemberBits awaited;
  if (!pending.empty()) {
    awaited = MemberBits::first(definition.members()).without(bits_of(definition.evaluate().tail));
  }
  return order.awaited() == awaited ? "" : "awaited";
}

/// Lets both decide all that they can decide now. Returns the first difference.
std::string decide_all(TotalOrder& order, Definition& definition, Compared& compared) {
  for (;;) {
    const std::size_t voters = definition.evaluate().tail.size();
    const std::vector<NodeRef> expected = definition.decide();
    Activation decided;
    const bool any = order.decide(decided);
    if (any == expected.empty()) return any ? "a decision too early" : "no decision";
    if (!any) return "";
    if (!std::ranges::equal(decided, expected)) return "the decided units";
    if (order.voters() != voters) return "voters";
    ++compared.activations;
    compared.units += expected.size();
  }
}

/// The greatest number of units of one origin that are pending at a time with these inputs.
std::uint32_t most_pending(const Inputs& inputs, const TotalOrder::Shape& shape) {
  Replica replica(shape);
  std::vector<std::uint32_t> sent(shape.members), decided(shape.members);
  std::uint32_t most = 1;
  std::size_t counted = 0;
  for (const Input& input : inputs) {
    if (input.node != nullptr && input.node->ordered) {
      const Index origin = input.node->ref.origin;
      most = std::max(most, ++sent[origin] - decided[origin]);
    }
    replica.take(input);
    for (; counted < replica.decided.size(); ++counted) {
      for (const NodeRef& unit : replica.decided[counted]) ++decided[unit.origin];
    }
  }
  return most;
}

/// Compares both after each input. The total order has just enough space for pending units, so it
/// reuses this space.
void expect_equal(const Inputs& inputs, TotalOrder::Shape shape, Compared& compared) {
  shape.capacity = std::bit_ceil(most_pending(inputs, shape));
  TotalOrder order;
  order.begin(shape);
  Definition definition(shape.members, {.win = shape.win, .rule = shape.rule});
  ++compared.runs;
  for (const Input& input : inputs) {
    if (input.node == nullptr) {
      order.on_crash(input.crashed);
    } else {
      const GraphNode& node = *input.node;
      order.on_node(node.ref.origin, node.ref.seq, node.ordered, node.past, node.covers);
    }
    definition.add(input);
    std::string differs = decide_all(order, definition, compared);
    if (differs.empty()) differs = difference(order, definition);
    ++compared.states;
    ASSERT_EQ(differs, "") << "in the state " << compared.states << ", W = " << shape.win << " of "
                           << shape.members;
  }
}

/// Runs without faults, with each legal threshold and with the rule all_ack.
void compare_plain(Index members, Random& random, Compared& compared) {
  const CausalRun run = random_run(random_shape(members, random), random);
  const std::vector<Seq> all = run.graph.newest();
  for (Index win = lowest_win(members); win <= members; ++win) {
    expect_equal(random_inputs(run.graph, all, random), roomy(run.graph, win), compared);
  }
  expect_equal(random_inputs(run.graph, all, random),
               roomy(run.graph, lowest_win(members), Rule::all_ack), compared);
}

/// Runs in which members crash at random moments, and the survivors end the view.
void compare_crashed(Index members, Random& random, Compared& compared) {
  const CausalRun run = random_run(random_shape(members, random), random);
  const Flush flush(run, random_survivors(members, random));
  for (Index win = lowest_win(members); win <= members; ++win) {
    expect_equal(flush.random_inputs(random), roomy(run.graph, win), compared);
  }
  expect_equal(flush.random_inputs(random), roomy(run.graph, lowest_win(members), Rule::all_ack),
               compared);
}

TEST(TotoDefinition, EqualsTheTotalOrderInEveryState) {
  Random random(1);
  Compared compared;
  for (Index members = 3; members <= 9; ++members) {
    for (int i = 0; i < 700 && !HasFatalFailure(); ++i) compare_plain(members, random, compared);
  }
  print_compared("without faults", compared);
  EXPECT_GT(compared.runs, 10'000U);
  EXPECT_GT(compared.activations, 10'000U);
}

TEST(TotoDefinition, EqualsTheTotalOrderThroughCrashes) {
  Random random(2);
  Compared compared;
  for (Index members = 3; members <= 9; ++members) {
    for (int i = 0; i < 700 && !HasFatalFailure(); ++i) compare_crashed(members, random, compared);
  }
  print_compared("with crashes", compared);
  EXPECT_GT(compared.runs, 10'000U);
  EXPECT_GT(compared.activations, 10'000U);
}

TEST(TotoDefinition, EqualsTheTotalOrderInViewsOfOneAndTwoMembers) {
  Random random(3);
  Compared compared;
  for (const Index members : {Index{1}, Index{2}}) {
    for (int i = 0; i < 500 && !HasFatalFailure(); ++i) {
      compare_plain(members, random, compared);
      compare_crashed(members, random, compared);
    }
  }
  print_compared("one and two members", compared);
}

// Long runs, in which the space for pending units is reused many times.
TEST(TotoDefinition, EqualsTheTotalOrderInLongRuns) {
  Random random(4);
  Compared compared;
  for (int i = 0; i < 40 && !HasFatalFailure(); ++i) {
    RunShape shape = random_shape(static_cast<Index>(random.between(3, 6)), random);
    shape.nodes = 400;
    shape.sends = 0.2;
    const CausalRun run = random_run(shape, random);
    const Index win = lowest_win(shape.members);
    // In the order in which the nodes were made, few units are pending at a time.
    Inputs inputs;
    for (const GraphNode& node : run.graph.nodes()) inputs.push_back({&node, 0});
    const TotalOrder::Shape roomiest = roomy(run.graph, win);
    EXPECT_LT(most_pending(inputs, roomiest), roomiest.capacity / 2);
    expect_equal(inputs, roomiest, compared);
  }
  print_compared("long runs", compared);
}

// A set of members consists of words of 64 bits.
TEST(TotoDefinition, EqualsTheTotalOrderAtTheBoundariesOfTheSetsOfMembers) {
  Random random(5);
  Compared compared;
  for (const Index members : {Index{63}, Index{64}, Index{65}, Index{127}, Index{128}}) {
    RunShape shape;
    shape.members = members;
    shape.nodes = 2U * members;
    shape.ordered = 0.5;
    shape.sends = 0.02;
    const CausalRun run = random_run(shape, random);
    const std::uint64_t activations = compared.activations;
    for (const Index win : {lowest_win(members), members}) {
      const Flush flush(run, random_survivors(members, random));
      expect_equal(flush.random_inputs(random), roomy(run.graph, win), compared);
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(compared.activations, activations + 2) << members << " members";
  }
  print_compared("63, 64, 65, 127 and 128 members", compared);
}

// With W = n no candidate can beat another one, because each sender's own column is for
// its candidate.
TEST(TotoDefinition, TheLargestThresholdDecidesAsTheRuleAllAck) {
  Random random(6);
  std::size_t units = 0;
  for (int i = 0; i < 2'000; ++i) {
    const auto members = static_cast<Index>(random.between(3, 9));
    const CausalRun run = random_run(random_shape(members, random), random);
    const Flush flush(run, random_survivors(members, random));
    const Inputs inputs = flush.random_inputs(random);
    Replica largest(roomy(run.graph, members));
    Replica all_ack(roomy(run.graph, members, Rule::all_ack));
    for (const Input& input : inputs) {
      largest.take(input);
      all_ack.take(input);
      ASSERT_EQ(largest.decided, all_ack.decided);
    }
    units += units_in(largest.decided);
  }
  EXPECT_GT(units, 10'000U);
}

}  // namespace
}  // namespace peal::order::toto::test
