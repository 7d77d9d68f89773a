// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

#include "allocations.h"
#include "toto_definition.h"

// Examples of the total order that are worked out by hand.

namespace peal::order::toto::test {
namespace {

/// A graph that is built node by node, and the members that take its nodes.
struct Example {
  explicit Example(Index members) : graph(members) {}

  NodeRef unit(Index origin, std::initializer_list<NodeRef> followed = {}) {
    return graph.add_after(origin, true, {followed.begin(), followed.size()}).ref;
  }
  NodeRef control(Index origin, std::initializer_list<NodeRef> followed) {
    return graph.add_after(origin, false, {followed.begin(), followed.size()}).ref;
  }
  Input input(NodeRef ref) const { return {&graph.at(ref), 0}; }

  Graph graph;
};

MemberBits set_of(std::initializer_list<Index> members) {
  MemberBits bits;
  for (const Index member : members) bits.set(member);
  return bits;
}

/// The DAG of the paper's figure 1.
struct Figure1 : Example {
  Figure1() : Example(5) {}

  const NodeRef a1 = unit(kA), d1 = unit(kD), e1 = unit(kE);
  const NodeRef b1 = unit(kB, {a1, d1, e1}), c1 = unit(kC, {a1, d1, e1});
  const NodeRef e2 = unit(kE, {a1, d1});
  const NodeRef d2 = unit(kD, {c1, e2}), d3 = unit(kD, {b1});
  const NodeRef c2 = unit(kC), a2 = unit(kA, {b1, c1, e2});
};

struct Row {
  NodeRef unit;
  std::vector<Index> tail;
  std::vector<Seq> vt;
  std::size_t nvt;
};

TEST(TotoPaper, TheDefinitionGivesTable1) {
  const Figure1 figure;
  Definition definition(5, {.win = 3});
  for (const GraphNode& node : figure.graph.nodes()) definition.add({&node, 0});
  EXPECT_EQ(definition.decide(), (std::vector{figure.a1, figure.d1, figure.e1}));

  const Evaluation state = definition.evaluate();
  const Row kTable[] = {
      {figure.b1, {kA, kB, kD}, {2, 1, kInfinite, kInfinite, kInfinite}, 2},
      {figure.c1, {kA, kC, kD}, {2, kInfinite, 1, 2, kInfinite}, 3},
      {figure.e2, {kA, kD, kE}, {2, kInfinite, kInfinite, 2, 2}, 3},
  };
  ASSERT_EQ(state.candidates.size(), std::size(kTable));
  for (std::size_t i = 0; i < std::size(kTable); ++i) {
    const Candidate& candidate = state.candidates[i];
    EXPECT_EQ(candidate.unit, kTable[i].unit);
    EXPECT_EQ(candidate.tail, kTable[i].tail);
    EXPECT_EQ(candidate.ntail(), 3U);
    EXPECT_EQ(candidate.vt, kTable[i].vt);
    EXPECT_EQ(candidate.nvt(), kTable[i].nvt);
  }
  EXPECT_EQ(definition.decide(), (std::vector{figure.b1, figure.c1, figure.e2}));
}

TEST(TotoPaper, TheCandidatesOfTable1AreDecidedTogether) {
  const Figure1 figure;
  Replica replica(roomy(figure.graph, 3));
  for (const NodeRef ref : {figure.a1, figure.d1, figure.e1, figure.b1, figure.c1, figure.e2,
                            figure.d2, figure.d3, figure.c2}) {
    replica.take(figure.input(ref));
  }
  EXPECT_EQ(replica.decided, (Decisions{{figure.a1, figure.d1, figure.e1}}));
  EXPECT_EQ(replica.order.voters(), 5U);
  // All columns but that of a are determined.
  EXPECT_EQ(replica.order.awaited(), set_of({kA}));
  EXPECT_EQ(replica.order.origins(), set_of({kB, kC, kD, kE}));
  EXPECT_EQ(replica.order.oldest(kE), figure.e2);

  replica.take(figure.input(figure.a2));
  EXPECT_EQ(replica.decided,
            (Decisions{{figure.a1, figure.d1, figure.e1}, {figure.b1, figure.c1, figure.e2}}));
  EXPECT_EQ(replica.order.voters(), 5U);
  // c2, d2 and a2 are the next candidates; b and e have sent nothing that follows one of them.
  EXPECT_EQ(replica.order.awaited(), set_of({kB, kE}));
  EXPECT_EQ(replica.order.pending(), 4U);
}

TEST(TotoPaper, TheOrderOfArrivalDoesNotMatter) {
  const Figure1 figure;
  const std::vector<Seq> all = figure.graph.newest();
  Random random(7);
  for (int i = 0; i < 2'000; ++i) {
    Replica replica(roomy(figure.graph, 3));
    for (const Input& input : random_inputs(figure.graph, all, random)) replica.take(input);
    ASSERT_EQ(replica.decided,
              (Decisions{{figure.a1, figure.d1, figure.e1}, {figure.b1, figure.c1, figure.e2}}));
  }
}

// ---- thresholds ----

TEST(TotoTotalOrder, AMemberAloneDecidesAtOnce) {
  Example example(1);
  Replica replica(roomy(example.graph, 1));
  const NodeRef first = example.unit(kA);
  replica.take(example.input(first));
  EXPECT_EQ(replica.decided, (Decisions{{first}}));
  EXPECT_EQ(replica.order.voters(), 1U);
  EXPECT_TRUE(replica.order.idle());
  EXPECT_FALSE(replica.order.awaited().any());
}

TEST(TotoTotalOrder, OfTwoMembersBothMustSendANode) {
  Example example(2);
  const NodeRef a1 = example.unit(kA), b1 = example.control(kB, {a1});
  Replica replica(roomy(example.graph, 2));
  replica.take(example.input(a1));
  EXPECT_TRUE(replica.decided.empty());
  EXPECT_EQ(replica.order.awaited(), set_of({kB}));
  replica.take(example.input(b1));
  EXPECT_EQ(replica.decided, (Decisions{{a1}}));
}

TEST(TotoTotalOrder, ALoneUnitIsDecidedWithTheVotesOfTheThreshold) {
  for (Index win = 3; win <= 5; ++win) {
    Example example(5);
    const NodeRef a1 = example.unit(kA);
    for (const Index member : {kB, kC, kD, kE}) example.control(member, {a1});
    Replica replica(roomy(example.graph, win));
    Index votes = 0;
    for (const GraphNode& node : example.graph.nodes()) {
      EXPECT_EQ(replica.decided.empty(), votes < win);
      replica.take({&node, 0});
      ++votes;
      if (votes == win) {
        EXPECT_EQ(replica.order.voters(), win);
      }
    }
    EXPECT_EQ(replica.decided, (Decisions{{a1}}));
  }
}

// Each half acknowledges a unit of its own.
TEST(TotoTotalOrder, TwoHalvesThatVoteForDifferentUnitsWaitForTheLastVote) {
  Example example(4);
  const NodeRef a1 = example.unit(kA), b1 = example.unit(kB);
  const NodeRef c1 = example.control(kC, {a1}), d1 = example.control(kD, {b1});
  const auto after_three = [&] {
    Replica replica(roomy(example.graph, 3));
    for (const NodeRef ref : {a1, b1, c1}) replica.take(example.input(ref));
    EXPECT_TRUE(replica.decided.empty());
    EXPECT_EQ(replica.order.awaited(), set_of({kD}));
    return replica;
  };
  Replica with_vote = after_three();
  with_vote.take(example.input(d1));
  EXPECT_EQ(with_vote.decided, (Decisions{{a1, b1}}));

  // The last voter crashes: it votes for neither unit.
  Replica with_crash = after_three();
  with_crash.take({nullptr, kD});
  EXPECT_EQ(with_crash.decided, (Decisions{{a1, b1}}));
  EXPECT_EQ(with_crash.order.voters(), 4U);
}

// c1 is made by a member that had no column when a1 was decided.
TEST(TotoTotalOrder, ALateCandidateComesInTheNextActivation) {
  Example example(3);
  const NodeRef a1 = example.unit(kA), b1 = example.control(kB, {a1}), c1 = example.unit(kC);
  const NodeRef a2 = example.control(kA, {b1, c1}), b2 = example.control(kB, {c1});
  for (const bool c_is_first : {false, true}) {
    Replica replica(roomy(example.graph, 2));
    if (c_is_first) replica.take(example.input(c1));
    for (const NodeRef ref : {a1, b1}) replica.take(example.input(ref));
    EXPECT_EQ(replica.decided, (Decisions{{a1}}));
    EXPECT_EQ(replica.order.voters(), c_is_first ? 3U : 2U);
    if (!c_is_first) replica.take(example.input(c1));
    for (const NodeRef ref : {a2, b2}) replica.take(example.input(ref));
    EXPECT_EQ(replica.decided, (Decisions{{a1}, {c1}}));
  }
}

TEST(TotoTotalOrder, AVoteOfAMemberThatCrashedLaterCounts) {
  Example example(3);
  const NodeRef a1 = example.unit(kA), b1 = example.unit(kB), c1 = example.control(kC, {a1});
  Replica replica(roomy(example.graph, 3));
  for (const NodeRef ref : {a1, c1}) replica.take(example.input(ref));
  replica.take({nullptr, kC});
  EXPECT_EQ(replica.order.awaited(), set_of({kB}));
  replica.take(example.input(b1));
  EXPECT_EQ(replica.decided, (Decisions{{a1, b1}}));
}

TEST(TotoTotalOrder, WithoutCandidatesACrashDecidesNothing) {
  Example example(3);
  Replica replica(roomy(example.graph, 2));
  replica.take({nullptr, kC});
  EXPECT_TRUE(replica.decided.empty());
  EXPECT_FALSE(replica.order.awaited().any());
  const NodeRef a1 = example.unit(kA), b1 = example.control(kB, {a1});
  replica.take(example.input(a1));
  EXPECT_EQ(replica.order.awaited(), set_of({kB}));
  replica.take(example.input(b1));
  EXPECT_EQ(replica.decided, (Decisions{{a1}}));
  EXPECT_EQ(replica.order.voters(), 3U);
}

TEST(TotoTotalOrder, IsFullWithAsManyPendingUnitsAsItsCapacity) {
  Example example(2);
  Replica replica({.members = 2, .win = 2, .capacity = 4});
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(replica.order.full(kA));
    replica.take(example.input(example.unit(kA)));
  }
  EXPECT_TRUE(replica.order.full(kA));
  EXPECT_FALSE(replica.order.full(kB));
  EXPECT_EQ(replica.order.pending(), 4U);
  replica.take(example.input(example.control(kB, {{kA, 4}})));
  EXPECT_EQ(replica.decided.size(), 4U);
  EXPECT_FALSE(replica.order.full(kA));
}

TEST(TotoTotalOrder, AnotherViewBeginsWithNothing) {
  Example example(3);
  const NodeRef a1 = example.unit(kA), b1 = example.control(kB, {a1});
  Replica replica(roomy(example.graph, 3));
  for (const NodeRef ref : {a1, b1}) replica.take(example.input(ref));
  replica.take({nullptr, kB});
  EXPECT_FALSE(replica.order.idle());

  replica.order.begin({.members = 3, .win = 3, .capacity = 4});
  EXPECT_TRUE(replica.order.idle());
  EXPECT_FALSE(replica.order.origins().any());
  EXPECT_FALSE(replica.order.awaited().any());
  replica.order.check_invariants();
  replica.take(example.input(a1));
  EXPECT_EQ(replica.order.awaited(), set_of({kB, kC}));
  EXPECT_TRUE(replica.decided.empty());
}

// ---- sets of members ----

TEST(TotoMemberBits, HoldTheMembersAroundTheBoundaryOfAWord) {
  for (const Index member : {Index{0}, Index{62}, Index{63}, Index{64}, Index{65}, Index{127}}) {
    MemberBits bits;
    EXPECT_FALSE(bits.any());
    bits.set(member);
    EXPECT_TRUE(bits.any());
    EXPECT_EQ(bits.count(), 1U);
    EXPECT_EQ(bits.lowest(), member);
    for (Index other = 0; other < 128; ++other) EXPECT_EQ(bits.test(other), other == member);
    EXPECT_EQ(MemberBits::first(128).without(bits).count(), 127U);
    EXPECT_EQ((MemberBits::first(member) | bits), MemberBits::first(member + 1U));
    bits.reset(member);
    EXPECT_EQ(bits, MemberBits{});
  }
  std::vector<Index> seen;
  set_of({127, 64, 0, 63}).for_each([&](Index member) { seen.push_back(member); });
  EXPECT_EQ(seen, (std::vector<Index>{0, 63, 64, 127}));
  EXPECT_EQ(MemberBits::first(65).count(), 65U);
}

// The last members of the view have the units, so their bits decide.
TEST(TotoTotalOrder, CountsTheVotesOfMembersBeyondAWord) {
  for (const Index members : {Index{63}, Index{64}, Index{65}, Index{128}}) {
    Example example(members);
    const Index win = lowest_win(members);
    const auto last = static_cast<Index>(members - 1);
    const NodeRef unit = example.unit(last);
    for (Index voter = 1; voter < win; ++voter) {
      example.control(static_cast<Index>(last - voter), {unit});
    }
    Replica replica(roomy(example.graph, win));
    std::uint32_t voters = 0;
    for (const GraphNode& node : example.graph.nodes()) {
      EXPECT_TRUE(replica.decided.empty()) << members << " members, " << voters << " voters";
      replica.take({&node, 0});
      ++voters;
    }
    EXPECT_EQ(replica.decided, (Decisions{{unit}})) << members << " members";
    EXPECT_EQ(replica.order.voters(), win);
    replica.order.check_invariants();
  }
}

// ---- memory ----

TEST(TotoTotalOrder, AllocatesInBeginAlone) {
  Random random(8);
  RunShape shape;
  shape.members = 9;
  shape.nodes = 600;
  shape.sends = 0.08;
  const CausalRun run = random_run(shape, random);
  const Flush flush(run, {0, 2, 3, 7});
  const Inputs inputs = flush.random_inputs(random);
  TotalOrder order;
  std::uint64_t before = allocations();
  order.begin(roomy(run.graph, 5));
  EXPECT_GT(allocations(), before);

  std::size_t units = 0;
  Activation activation;
  before = allocations();
  for (const Input& input : inputs) {
    if (input.node == nullptr) {
      order.on_crash(input.crashed);
    } else {
      order.on_node(input.node->ref.origin, input.node->ref.seq, input.node->ordered,
                    input.node->past, input.node->covers);
    }
    while (order.decide(activation)) units += activation.size();
    order.check_invariants();
  }
  EXPECT_EQ(allocations(), before);
  EXPECT_GT(units, 300U);
  EXPECT_TRUE(order.idle());
}

}  // namespace
}  // namespace peal::order::toto::test
