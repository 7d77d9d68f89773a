// SPDX-License-Identifier: Apache-2.0
// Single parts of an engine with several ensembles: a node's own units, their timestamps, the order
// of each sender's units, and the line of the rotation.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "order/ridge/key_clock.h"
#include "order/ridge/own_units.h"
#include "order/ridge/rotation_line.h"
#include "order/ridge/sender_order.h"

namespace peal::order::ridge {
namespace {

Instant at_us(std::int64_t us) { return Instant{us * 1'000}; }

TEST(RidgeOwnUnits, GetTheirPlacesInTheirOrderOnly) {
  OwnUnits own(3);
  own.add({{}, Service::agreed, 0});
  own.add({{}, Service::safe, 0});
  EXPECT_FALSE(own.full());
  own.add({{}, Service::agreed, 2});
  EXPECT_TRUE(own.full());
  EXPECT_FALSE(own.place(2));
  EXPECT_TRUE(own.place(1));
  EXPECT_FALSE(own.place(1));
  EXPECT_EQ(own.first_number(), 2U);
  EXPECT_EQ(own.next_number(), 4U);
  EXPECT_EQ(own.at(2).service, Service::safe);
  EXPECT_EQ(own.last().domain, 2);
  own.check_invariants();
  own.clear();
  EXPECT_TRUE(own.empty());
  EXPECT_FALSE(own.place(1));
  EXPECT_EQ(own.next_number(), 1U);
}

TEST(RidgeOwnUnits, AreHandedOverAgainFromTheFirstOnUnlessTheyHaveAPlace) {
  OwnUnits own(8);
  for (int i = 0; i < 4; ++i) own.add({});
  EXPECT_TRUE(own.place(1));
  EXPECT_FALSE(own.take_back(1)) << "it has a place";
  EXPECT_FALSE(own.take_back(5)) << "there is none";
  EXPECT_TRUE(own.take_back(4));
  EXPECT_TRUE(own.take_back(2));
  EXPECT_TRUE(own.take_back(2)) << "by another ensemble";
  EXPECT_TRUE(own.take_back(3));
  EXPECT_EQ(own.again(), 3U);
  EXPECT_EQ(own.first_again(), 2U);
  EXPECT_TRUE(own.place(2)) << "another ensemble ordered it meanwhile";
  EXPECT_EQ(own.first_again(), 3U);
  own.handed_again();
  EXPECT_EQ(own.first_again(), 4U);
  own.check_invariants();
  own.clear();
  EXPECT_EQ(own.again(), 0U);
}

TEST(RidgeKeyClock, IsAheadOfAllKeysThatItHasSeen) {
  KeyClock keys;
  EXPECT_EQ(keys.at(at_us(100)), 100U);
  keys.see(at_us(100), 99);
  EXPECT_EQ(keys.at(at_us(100)), 100U);
  keys.see(at_us(100), 100);
  EXPECT_EQ(keys.at(at_us(100)), 101U);
  keys.see(at_us(100), 500);
  EXPECT_EQ(keys.at(at_us(110)), 511U);
  keys.see(at_us(110), wire::kStampMax + 1);
  EXPECT_EQ(keys.at(at_us(110)), 511U) << "no timestamp";
  keys.see(at_us(110), wire::kStampMax);
  EXPECT_EQ(keys.at(at_us(110)), wire::kStampMax + 1);
}

TEST(RidgeKeyClock, GivesEachUnitATimestampOfItsOwn) {
  KeyClock keys;
  EXPECT_EQ(keys.stamp(at_us(100)), 100U);
  EXPECT_EQ(keys.stamp(at_us(100)), 101U);
  EXPECT_EQ(keys.stamp(at_us(200)), 200U);
  EXPECT_EQ(keys.last_stamp(), 200U);
}

TEST(RidgeSenderOrder, KeepsUnitsUntilAllEarlierOnesHaveTheirPlaces) {
  SenderOrder<char> senders(4);
  senders.clear(2);
  EXPECT_EQ(senders.members(), 2U);
  EXPECT_TRUE(senders.keep(1, 3, 'c'));
  EXPECT_TRUE(senders.keep(1, 2, 'b'));
  EXPECT_TRUE(senders.take_next(1).empty()) << "the first one is missing";
  senders.place(1, 1);
  EXPECT_TRUE(senders.take_next(0).empty()) << "of another member";
  EXPECT_EQ(senders.take_next(1).mapped(), 'b');
  EXPECT_EQ(senders.placed(1), 2U);
  EXPECT_EQ(senders.take_next(1).mapped(), 'c');
  EXPECT_TRUE(senders.take_next(1).empty());
  EXPECT_EQ(senders.placed(1), 3U);
  senders.clear(1);
  EXPECT_EQ(senders.placed(0), 0U);
}

TEST(RidgeSenderOrder, KeepsNoUnitTwiceNorOneThatIsTooFarAhead) {
  SenderOrder<char> senders(4);
  senders.clear(1);
  senders.place(0, 10);
  EXPECT_FALSE(senders.keep(0, 10, 'a'));
  EXPECT_FALSE(senders.keep(0, 15, 'a'));
  EXPECT_TRUE(senders.keep(0, 14, 'a'));
  EXPECT_FALSE(senders.keep(0, 14, 'b'));
  EXPECT_TRUE(senders.keep(0, 11, 'c'));
  EXPECT_EQ(senders.take_next(0).mapped(), 'c');
  EXPECT_TRUE(senders.take_next(0).empty());
}

TEST(RidgeRotationLine, AdvancesWithTheTimeAndToSkipsThatItHasSeen) {
  RotationLine line;
  EXPECT_EQ(line.place(at_us(200)), 10U);
  line.see_nothing(at_us(200), 9);
  EXPECT_EQ(line.ahead(), 0);
  line.see_nothing(at_us(200), 15);
  EXPECT_EQ(line.place(at_us(220)), 16U);
  line.see_nothing(at_us(220), wire::kStampMax + 1);
  EXPECT_EQ(line.ahead(), 5);
}

TEST(RidgeRotationLine, TicksAtWholeMillisecondsAndSleepsAfterASilence) {
  RotationLine line;
  EXPECT_FALSE(line.awake(at_us(100)));
  line.see_item(at_us(100));
  EXPECT_TRUE(line.awake(at_us(50'099)));
  EXPECT_FALSE(line.awake(at_us(50'100)));
  EXPECT_EQ(line.next_tick(), std::nullopt);
  line.keep_ticking(at_us(100));
  line.keep_ticking(at_us(999));
  EXPECT_EQ(line.next_tick(), at_us(1'000));
  EXPECT_FALSE(line.tick_due(at_us(999)));
  EXPECT_TRUE(line.tick_due(at_us(1'000)));
  line.keep_ticking(at_us(1'000));
  EXPECT_EQ(line.next_tick(), at_us(2'000));
  line.end_ticks();
  EXPECT_FALSE(line.tick_due(at_us(9'000)));
}

}  // namespace
}  // namespace peal::order::ridge
