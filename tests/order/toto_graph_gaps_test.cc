// SPDX-License-Identifier: Apache-2.0
// The causal graph of one member, by hand: what it lacks, what is stable, and which packets it
// holds.
#include <gtest/gtest.h>

#include <vector>

#include "allocations.h"
#include "toto_member.h"

namespace peal::order::toto::test {
namespace {

using wire::NodeKind;

using Ranges = std::vector<wire::NodeRange>;

// ---- gaps ----

TEST(TotoGraph, LacksTheNodesThatAreKnownToExistAndAreNotHere) {
  Member member;
  EXPECT_FALSE(member.graph.lacks(kB));
  EXPECT_EQ(member.lacking(), Ranges{});
  member.store({kB, 3});
  member.graph.note_exists({kB, 3}, kB);
  member.store({kB, 6});
  member.graph.note_exists({kB, 6}, kD);
  EXPECT_EQ(member.graph.known(kB), 6U);
  EXPECT_EQ(member.graph.witness(kB), kD);
  member.graph.note_exists({kB, 5}, kC);  // an older number says nothing new
  EXPECT_EQ(member.graph.known(kB), 6U);
  EXPECT_EQ(member.graph.witness(kB), kD);
  EXPECT_TRUE(member.graph.lacks(kB));
  EXPECT_FALSE(member.graph.lacks(kC));
  member.graph.note_exists({kD, 1}, kB);
  EXPECT_EQ(member.lacking(), (Ranges{{kB, 1, 2}, {kB, 4, 2}, {kD, 1, 1}}));

  for (const Seq seq : {1U, 2U, 4U, 5U}) member.store({kB, seq});
  EXPECT_FALSE(member.graph.lacks(kB));
  EXPECT_EQ(member.lacking(), (Ranges{{kD, 1, 1}}));
  member.join();
  EXPECT_FALSE(member.graph.lacks(kB));
}

TEST(TotoGraph, ANodeThatWaitsShowsThatItsPredecessorExists) {
  Member member;
  member.store({kC, 1}, {{kB, 3}});
  member.join();
  EXPECT_EQ(member.graph.known(kB), 3U);
  EXPECT_EQ(member.graph.witness(kB), kC);
  EXPECT_EQ(member.lacking(), (Ranges{{kB, 1, 3}}));
}

TEST(TotoGraph, RequestsNothingBeyondItsWindow) {
  Member member;
  member.graph.note_exists({kB, 1'000}, kB);
  EXPECT_TRUE(member.graph.lacks(kB));
  EXPECT_EQ(member.lacking(), (Ranges{{kB, 1, kCapacity}}));
  for (Seq seq = 1; seq <= kCapacity; ++seq) member.store({kB, seq});
  EXPECT_FALSE(member.graph.lacks(kB));
  EXPECT_EQ(member.lacking(), Ranges{});
}

TEST(TotoGraph, ARangeNamesAtMostItsMaximumOfNodes) {
  Member member(256);
  member.graph.note_exists({kC, 2 * wire::kNodeRangeMax + 5}, kC);
  EXPECT_EQ(member.lacking(), (Ranges{{kC, 1, wire::kNodeRangeMax},
                                      {kC, wire::kNodeRangeMax + 1, wire::kNodeRangeMax},
                                      {kC, 2 * wire::kNodeRangeMax + 1, 5}}));
}

TEST(TotoGraph, TheNumberOfRangesIsBounded) {
  Member member(256);
  // Every second node of kB is here, so each missing node is a range of its own.
  for (Seq seq = 2; seq <= 2 * wire::kNodeRangesMax + 2; seq += 2) member.store({kB, seq});
  member.graph.note_exists({kB, 2 * wire::kNodeRangesMax + 2}, kB);
  member.graph.note_exists({kC, 7}, kC);
  const Ranges ranges = member.lacking();
  ASSERT_EQ(ranges.size(), wire::kNodeRangesMax);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(ranges[i], (wire::NodeRange{kB, 2 * i + 1, 1}));
  }
}

TEST(TotoGraph, ForgetsTheNodesThatWillNotJoin) {
  Member member;
  member.store({kB, 1});
  member.join();
  for (const Seq seq : {3U, 4U, 6U}) member.store({kB, seq});
  member.graph.note_exists({kB, 8}, kC);
  EXPECT_EQ(member.packets.held(), 4U);
  member.graph.forget_beyond(kB, 3);
  EXPECT_EQ(member.packets.held(), 2U);
  EXPECT_TRUE(member.graph.stored().holds({kB, 3}));
  EXPECT_FALSE(member.graph.stored().holds({kB, 4}));
  EXPECT_FALSE(member.graph.stored().holds({kB, 6}));
  EXPECT_EQ(member.graph.known(kB), 3U);
  EXPECT_EQ(member.lacking(), (Ranges{{kB, 2, 1}}));
  member.store({kB, 2});
  EXPECT_EQ(member.join(), (Nodes{{kB, 2}, {kB, 3}}));
  EXPECT_FALSE(member.graph.lacks(kB));
}

TEST(TotoGraph, ForgettingShowsThatTheNodesUpToThereExist) {
  Member member;
  member.graph.forget_beyond(kB, 4);
  EXPECT_EQ(member.graph.known(kB), 4U);
  EXPECT_EQ(member.lacking(), (Ranges{{kB, 1, 4}}));
}

TEST(TotoGraph, NeverForgetsANodeThatHasJoined) {
  Member member;
  for (const Seq seq : {1U, 2U, 3U}) member.store({kB, seq});
  member.join();
  member.graph.forget_beyond(kB, 1);
  EXPECT_EQ(member.graph.joined(kB), 3U);
  EXPECT_EQ(member.packets.held(), 3U);
  EXPECT_EQ(member.graph.known(kB), 3U);
}

// ---- stability ----

TEST(TotoGraph, ANodeIsStableOnceANodeOfEveryMemberFollowsIt) {
  Member member;
  member.append();
  member.store({kB, 1}, {{kSelf, 1}});
  member.store({kC, 1}, {{kSelf, 1}});
  member.join();
  member.graph.discard_stable();
  EXPECT_EQ(member.graph.stable(kSelf), 0U);
  EXPECT_EQ(member.graph.seen(kD, kSelf), 0U);
  member.store({kD, 1}, {{kSelf, 1}, {kB, 1}});
  member.join();
  member.graph.discard_stable();
  EXPECT_EQ(member.graph.stable(kSelf), 1U);
  EXPECT_EQ(member.graph.stable(kB), 0U);  // kC is not known to have it
  EXPECT_EQ(member.graph.unstable(), 0U);
}

TEST(TotoGraph, ANodeIsStableOnceEveryMemberSaysThatItHasTheNode) {
  Member member;
  for (int i = 0; i < 3; ++i) member.append();
  for (const Index other : {kB, kC, kD}) {
    member.graph.discard_stable();
    EXPECT_EQ(member.graph.stable(kSelf), 0U);
    member.graph.note_seen(other, kSelf, other == kC ? 2 : 3);
    member.graph.note_seen(other, kSelf, 1);  // an older report changes nothing
  }
  member.graph.discard_stable();
  EXPECT_EQ(member.graph.stable(kSelf), 2U);
  EXPECT_EQ(member.graph.unstable(), 1U);
}

TEST(TotoGraph, ANodeThatDidNotJoinIsNotStable) {
  Member member;
  member.store({kB, 2});
  for (const Index other : {kB, kC, kD}) member.graph.note_seen(other, kB, 2);
  member.graph.discard_stable();
  EXPECT_EQ(member.graph.stable(kB), 0U);
  member.store({kB, 1});
  member.join();
  member.graph.discard_stable();
  EXPECT_EQ(member.graph.stable(kB), 2U);
}

TEST(TotoGraph, APacketIsHeldUntilItsNodeIsStableAndConsumed) {
  Member member;
  for (const Seq seq : {1U, 2U, 3U, 4U}) member.store({kB, seq}, {}, NodeKind::agreed);
  member.join();
  member.graph.consume(kB, 2);
  member.graph.discard_stable();
  EXPECT_EQ(member.packets.held(), 4U);  // consumed, and not stable
  for (const Index other : {kC, kD}) member.graph.note_seen(other, kB, 3);
  member.graph.discard_stable();
  EXPECT_EQ(member.graph.stable(kB), 3U);
  EXPECT_EQ(member.packets.held(), 2U);
  EXPECT_FALSE(member.graph.stored().holds({kB, 2}));
  EXPECT_TRUE(member.graph.stored().holds({kB, 3}));  // stable, and not consumed
  EXPECT_TRUE(member.graph.stored().holds({kB, 4}));
  member.graph.consume(kB, 4);
  member.graph.discard_stable();
  EXPECT_EQ(member.packets.held(), 1U);
  EXPECT_FALSE(member.graph.stored().holds({kB, 3}));
}

TEST(TotoGraph, GivesTheUnitOfANodeWithoutItsHeader) {
  Member member;
  member.store({kB, 5}, {{kC, 1}, {kD, 1}}, NodeKind::causal);
  member.store({kC, 1});
  const BufferRef unit = member.graph.stored().unit({kB, 5});
  ASSERT_EQ(unit.size(), Packets::kUnitBytes);
  for (const std::byte byte : unit.view()) EXPECT_EQ(byte, std::byte{5});
  EXPECT_EQ(member.graph.stored().kind({kB, 5}), NodeKind::causal);
  EXPECT_FALSE(member.graph.stored().unit({kC, 1}));
  EXPECT_EQ(member.graph.stored().kind({kC, 1}), NodeKind::control);
}

TEST(TotoGraph, AnotherViewBeginsWithoutPackets) {
  Member member;
  member.append();
  member.store({kB, 1}, {{kC, 1}});
  member.store({kB, 2});
  member.join();
  EXPECT_EQ(member.packets.held(), 3U);
  member.graph.begin(3, 1, kCapacity, 7);
  EXPECT_EQ(member.packets.held(), 0U);
  EXPECT_EQ(member.graph.members(), 3U);
  EXPECT_EQ(member.graph.advances(), 0U);
  for (Index origin = 0; origin < 3; ++origin) {
    EXPECT_EQ(member.graph.joined(origin), 7U);
    EXPECT_EQ(member.graph.known(origin), 7U);
    EXPECT_FALSE(member.graph.lacks(origin));
  }
  EXPECT_EQ(member.store({2, 8}), Taken::stored);
  EXPECT_EQ(member.join(), (Nodes{{2, 8}}));
}

TEST(TotoGraph, AllocatesInBeginAlone) {
  Packets packets(64);
  CausalGraph graph;
  const std::uint64_t first = allocations();
  graph.begin(4, kSelf, kCapacity, 0);
  EXPECT_GT(allocations(), first);

  std::size_t joins = 0, ranges = 0;
  wire::Node own = wire_node({});
  wire::TotoLacks lacks;
  Joined joined;
  const std::uint64_t before = allocations();
  for (Seq round = 1; round <= 200; ++round) {
    for (const Index origin : {kD, kC, kB}) {
      wire::Node node = wire_node({origin, round}, NodeKind::agreed);
      if (origin != kB) node.advances.push_back({kB, 1});
      graph.note_exists({origin, round}, origin);
      lacks.ranges.clear();
      graph.append_lacking(origin, lacks);
      ranges += lacks.ranges.size();
      graph.store(node, packets.make(node));
      while (graph.join(joined)) ++joins;
    }
    graph.next_node(own, wire::kMembersMax);
    graph.append(own, packets.make(own));
    for (Index origin = 0; origin < 4; ++origin) {
      for (const Index other : {kB, kC, kD}) graph.note_seen(other, origin, round);
      graph.consume(origin, round);
    }
    graph.discard_stable();
  }
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(joins, 600U);
  EXPECT_EQ(ranges, 600U);
}

}  // namespace
}  // namespace peal::order::toto::test
