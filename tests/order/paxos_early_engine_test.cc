// SPDX-License-Identifier: Apache-2.0
// Optimistic delivery: which packets an engine uses for it, and which units the engine announces.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "paxos_bench.h"

namespace peal::order::paxos::test {
namespace {

using wire::PaxosKind;

Options optimistic() {
  Options options;
  options.optimistic = true;
  return options;
}

std::uint64_t stamp_at(Instant time) { return static_cast<std::uint64_t>(time.ns); }

void stamped(Bench& bench, const MemberId& from, std::uint64_t number, std::string_view text,
             std::uint64_t stamp, std::uint64_t view = 1) {
  wire::ValueFrame frame;
  frame.count = stamp;
  frame.head = unit_head(from, number, view);
  bench.value(PaxosKind::submit, from, frame, bytes_of(text));
}

/// The units that were proposed to all nodes, each as sender:number.
std::string proposed(const Bench& bench) {
  std::string out;
  for (const Bench::Sent& sent : bench.sent) {
    wire::ValueFrame frame;
    if (sent.kind != PaxosKind::propose || sent.to != NodeId{}) continue;
    EXPECT_EQ(wire::decode_value(sent.bytes, frame), wire::Drop::none);
    if (frame.head.kind != wire::ValueKind::unit) continue;
    out += (out.empty() ? "" : " ") + std::to_string(frame.head.origin.node.value) + ":" +
           std::to_string(frame.head.number);
  }
  return out;
}

TEST(PaxosEarlyEngine, AUnitIsToldOnceAndThenDelivered) {
  Bench three(kThree, optimistic());
  three.start();
  const Round round = three.join(kOne);
  three.log.clear();
  stamped(three, kTwo, 1, "a", stamp_at(three.now));
  EXPECT_EQ(three.told(), "early 1:a");
  stamped(three, kTwo, 1, "a", stamp_at(three.now));
  EXPECT_EQ(three.counter("duplicate"), 1U);
  three.propose(kOne, 1, 2, unit_head(kTwo, 1), "a");
  // Of unit b, only the proposal arrives; no earlier packet of the unit's sender has arrived.
  three.propose(kOne, 1, 3, unit_head(kOne, 1), "b");
  three.sync();
  three.vote(kOne, round, 3);
  three.vote(kTwo, round, 3);
  EXPECT_EQ(three.told(), "early 1:a, 1:a, early 2:b, 2:b");
  EXPECT_EQ(three.counter("opt_delivered"), 2U);
  EXPECT_EQ(three.counter("opt_mistakes"), 0U);
}

TEST(PaxosEarlyEngine, AMemberSendsItsUnitsToAllAndTellsItsOwnApplication) {
  Bench three(kThree, optimistic());
  three.start();
  three.join(kOne);
  three.log.clear();
  three.submit("a");
  ASSERT_EQ(three.count(PaxosKind::submit), 1U) << "the coordinator is one of all";
  EXPECT_EQ(three.last(PaxosKind::submit)->to, NodeId{});
  EXPECT_EQ(three.told(), "early 1:a");
  three.lacks(kOne, {1, 1, 1});
  ASSERT_EQ(three.count(PaxosKind::submit), 2U);
  EXPECT_EQ(three.last(PaxosKind::submit)->to, kOne.node) << "again, to who lacks it alone";
}

TEST(PaxosEarlyEngine, StampsComeWithTheOptionAndNotWithoutIt) {
  Bench with(kThree, optimistic());
  with.start();
  with.join(kOne);
  stamped(with, kTwo, 1, "a", 0);
  EXPECT_EQ(with.counter("bad_value"), 1U);
  EXPECT_EQ(with.counter("opt_delivered"), 0U);
  Bench without(kThree);
  without.start();
  without.join(kOne);
  stamped(without, kTwo, 1, "a", stamp_at(without.now));
  EXPECT_EQ(without.counter("bad_value"), 1U);
  EXPECT_EQ(without.told().find("early"), std::string::npos);
}

TEST(PaxosEarlyEngine, ACoordinatorProposesInTheOrderOfStamps) {
  Bench one(kOne, optimistic());
  one.lead();
  // Node 3's unit "slow" takes 200 µs, so the coordinator waits 200 µs for later units, too.
  stamped(one, kTwo, 1, "first", stamp_at(one.now));
  one.now = one.now + microseconds(200);
  stamped(one, kThree, 1, "slow", stamp_at(one.now) - 200'000);
  EXPECT_EQ(proposed(one), "2:1 3:1");
  const Instant then = one.now;
  stamped(one, kThree, 2, "later", stamp_at(then));
  stamped(one, kTwo, 2, "sooner", stamp_at(then) - 50'000);
  EXPECT_EQ(proposed(one), "2:1 3:1");
  one.run(microseconds(149));
  EXPECT_EQ(proposed(one), "2:1 3:1");
  one.run(microseconds(1));
  EXPECT_EQ(proposed(one), "2:1 3:1 2:2");
  one.run(microseconds(50));
  EXPECT_EQ(proposed(one), "2:1 3:1 2:2 3:2");
}

// Node 3's clock is days ahead of the coordinator's clock. Node 3's first unit is for a view that
// the coordinator has proposed, but does not know to be decided. The unit must not wait until the
// coordinator's clock reaches the unit's timestamp.
TEST(PaxosEarlyEngine, ACoordinatorGoesByTheClocksOfUnitsThatItIsNotToldOf) {
  Bench one(kOne, optimistic());
  const Round round = one.lead();
  wire::State gone;
  gone.round = gone.voted_round = round;
  gone.voted_upto = gone.view = 1;
  gone.next = gone.oldest = 1;
  gone.joined = gone.leaving = true;
  one.state(kTwo, gone);
  one.run(milliseconds(5));
  constexpr std::uint64_t kDays = 3ULL * 86'400 * 1'000'000'000;
  stamped(one, kThree, 1, "a", stamp_at(one.now) + kDays, 2);
  EXPECT_EQ(one.counter("opt_delivered"), 0U) << "view 2 is not installed";
  one.run(milliseconds(1));
  EXPECT_EQ(proposed(one), "3:1");
}

TEST(PaxosEarlyEngine, NoClockHoldsUpTheUnitsOfOthers) {
  Bench one(kOne, optimistic());
  one.lead();
  stamped(one, kThree, 1, "x", wire::kEarlyStampMax);
  stamped(one, kTwo, 1, "a", stamp_at(one.now));
  one.run(milliseconds(1));
  EXPECT_EQ(proposed(one), "3:1 2:1");
}

TEST(PaxosEarlyEngine, WhatNobodyCanHaveUnderWayIsDroppedAndCounted) {
  Options options = optimistic();
  options.member_window = 8;
  Bench three(kThree, options);
  three.start();
  three.join(kOne);
  three.log.clear();
  stamped(three, kTwo, 9, "beyond its window", stamp_at(three.now));
  EXPECT_EQ(three.counter("out_of_window"), 1U);
  stamped(three, kTwo, 1, "of another view", stamp_at(three.now), 2);
  EXPECT_EQ(three.counter("stale"), 1U);
  EXPECT_EQ(three.told(), "");
}

TEST(PaxosEarlyEngine, OneCallTellsFewAndAsksForTheNext) {
  Options options = optimistic();
  options.member_window = 256;
  Bench three(kThree, options);
  three.start();
  three.join(kOne);
  three.log.clear();
  three.room = 0;
  constexpr std::uint64_t kUnits = 200;
  for (std::uint64_t i = 1; i <= kUnits; ++i) stamped(three, kTwo, i, "a", stamp_at(three.now));
  EXPECT_EQ(three.log.size(), 0U) << "the application has no room";
  three.room = 1'000;
  three.engine->on_work(three.now, three);
  EXPECT_LT(three.log.size(), 100U);
  EXPECT_EQ(three.engine->next_deadline(), three.now);
  three.run(Duration{});
  EXPECT_EQ(three.log.size(), kUnits);
}

}  // namespace
}  // namespace peal::order::paxos::test
