// SPDX-License-Identifier: Apache-2.0
// Several ensembles that merge in rotation, on the network of the paper's formulas: their skips,
// what waits for these, and an ensemble that orders more than its share.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>

#include "ridge_slots.h"

namespace peal::order::ridge::test {
namespace {

constexpr std::uint32_t kTurnNodes = 8;
constexpr std::uint32_t kTurnFaults = 1;
constexpr std::int64_t kRotationDelay = 10;
constexpr std::uint32_t kInTurn = 3;
/// Slots of ten microseconds: of a tick, and of one place.
constexpr std::int64_t kTick = 100;
constexpr std::int64_t kPlace = 2;
/// Until the last node has a value of the only ensemble.
constexpr std::int64_t kAlone =
    (kTurnFaults + 2) * kRotationDelay + (kTurnNodes - kTurnFaults - 1) - 2;

Slots::Shape rotation(Merging merging = Merging::rotation,
                      Dissemination dissemination = Dissemination::distributors) {
  return {kTurnNodes, kTurnFaults, kRotationDelay, dissemination, kInTurn, merging};
}

double mean(const std::vector<std::int64_t>& latencies) {
  return static_cast<double>(std::accumulate(latencies.begin(), latencies.end(), std::int64_t{0})) /
         static_cast<double>(latencies.size());
}

/// The skips of each ensemble since the empty value with this index, in its order.
std::map<std::uint64_t, std::vector<Slots::Nothing>> skips(const Slots& slots, std::size_t from) {
  std::map<std::uint64_t, std::vector<Slots::Nothing>> by_ring;
  for (std::size_t i = from; i < slots.nothings().size(); ++i) {
    by_ring[slots.nothings()[i].cluster].push_back(slots.nothings()[i]);
  }
  return by_ring;
}

// All have skipped to one place, and then it is the first one's turn. A value of the last one waits
// until the others have skipped again: at most a tick, and until that skip is decided.
TEST(RidgeRotation, AValueWaitsForItsTurn) {
  Slots slots(rotation());
  slots.settle();
  slots.send(2);
  slots.send(40, 1, kTick + 3);
  EXPECT_EQ(mean(slots.latencies()), kAlone);
  slots.send(40, kInTurn, kTick + 3);
  const auto [least, most] =
      std::minmax_element(slots.latencies().begin(), slots.latencies().end());
  EXPECT_GE(*least, kAlone);
  EXPECT_LE(*most, kAlone + kTick + kAlone);
  EXPECT_GT(mean(slots.latencies()), kAlone + kTick / 4.0);
}

// While something is ordered, each ensemble reaches the same place at each tick, however many
// values it ordered since the last: it skips what it lacks of fifty.
TEST(RidgeRotation, WhatIsSkippedIsWhatWasNotOrdered) {
  Slots slots(rotation());
  slots.settle();
  slots.send(10, 1, 20);
  const std::size_t from = slots.nothings().size();
  const std::uint32_t loads[] = {30, 5, 20};  // in three to five ticks
  for (std::uint32_t ring = 0; ring < kInTurn; ++ring) slots.send(loads[ring], ring + 1, 12);
  const auto rings = skips(slots, from);
  ASSERT_EQ(rings.size(), kInTurn);
  for (const auto& [cluster, its] : rings) {
    ASSERT_GT(its.size(), 4U);
    for (std::size_t i = 1; i < its.size(); ++i) {
      EXPECT_EQ(its[i].slot % kTick, 0);
      EXPECT_EQ(its[i].key - its[i - 1].key,
                static_cast<std::uint64_t>((its[i].slot - its[i - 1].slot) / kPlace));
    }
    const auto& first = rings.begin()->second.front();
    EXPECT_EQ(its.front().key - first.key,
              static_cast<std::uint64_t>((its.front().slot - first.slot) / kPlace));
  }
}

// One ensemble orders a value in each slot, twice the rate at which the others skip: rotation
// limits it to that rate, the merge by keys does not.
TEST(RidgeRotation, WhoOrdersMoreThanItsShareWaitsForTheOthers) {
  for (const Merging merging : {Merging::rotation, Merging::keys}) {
    Slots slots(rotation(merging));
    slots.settle();
    slots.send(1);
    slots.send(900);
    const double values_per_slot = 900.0 / static_cast<double>(slots.span());
    if (merging == Merging::rotation) {
      EXPECT_LE(values_per_slot, 1.1 / kPlace);
      EXPECT_GE(values_per_slot, 0.9 / kPlace);
      EXPECT_GT(slots.latencies().back(), 300);
    } else {
      EXPECT_GE(values_per_slot, 0.64);
    }
    // Soon after it nothing is left of that.
    slots.rest(3 * kTick);
    slots.send(1);
    EXPECT_LE(slots.latencies().front(), kAlone + kTick + kAlone);
  }
}

// It may order half a value per slot for any time.
TEST(RidgeRotation, WhoOrdersItsShareDoesNotWaitLonger) {
  Slots slots(rotation());
  slots.settle();
  slots.send(1);
  slots.send(1'000, 1, kPlace + 1);
  EXPECT_LE(*std::max_element(slots.latencies().begin(), slots.latencies().end()),
            kAlone + kTick + kAlone);
}

// If a window allows less than an ensemble's share, its members can keep it full all the time. It
// skips the rest nevertheless, one skip after the other.
TEST(RidgeRotation, AFullWindowDoesNotKeepItFromSkipping) {
  constexpr std::int64_t kFar = 150;
  constexpr std::int64_t kWay = (kTurnFaults + 2) * kFar + kTurnNodes;
  Slots slots(
      {kTurnNodes, kTurnFaults, kFar, Dissemination::distributors, kInTurn, Merging::rotation});
  slots.settle();
  slots.send(1);
  const std::size_t from = slots.nothings().size();
  slots.send(600, 1, 0);
  EXPECT_LT(600.0 / static_cast<double>(slots.span()), 0.8 / kPlace) << "the window is full";
  std::vector<Slots::Nothing> its;
  for (std::size_t i = from; i < slots.nothings().size(); ++i) {
    if (slots.nothings()[i].node == 1) its.push_back(slots.nothings()[i]);
  }
  ASSERT_GT(its.size(), 4U);
  for (std::size_t i = 1; i < its.size(); ++i) {
    EXPECT_LE(its[i].slot - its[i - 1].slot, kWay + kTick);
  }
}

// A sender's values are all of one ensemble, whose coordinator may be the sender.
TEST(RidgeRotation, EachSenderHasARing) {
  for (const Dissemination ways : {Dissemination::distributors, Dissemination::ring}) {
    Slots slots(rotation(Merging::rotation, ways));
    slots.settle();
    for (std::uint32_t sender = 1; sender <= kInTurn; ++sender) {
      slots.send(40, sender, 10);
      EXPECT_EQ(slots.copies(), 40 * (kTurnNodes - 1)) << "it coordinates its ring itself";
    }
    slots.send(40, kInTurn + 2, 10);
    // One more, to the second ensemble's coordinator; and one less if the sender distributes.
    if (ways == Dissemination::ring) {
      EXPECT_EQ(slots.copies(), 40 * kTurnNodes);
    } else {
      EXPECT_LE(slots.copies(), 40 * kTurnNodes - 9) << "nine, before it would be ahead of others";
      EXPECT_GE(slots.copies(), 40 * (kTurnNodes - 1));
    }
  }
}

// A new coordinator of an ensemble skips to where the others are, in one instance, and then as
// before; and the former one skips no more.
TEST(RidgeRotation, AnotherCoordinatorGoesOnWhereTheOthersAre) {
  Slots slots(rotation());
  slots.settle();
  slots.send(10, 1, 20);
  std::uint64_t second = 0;  // the ring that n2 coordinates
  for (const auto& each : slots.nothings()) {
    if (each.node == 2) second = each.cluster;
  }
  ASSERT_NE(second, 0U);
  const std::size_t before = slots.nothings().size();
  slots.crash(2);
  slots.send(20, 1, 20);
  EXPECT_LE(slots.latencies().back(), kAlone + kTick + kAlone) << "no wait outlives the election";
  const auto rings = skips(slots, before);
  ASSERT_TRUE(rings.contains(second));
  const auto& its = rings.at(second);
  EXPECT_TRUE(std::all_of(its.begin(), its.end(), [](const auto& each) { return each.node != 2; }));
  std::uint64_t others = 0;
  for (const auto& [cluster, skipped] : rings) {
    if (cluster != second) others = std::max(others, skipped.back().key);
  }
  EXPECT_EQ(its.back().key, others);
}

// An ensemble's history holds very many skips, and the log is shared: it does not keep for them
// what another ensemble has ordered since.
TEST(RidgeRotation, TheLogDoesNotGrowWhereOneEnsembleOnlySkips) {
  Slots slots(rotation());
  slots.settle();
  slots.send(2'000, 1, kTick);
  const std::size_t before = slots.records_of(1);
  EXPECT_GT(before, 2'000U) << "a vote for each value, and for each skip";
  slots.send(4'000, 1, kTick);
  EXPECT_LT(slots.records_of(1), before + 1'000);
}

// An idle cluster stays idle: heartbeats of each ensemble, and nothing else.
TEST(RidgeRotation, NothingIsSkippedWhileNobodyOrders) {
  Slots by_keys(rotation(Merging::keys));
  by_keys.settle();
  Slots slots(rotation());
  slots.settle();
  slots.send(3);
  slots.rest(10'000);
  const std::size_t before = slots.nothings().size();
  EXPECT_GT(before, 0U);
  EXPECT_EQ(slots.rest(5'000), by_keys.rest(5'000));
  EXPECT_EQ(slots.nothings().size(), before);
}

}  // namespace
}  // namespace peal::order::ridge::test
