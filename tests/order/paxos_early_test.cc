// SPDX-License-Identifier: Apache-2.0
// Optimistic delivery: in which order, and when, units are announced before they have their places.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "order/paxos/early.h"
#include "wire/paxos.h"

namespace peal::order::paxos::test {
namespace {

constexpr Instant at_us(std::int64_t us) { return Instant{} + seconds(1) + microseconds(us); }
constexpr std::uint64_t stamp_us(std::int64_t us) {
  return static_cast<std::uint64_t>(at_us(us).ns);
}

/// A node in a view of three members, whose clocks agree.
struct Node {
  explicit Node(const Options& options = {}) : early(options) { early.begin_view(3); }

  bool comes(std::int64_t now_us, std::size_t index, std::uint64_t number, std::int64_t sent_us) {
    return taken(now_us, index, number, sent_us) == wire::Drop::none;
  }
  wire::Drop taken(std::int64_t now_us, std::size_t index, std::uint64_t number,
                   std::int64_t sent_us) {
    const std::uint64_t stamp = early.see(at_us(now_us), stamp_us(sent_us));
    return early.take(at_us(now_us), index, number, {stamp, Service::agreed, {}}, false);
  }
  /// The units that the node announces at time `now_us`, each as "index of the sender:number".
  std::string told_by(std::int64_t now_us) {
    std::string out;
    while (const auto index = early.next(at_us(now_us))) {
      const Early::Unit unit = early.take_next(*index);
      early.tell(*index, unit.stamp);
      out += (out.empty() ? "" : " ") + std::to_string(*index) + ":" +
             std::to_string(++numbers[*index]);
    }
    early.check_invariants();
    return out;
  }
  std::uint64_t counted(std::string_view name) const {
    std::vector<Counter> counters;
    early.append_counters(counters);
    for (const Counter& each : counters) {
      if (each.name == name) return each.value;
    }
    ADD_FAILURE() << name;
    return 0;
  }

