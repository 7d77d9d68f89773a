// SPDX-License-Identifier: Apache-2.0
// The values that are retained for excluded members.
#include <gtest/gtest.h>

#include <vector>

#include "order/paxos/left_out.h"
#include "paxos_bench.h"

namespace peal::order::paxos::test {
namespace {

constexpr std::uint32_t kBytes = 100;
constexpr OwedPart kPart{0, 7};

/// A store that has consumed all instances up to `upto`; its history is too small for all of them.
struct Ordered {
  BufferPool pool{1'024, 16};
  Store store{8, 10 * kBytes};

  explicit Ordered(Instance upto) {
    store.begin(1);
    go_on(upto);
  }
  void go_on(Instance upto) {
    while (store.next() <= upto) {
      put(store, pool, store.next(), kBytes);
      store.consume();
    }
  }
};

Peers heard_peers() {
  Peers peers = three_peers();
  peers.start(Instant{});
  for (const MemberId& member : {kTwo, kThree}) {
    peers.note(Instant{}, *peers.find(member.node), member);
  }
  return peers;
}

void says(Peers& peers, const MemberId& member, Instance next) {
  wire::State state;
  state.next = next;
  peers.note_state(*peers.find(member.node), state);
}

void expect_kept(const LeftOut& left_out, Instance first, Instance end) {
  EXPECT_FALSE(left_out.decided(kPart, first - 1));
  EXPECT_FALSE(left_out.decided(kPart, end));
  for (Instance k = first; k < end; ++k) {
    const auto value = left_out.decided(kPart, k);
    ASSERT_TRUE(value) << k;
    EXPECT_EQ(value->head.number, k);
    ASSERT_EQ(value->bytes.size(), kBytes);
    EXPECT_EQ(value->bytes[kBytes - 1], static_cast<std::byte>(k));
  }
}

TEST(PaxosLeftOut, KeepsWhatTheHistoryForgets) {
  Ordered order(20);
  LeftOut left_out(1U << 20);
  left_out.keep(kPart, {kTwo}, 15, order.store);
  order.go_on(200);
  EXPECT_FALSE(order.store.decided(15));
  expect_kept(left_out, 15, 21);
}

TEST(PaxosLeftOut, GoesOnForTheSameMembers) {
  Ordered order(20);
  LeftOut left_out(3'000);
  left_out.keep(kPart, {kTwo, kThree}, 15, order.store);
  for (Instance upto = 22; upto <= 28; upto += 2) {
    order.go_on(upto);
    left_out.keep(kPart, {kTwo, kThree}, 16, order.store);
  }
  order.go_on(200);
  expect_kept(left_out, 15, 29);
}

TEST(PaxosLeftOut, KeepsNoMoreThanThereIs) {
  Ordered order(200);
  LeftOut left_out(1U << 20);
  left_out.keep(kPart, {kTwo}, 15, order.store);
  expect_kept(left_out, order.store.oldest(), 201);
  LeftOut nothing(1U << 20);
  nothing.keep(kPart, {kTwo}, 201, order.store);
  EXPECT_FALSE(nothing.decided(kPart, 201));
}

TEST(PaxosLeftOut, ForgetsWhatAllHaveOrNobodyWants) {
  const auto kept_after = [](auto&& what) {
    Ordered order(20);
    Peers peers = heard_peers();
    LeftOut left_out(1U << 20);
    left_out.keep(kPart, {kTwo, kThree}, 15, order.store);
    left_out.look(kPart, peers);
    EXPECT_TRUE(left_out.decided(kPart, 15)) << "it has not said where it is";
    says(peers, kThree, 21);
    says(peers, kTwo, 20);
    left_out.look(kPart, peers);
    EXPECT_TRUE(left_out.decided(kPart, 15)) << "one of them lacks the last";
    what(peers);
    left_out.look(kPart, peers);
    return left_out.decided(kPart, 15).has_value();
  };
  EXPECT_FALSE(kept_after([](Peers& peers) { says(peers, kTwo, 21); }));
  EXPECT_FALSE(kept_after([](Peers& peers) {
    peers.note(Instant{}, *peers.find(kTwo.node), {kTwo.node, kTwo.epoch + 1});
  })) << "it has restarted";
  EXPECT_FALSE(kept_after([](Peers& peers) {
    wire::State state;
    state.next = 20;
    state.leaving = true;
    peers.note_state(*peers.find(kTwo.node), state);
  })) << "it has left";
  EXPECT_FALSE(kept_after([](Peers& peers) {
    wire::Nodes nodes;
    nodes.all = nodes.acceptors = {kOne.node, kThree.node};
    peers.know(nodes, {});
  })) << "it is none of the nodes any more";
  EXPECT_TRUE(kept_after([](Peers& peers) { peers.tick(Instant{} + seconds(60)); }))
      << "however long it is away";
}

TEST(PaxosLeftOut, HoldsSoMuchAndNoMore) {
  Ordered order(20);
  LeftOut one(1'000);
  one.keep(kPart, {kTwo}, 15, order.store);
  EXPECT_TRUE(one.decided(kPart, 20));
  order.go_on(26);
  one.keep(kPart, {kThree}, 21, order.store);
  EXPECT_TRUE(one.decided(kPart, 26)) << "the newer one";
  EXPECT_FALSE(one.decided(kPart, 20)) << "in the place of the older one";
  order.go_on(32);
  one.keep(kPart, {kThree}, 21, order.store);
  EXPECT_TRUE(one.decided(kPart, 26)) << "more of it does not fit, and nothing is lost by that";
  EXPECT_FALSE(one.decided(kPart, 27));
  order.go_on(36);
  one.keep(kPart, {kTwo}, 36, order.store);
  EXPECT_TRUE(one.decided(kPart, 36));
  EXPECT_FALSE(one.decided(kPart, 26));
  LeftOut none(100);
  none.keep(kPart, {kTwo}, 20, order.store);
  EXPECT_FALSE(none.decided(kPart, 20));
}

}  // namespace
}  // namespace peal::order::paxos::test
