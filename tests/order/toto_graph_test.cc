// SPDX-License-Identifier: Apache-2.0
// The causal graph of one member, by hand: which nodes join, which are refused, and what this
// member's own nodes name.
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "toto_member.h"

namespace peal::order::toto::test {
namespace {

using wire::NodeKind;

std::vector<wire::Advance> advances_of(const wire::Node& node) {
  return {node.advances.begin(), node.advances.end()};
}

// ---- joining ----

TEST(TotoGraph, ANodeWaitsForItsPredecessors) {
  Member member;
  EXPECT_EQ(member.store({kC, 1}, {{kB, 2}, {kD, 1}}), Taken::stored);
  EXPECT_EQ(member.join(), Nodes{});
  EXPECT_EQ(member.store({kB, 2}), Taken::stored);
  EXPECT_EQ(member.join(), Nodes{});
  EXPECT_EQ(member.store({kD, 1}), Taken::stored);
  EXPECT_EQ(member.join(), (Nodes{{kD, 1}}));
  EXPECT_EQ(member.store({kB, 1}), Taken::stored);
  EXPECT_EQ(member.join(), (Nodes{{kB, 1}, {kB, 2}, {kC, 1}}));
  EXPECT_EQ(member.graph.joined(kC), 1U);
}

TEST(TotoGraph, AJoinedNodeSaysWhatItNewlyCovers) {
  Member member;
  member.store({kB, 1});
  member.store({kB, 2});
  wire::Node node = wire_node({kC, 1}, NodeKind::safe);
  node.advances.push_back({kB, 2});
  node.decided = 17;
  member.store_node(node);
  Joined joined;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(member.graph.join(joined));
  EXPECT_EQ(joined.node, (NodeRef{kC, 1}));
  EXPECT_EQ(joined.kind, NodeKind::safe);
  EXPECT_EQ(joined.decided, 17U);
  ASSERT_EQ(joined.covers.size(), 2U);
  EXPECT_EQ(joined.covers[0].of, kB);
  EXPECT_EQ(joined.covers[0].upto, 2U);
  EXPECT_EQ(joined.covers[1].of, kC);
  EXPECT_EQ(joined.covers[1].upto, 1U);
  const std::span<const Seq> past = member.graph.past_of(kC);
  EXPECT_EQ(std::vector<Seq>(past.begin(), past.end()), (std::vector<Seq>{0, 2, 1, 0}));
}

TEST(TotoGraph, ADuplicateIsRecognised) {
  Member member;
  EXPECT_EQ(member.store({kB, 2}), Taken::stored);
  EXPECT_EQ(member.store({kB, 2}), Taken::duplicate);  // it is stored
  member.store({kB, 1});
  EXPECT_EQ(member.join().size(), 2U);
  EXPECT_EQ(member.store({kB, 1}), Taken::duplicate);  // it has joined
  EXPECT_EQ(member.join(), Nodes{});
  const wire::Node own = member.append();
  EXPECT_EQ(member.store_node(own), Taken::duplicate);
  EXPECT_EQ(member.packets.held(), 3U);
}

TEST(TotoGraph, ANodeBeyondTheWindowIsNotStored) {
  for (const Seq first : {Seq{0}, Seq{1} << 40}) {
    Member member(kCapacity, 4, first);
    EXPECT_EQ(member.store({kB, first + kCapacity + 1}), Taken::out_of_window);
    EXPECT_EQ(member.store({kB, first + kCapacity}), Taken::stored);
    for (Seq seq = 1; seq < kCapacity; ++seq) member.store({kB, first + seq});
    EXPECT_EQ(member.join().size(), kCapacity);
    // The window moves when nodes are discarded, not when they join.
    EXPECT_EQ(member.store({kB, first + kCapacity + 1}), Taken::out_of_window);
    for (const Index other : {kC, kD}) member.graph.note_seen(other, kB, first + 3);
    member.graph.consume(kB, first + kCapacity);
    member.graph.discard_stable();
    EXPECT_EQ(member.store({kB, first + kCapacity + 4}), Taken::out_of_window);
    EXPECT_EQ(member.store({kB, first + kCapacity + 3}), Taken::stored);
    EXPECT_EQ(member.store({kB, first + 3}), Taken::duplicate);  // it is discarded
  }
}

TEST(TotoGraph, AMemberHasRoomForAsManyNodesOfItsOwnAsItsWindowHas) {
  Member member;
  for (std::uint32_t i = 0; i < kCapacity; ++i) {
    EXPECT_TRUE(member.graph.room());
    member.append();
  }
  EXPECT_FALSE(member.graph.room());
  EXPECT_EQ(member.graph.unstable(), kCapacity);
  EXPECT_EQ(member.graph.kept(), kCapacity);
  for (const Index other : {kB, kC, kD}) member.graph.note_seen(other, kSelf, 5);
  member.graph.discard_stable();
  EXPECT_EQ(member.graph.unstable(), kCapacity - 5);
  EXPECT_FALSE(member.graph.room());
  member.graph.consume(kSelf, 2);
  member.graph.discard_stable();
  EXPECT_EQ(member.graph.kept(), kCapacity - 2);
  EXPECT_TRUE(member.graph.room());
}

// ---- packets that are refused ----

TEST(TotoGraph, AnIndexBeyondTheViewIsRefused) {
  Member member;
  EXPECT_EQ(member.store({4, 1}), Taken::bad_value);
  EXPECT_EQ(member.store({127, 1}), Taken::bad_value);
  EXPECT_EQ(member.store({kB, 1}, {{4, 1}}), Taken::bad_value);
  EXPECT_EQ(member.store({kB, 1}, {{kC, 1}, {127, 1}}), Taken::bad_value);
  EXPECT_EQ(member.packets.held(), 0U);
  EXPECT_EQ(member.store({kB, 1}, {{kSelf, 1}}), Taken::stored);
}

TEST(TotoGraph, AnotherMembersPacketWithANodeThatThisMemberDidNotMakeIsRefused) {
  Member member;
  EXPECT_EQ(member.store({kSelf, 1}), Taken::bad_value);
  member.append();
  EXPECT_EQ(member.store({kSelf, 2}), Taken::bad_value);
  EXPECT_EQ(member.join(), Nodes{});
}

TEST(TotoGraph, AnotherNodeWithTheNumberOfAStoredOneIsRefused) {
  Member member;
  wire::Node node = wire_node({kB, 1}, NodeKind::agreed);
  node.advances.push_back({kC, 1});
  const auto expect = [&](const wire::Node& other, Taken taken) {
    EXPECT_EQ(member.store_node(other), taken);
  };
  const auto expect_refused = [&] {
    wire::Node other = node;
    other.kind = NodeKind::safe;
    expect(other, Taken::bad_value);
    other = node;
    other.decided = 1;
    expect(other, Taken::bad_value);
    other = node;
    other.advances.push_back({kD, 1});
    expect(other, Taken::bad_value);
    const BufferRef packet = member.packets.make(node);
    packet.data()[packet.size() - 1] ^= std::byte{1};  // the unit
    EXPECT_EQ(member.graph.store(node, packet), Taken::bad_value);
    other = node;
    other.retransmission = true;
    expect(other, Taken::duplicate);
  };
  expect(node, Taken::stored);
  expect_refused();  // it waits
  member.store({kC, 1});
  EXPECT_EQ(member.join(), (Nodes{{kC, 1}, {kB, 1}}));
  expect_refused();  // it has joined
  EXPECT_EQ(member.packets.held(), 2U);
  for (const Index other : {kC, kD}) member.graph.note_seen(other, kB, 1);
  member.graph.consume(kB, 1);
  member.graph.discard_stable();
  // It is discarded. Nothing is left to compare with.
  node.decided = 1;
  expect(node, Taken::duplicate);
}

TEST(TotoGraph, ANodeThatFollowsANodeWhichThisMemberDidNotMakeIsRefused) {
  Member member;
  member.append();
  EXPECT_EQ(member.store({kB, 1}, {{kSelf, 1}}), Taken::stored);
  EXPECT_EQ(member.store({kC, 1}, {{kSelf, 2}}), Taken::stored);
  EXPECT_EQ(member.join(), (Nodes{{kB, 1}}));
  EXPECT_EQ(member.graph.refused(), 1U);
  EXPECT_FALSE(member.graph.stored().holds({kC, 1}));
  // The true node of this number can still come.
  EXPECT_EQ(member.store({kC, 1}, {{kSelf, 1}}), Taken::stored);
  EXPECT_EQ(member.join(), (Nodes{{kC, 1}}));
  EXPECT_EQ(member.graph.refused(), 1U);
}

TEST(TotoGraph, ANodeThatFollowsANodeBeyondAllWindowsIsRefused) {
  Member member;
  EXPECT_EQ(member.store({kB, 1}, {{kC, 2 * kCapacity + 1}}), Taken::stored);
  EXPECT_EQ(member.join(), Nodes{});
  EXPECT_EQ(member.graph.refused(), 1U);
  EXPECT_EQ(member.store({kB, 1}, {{kC, 2 * kCapacity}}), Taken::stored);
  EXPECT_EQ(member.join(), Nodes{});
  EXPECT_EQ(member.graph.refused(), 1U);
  EXPECT_EQ(member.graph.known(kC), 2 * kCapacity);
}

TEST(TotoGraph, OfTwoNodesThatFollowEachOtherOneIsRefused) {
  Member member;
  member.store({kB, 1}, {{kC, 1}});
  EXPECT_EQ(member.join(), Nodes{});
  EXPECT_EQ(member.graph.refused(), 0U);
  member.store({kC, 1}, {{kB, 1}});
  EXPECT_EQ(member.join(), Nodes{});
  EXPECT_EQ(member.graph.refused(), 1U);
  EXPECT_TRUE(member.graph.stored().holds({kB, 1}));
  EXPECT_FALSE(member.graph.stored().holds({kC, 1}));
  EXPECT_EQ(member.packets.held(), 1U);
  // The view continues with a true node in the place of the refused one.
  EXPECT_EQ(member.store({kC, 1}), Taken::stored);
  EXPECT_EQ(member.join(), (Nodes{{kC, 1}, {kB, 1}}));
  EXPECT_EQ(member.graph.refused(), 1U);
}

TEST(TotoGraph, ALongerCircleIsRefusedOnceItCloses) {
  Member member;
  member.store({kC, 1});
  EXPECT_EQ(member.join(), (Nodes{{kC, 1}}));
  member.store({kB, 1}, {{kC, 3}});
  member.store({kD, 1}, {{kB, 1}});
  EXPECT_EQ(member.join(), Nodes{});
  EXPECT_EQ(member.graph.refused(), 0U);
  // The third node of kC has not arrived, but it follows this second one.
  member.store({kC, 2}, {{kD, 1}});
  EXPECT_EQ(member.join(), Nodes{});
  EXPECT_EQ(member.graph.refused(), 1U);
  EXPECT_FALSE(member.graph.stored().holds({kC, 2}));
  member.store({kC, 2});
  member.store({kC, 3});
  EXPECT_EQ(member.join(), (Nodes{{kC, 2}, {kC, 3}, {kB, 1}, {kD, 1}}));
}

TEST(TotoGraph, ACircleThroughASecondPredecessorIsFoundWhenTheFirstHasJoined) {
  Member member;
  member.store({kB, 1}, {{kC, 1}, {kD, 1}});
  member.store({kD, 1}, {{kB, 1}});
  EXPECT_EQ(member.join(), Nodes{});
  EXPECT_EQ(member.graph.refused(), 0U);
  member.store({kC, 1});
  EXPECT_EQ(member.join(), (Nodes{{kC, 1}}));
  EXPECT_EQ(member.graph.refused(), 1U);
  EXPECT_FALSE(member.graph.stored().holds({kB, 1}));
  member.store({kB, 1}, {{kC, 1}});
  EXPECT_EQ(member.join(), (Nodes{{kB, 1}, {kD, 1}}));
}

// ---- this member's nodes ----

TEST(TotoGraph, ANodeNamesWhatJoinedSinceThePreviousOne) {
  Member member;
  for (const Seq seq : {1U, 2U, 3U}) member.store({kB, seq});
  member.store({kD, 1}, {{kB, 1}});
  member.join();
  EXPECT_EQ(member.graph.advances(), 2U);
  const wire::Node first = member.append();
  EXPECT_EQ(first.origin, kSelf);
  EXPECT_EQ(first.seq, 1U);
  EXPECT_EQ(advances_of(first), (std::vector<wire::Advance>{{kB, 3}, {kD, 1}}));
  EXPECT_EQ(member.graph.advances(), 0U);
  EXPECT_EQ(advances_of(member.append()), std::vector<wire::Advance>{});

  member.store({kB, 4});
  member.join();
  const wire::Node third = member.append();
  EXPECT_EQ(third.seq, 3U);
  EXPECT_EQ(advances_of(third), (std::vector<wire::Advance>{{kB, 1}}));
  const std::span<const Seq> past = member.graph.past_of(kSelf);
  EXPECT_EQ(std::vector<Seq>(past.begin(), past.end()), (std::vector<Seq>{3, 4, 0, 1}));
}

TEST(TotoGraph, AppendSaysWhatTheNodeNewlyCovers) {
  Member member;
  member.store({kC, 1});
  member.join();
  wire::Node node = wire_node({}, NodeKind::agreed);
  node.decided = 3;
  member.graph.next_node(node, wire::kMembersMax);
  const Joined joined = member.graph.append(node, member.packets.make(node));
  EXPECT_EQ(joined.node, (NodeRef{kSelf, 1}));
  EXPECT_EQ(joined.kind, NodeKind::agreed);
  EXPECT_EQ(joined.decided, 3U);
  ASSERT_EQ(joined.covers.size(), 2U);
  EXPECT_EQ(joined.covers[0].of, kC);
  EXPECT_EQ(joined.covers[0].upto, 1U);
  EXPECT_EQ(joined.covers[1].of, kSelf);
  EXPECT_EQ(joined.covers[1].upto, 1U);
}

TEST(TotoGraph, MoreAdvancesThanANodeHasSpaceForAreSplit) {
  Member member(kCapacity, 20);
  for (Index origin = 1; origin < 20; ++origin) member.store({origin, 1});
  EXPECT_EQ(member.join().size(), 19U);
  EXPECT_EQ(member.graph.advances(), 19U);
  std::vector<Index> named;
  for (const std::size_t left : {8U, 0U}) {
    const wire::Node node = member.append(11);
    EXPECT_EQ(member.graph.advances(), left);
    for (const wire::Advance& advance : node.advances) {
      EXPECT_EQ(advance.count, 1U);
      named.push_back(advance.index);
    }
    EXPECT_EQ(node.advances.size(), left == 0 ? 8U : 11U);
  }
  std::vector<Index> all;
  for (Index origin = 1; origin < 20; ++origin) all.push_back(origin);
  EXPECT_EQ(named, all);
}

TEST(TotoGraph, AnAdvanceThatExceedsItsFieldIsSplit) {
  constexpr Seq kNodes = 0xffff + 10;
  Member member(kCapacity, 2);
  Joined joined;
  for (Seq seq = 1; seq <= kNodes; ++seq) {
    ASSERT_EQ(member.store({kB, seq}), Taken::stored);
    ASSERT_TRUE(member.graph.join(joined));
    member.graph.consume(kB, seq);
    member.graph.discard_stable();
  }
  EXPECT_EQ(advances_of(member.append()), (std::vector<wire::Advance>{{kB, 0xffff}}));
  EXPECT_EQ(member.graph.advances(), 1U);
  EXPECT_EQ(advances_of(member.append()), (std::vector<wire::Advance>{{kB, 10}}));
  EXPECT_EQ(member.graph.advances(), 0U);
}

}  // namespace
}  // namespace peal::order::toto::test