  Early early;
  std::uint64_t numbers[3] = {};
};

TEST(PaxosLateness, IsThatOfAllButOneInFiveHundred) {
  Lateness late;
  EXPECT_EQ(late.wait().ns, 0);
  for (int i = 0; i < 2'048; ++i) late.took(microseconds(i % 400 == 7 ? 9'000 : 50 + i % 10));
  EXPECT_GE(late.wait(), microseconds(59));
  EXPECT_LE(late.wait(), microseconds(9'000));
  for (int i = 0; i < 2'048; ++i) late.took(microseconds(i >= 100 && i < 104 ? 9'000 : 50));
  EXPECT_EQ(late.wait(), microseconds(50)) << "four of 2,048 are later";
  for (int i = 0; i < 2'048; ++i) late.took(microseconds(20));
  EXPECT_EQ(late.wait(), microseconds(20)) << "what was long ago is forgotten";
}

TEST(PaxosEarly, UnitsAreToldInTheOrderOfTheirStampsOnceTheLatestShouldHaveCome) {
  Node node;
  ASSERT_TRUE(node.comes(100, 0, 1, 0));  // the unit took 100 µs, so the node waits 100 µs
  EXPECT_EQ(node.told_by(100), "0:1");
  ASSERT_TRUE(node.comes(230, 2, 1, 210));
  EXPECT_EQ(node.told_by(230), "");
  EXPECT_EQ(node.early.next_at(), at_us(310));
  ASSERT_TRUE(node.comes(260, 1, 1, 205));
  EXPECT_EQ(node.early.next_at(), at_us(305));
  EXPECT_EQ(node.told_by(304), "");
  EXPECT_EQ(node.told_by(305), "1:1");
  EXPECT_EQ(node.told_by(310), "2:1");
  EXPECT_EQ(node.early.next_at(), std::nullopt);
  EXPECT_EQ(node.counted("opt_late"), 0U);
  EXPECT_EQ(node.counted("opt_delivered"), 3U);
}

TEST(PaxosEarly, OfEqualStampsTheLowerMemberIsFirst) {
  Node node;
  ASSERT_TRUE(node.comes(10, 2, 1, 0));
  ASSERT_TRUE(node.comes(10, 1, 1, 0));
  EXPECT_EQ(node.told_by(10), "1:1 2:1");
}

TEST(PaxosEarly, OneThatComesTooLateIsToldAtOnceAndCounted) {
  Node node;
  ASSERT_TRUE(node.comes(50, 0, 1, 0));
  ASSERT_TRUE(node.comes(150, 1, 1, 120));
  EXPECT_EQ(node.told_by(170), "0:1 1:1");
  ASSERT_TRUE(node.comes(180, 0, 2, 110));
  EXPECT_EQ(node.told_by(180), "0:2");
  EXPECT_EQ(node.counted("opt_late"), 1U);
}

TEST(PaxosEarly, WhatASenderSentBehindALostUnitWaitsForIt) {
  Node node;
  ASSERT_TRUE(node.comes(10, 0, 2, 0));
  ASSERT_TRUE(node.comes(20, 1, 1, 5));
  EXPECT_EQ(node.told_by(1'000), "1:1");
  EXPECT_EQ(node.early.next_at(), std::nullopt);
  // The lost unit gets its place, and is announced at the same time.
  EXPECT_FALSE(node.early.is_told(0, 1));
  EXPECT_EQ(node.early.take_next(0).stamp, 0U);
  EXPECT_EQ(node.early.tell(0, 0), 2U);
  ++node.numbers[0];
  EXPECT_EQ(node.told_by(1'000), "0:2");
  EXPECT_EQ(node.taken(1'001, 0, 1, 0), wire::Drop::duplicate) << "it was told";
  ASSERT_TRUE(node.comes(1'001, 0, 4, 0));
  EXPECT_EQ(node.taken(1'002, 0, 4, 0), wire::Drop::duplicate) << "it waits already";
}

TEST(PaxosEarly, MistakesAreCountedByPlacesAndInversionsByNeighbours) {
  Node node;
  ASSERT_TRUE(node.comes(10, 0, 1, 0));
  ASSERT_TRUE(node.comes(10, 1, 1, 1));
  ASSERT_TRUE(node.comes(10, 2, 1, 2));
  ASSERT_EQ(node.told_by(100), "0:1 1:1 2:1");
  EXPECT_EQ(node.early.placed(2, 1), 3U);
  EXPECT_EQ(node.early.placed(0, 2), 1U);
  EXPECT_EQ(node.early.placed(1, 3), 2U);
  EXPECT_EQ(node.counted("opt_mistakes"), 3U) << "one is out of its place, and all others with it";
  EXPECT_EQ(node.counted("opt_inversions"), 1U);
}

TEST(PaxosEarly, WhatComesTwiceTeachesNothingOfHowLongPacketsTake) {
  Node node;
  ASSERT_TRUE(node.comes(10, 0, 2, 0));
  EXPECT_EQ(node.counted("opt_wait_us"), 10U);
  EXPECT_EQ(node.taken(500, 0, 2, 0), wire::Drop::duplicate);
  EXPECT_EQ(node.counted("opt_wait_us"), 10U);
  ASSERT_TRUE(node.comes(600, 0, 1, 0));  // the unit was lost and sent again
  EXPECT_EQ(node.counted("opt_wait_us"), 10U);
  ASSERT_TRUE(node.comes(620, 0, 3, 600));
  EXPECT_EQ(node.counted("opt_wait_us"), 20U);
}

TEST(PaxosEarly, NothingIsLateForWhatWasToldInTheViewBefore) {
  Node node;
  ASSERT_TRUE(node.comes(210, 2, 1, 200));
  ASSERT_EQ(node.told_by(1'000), "2:1");
  node.early.begin_view(3);
  node.numbers[2] = 0;
  ASSERT_TRUE(node.comes(1'010, 0, 1, 100));
  EXPECT_EQ(node.told_by(2'000), "0:1");
  EXPECT_EQ(node.counted("opt_late"), 0U);
  ASSERT_TRUE(node.comes(2'010, 1, 1, 90));
  EXPECT_EQ(node.told_by(3'000), "1:1");
  EXPECT_EQ(node.counted("opt_late"), 1U);
}

TEST(PaxosEarly, AnotherViewForgetsWhatHasNoPlace) {
  Node node;
  ASSERT_TRUE(node.comes(10, 0, 1, 0));
  ASSERT_TRUE(node.comes(10, 1, 1, 1));
  ASSERT_TRUE(node.comes(10, 1, 3, 2));
  ASSERT_EQ(node.told_by(100), "0:1 1:1");
  EXPECT_EQ(node.early.placed(0, 1), 1U);
  node.early.begin_view(2);
  EXPECT_EQ(node.counted("opt_void"), 1U);
  EXPECT_FALSE(node.early.is_told(0, 1));
  EXPECT_EQ(node.early.next_at(), std::nullopt);
  node.numbers[0] = node.numbers[1] = 0;
  ASSERT_TRUE(node.comes(200, 1, 1, 190));
  EXPECT_EQ(node.told_by(1'000), "1:1");
  node.early.check_invariants();
}

TEST(PaxosEarly, ClocksGoByTheLargestStampThatCame) {
  Early early{Options{}};
  early.begin_view(2);
  EXPECT_EQ(early.stamp(at_us(0)), stamp_us(0));
  EXPECT_EQ(early.stamp(at_us(0)), stamp_us(0) + 1) << "no two are equal";
  // A timestamp of a clock that is an hour ahead. As far as this node knows, the unit took no time.
  const std::uint64_t theirs = stamp_us(3'600'000'000);
  EXPECT_EQ(early.see(at_us(10), theirs), theirs);
  EXPECT_GT(early.stamp(at_us(10)), theirs);
  EXPECT_LE(early.due(theirs), at_us(10));
  Early other{Options{}};
  other.begin_view(2);
  other.see(at_us(0), stamp_us(0));
  EXPECT_GT(other.stamp(at_us(0)), stamp_us(0)) << "whatever comes later has a later one";
  // The sender of this unit does not know the clock that is an hour ahead. So the unit is announced
  // at once, and its delay is no measurement of the network.
  const std::uint64_t late = early.see(at_us(20), stamp_us(15));
  ASSERT_EQ(early.take(at_us(20), 0, 1, {late, Service::agreed, {}}, false), wire::Drop::none);
  EXPECT_EQ(early.next(at_us(20)), 0U);
  EXPECT_LE(early.due(theirs), at_us(10));
}

TEST(PaxosEarly, WhatComesTooLateForAnybodyToWaitForItSaysNothingOfOthers) {
  const Duration most = Options{}.early_wait_max;
  for (const std::int64_t ns : {most.ns - 1'000, most.ns, most.ns + 1'000}) {
    Early early{Options{}};
    early.begin_view(2);
    const Instant now = at_us(0) + Duration{ns};
    ASSERT_EQ(early.take(now, 0, 1, {early.see(now, stamp_us(0)), Service::agreed, {}}, false),
              wire::Drop::none);
    const bool waits = early.due(stamp_us(0)) > at_us(0);
    EXPECT_EQ(waits, ns < most.ns) << ns;
  }
}

// Very old timestamps are raised. Otherwise the units of their sender would come before the units
// of all others.
TEST(PaxosEarly, AClockThatIsFarBehindHasLittleOfIt) {
  Early early{Options{}};
  early.begin_view(2);
  const std::uint64_t honest = early.see(at_us(0), stamp_us(0));
  EXPECT_EQ(early.see(at_us(900'000), stamp_us(1)), stamp_us(1)) << "full links take long, too";
  const std::uint64_t old = early.see(at_us(1'100'000), 1);
  EXPECT_GT(old, honest);
  EXPECT_EQ(early.see(at_us(1'100'000), 1), old) << "and it moves no clock";
}

// Timestamps far in the future move no clock. Otherwise all later timestamps would be equal, and
// the units of the lowest member would always be the first.
TEST(PaxosEarly, ClocksAreNotMovedToTheEndOfAllStamps) {
  for (const std::uint64_t stamp : {wire::kEarlyStampMax, wire::kEarlyStampMax / 2 + 1}) {
    SCOPED_TRACE(stamp);
    Early early{Options{}};
    early.begin_view(2);
    const std::uint64_t seen = early.see(at_us(0), stamp);
    EXPECT_LE(seen, stamp_us(0));
    EXPECT_LE(early.due(seen), at_us(0)) << "nobody waits until then";
    EXPECT_LE(early.stamp(at_us(5)), stamp_us(5) + 1);
  }
  Early early{Options{}};
  early.begin_view(2);
  early.see(at_us(0), wire::kEarlyStampMax / 2);
  const std::uint64_t next = early.stamp(at_us(5));
  EXPECT_LT(next, early.stamp(at_us(6))) << "beyond it they go on as ever";
  EXPECT_EQ(early.see(at_us(6), next), next);
}

TEST(PaxosEarly, MemoryIsBounded) {
  Options options;
  options.member_window = 64;
  options.max_gap = 256;
  Node node(options);
  EXPECT_EQ(node.taken(10, 0, 65, 0), wire::Drop::out_of_window)
      << "nobody has more than its window under way";
  std::size_t taken = 0;
  for (std::size_t index = 0; index < 3; ++index) {
    for (std::uint64_t number = 2; number <= 64; ++number) {
      if (node.comes(10, index, number, static_cast<std::int64_t>(number))) ++taken;
    }
  }
  EXPECT_EQ(taken, 64U) << "of all together no more than a quarter of the gap waits";
  node.early.check_invariants();
  EXPECT_EQ(node.taken(10, 2, 64, 0), wire::Drop::out_of_window);
}

}  // namespace
}  // namespace peal::order::paxos::test
