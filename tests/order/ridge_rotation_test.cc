// SPDX-License-Identifier: Apache-2.0
// Several ensembles that merge in rotation, on the network of the paper's formulas: their skips,
// the values that wait for skips, and an ensemble that orders more than its share.
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
/// The time between two ticks, and the time for one place of the rotation, in slots of 10 µs.
constexpr std::int64_t kTick = 100;
constexpr std::int64_t kPlace = 2;
/// With one ensemble: slots until the last node has delivered a value.
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

/// The skips of each ensemble, in their order. `from`: index of the first empty value that counts.
std::map<std::uint64_t, std::vector<Slots::Nothing>> skips(const Slots& slots, std::size_t from) {
  std::map<std::uint64_t, std::vector<Slots::Nothing>> by_ring;
  for (std::size_t i = from; i < slots.nothings().size(); ++i) {
    by_ring[slots.nothings()[i].cluster].push_back(slots.nothings()[i]);
  }
  return by_ring;
}

// All ensembles have skipped to the same place, so the first ensemble has the next turn. A value of
// the last ensemble waits until the other ensembles have skipped again. This takes at most the time
// to the next tick, and then the time until these skips are decided.
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

// While values are ordered, all ensembles reach the same place at each tick: 50 places after that
// of the previous tick. An ensemble skips those of the 50 places for which it has ordered no value.
TEST(RidgeRotation, WhatIsSkippedIsWhatWasNotOrdered) {
  Slots slots(rotation());
  slots.settle();
  slots.send(10, 1, 20);
  const std::size_t from = slots.nothings().size();
  const std::uint32_t loads[] = {30, 5, 20};  // numbers of values of the senders
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

// The sender of one ensemble sends a value in each slot. The other ensembles skip at half that
// rate. In rotation, the ensemble cannot order more than the others skip. In the merge by keys it
// can.
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
    // Three ticks after the load, a value is as fast as usual again.
    slots.rest(3 * kTick);
    slots.send(1);
    EXPECT_LE(slots.latencies().front(), kAlone + kTick + kAlone);
  }
}

// An ensemble may order up to half a value per slot for any length of time.
TEST(RidgeRotation, WhoOrdersItsShareDoesNotWaitLonger) {
  Slots slots(rotation());
  slots.settle();
  slots.send(1);
  slots.send(1'000, 1, kPlace + 1);
  EXPECT_LE(*std::max_element(slots.latencies().begin(), slots.latencies().end()),
            kAlone + kTick + kAlone);
}

// If the window allows less than an ensemble's share, the members can keep the window full all the
// time. The ensemble skips the rest of its places nevertheless, with one skip in progress at a
// time.
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

// One ensemble orders all values of a sender. The sender may be the coordinator of this ensemble.
TEST(RidgeRotation, EachSenderHasARing) {
  for (const Dissemination ways : {Dissemination::distributors, Dissemination::ring}) {
    Slots slots(rotation(Merging::rotation, ways));
    slots.settle();
    for (std::uint32_t sender = 1; sender <= kInTurn; ++sender) {
      slots.send(40, sender, 10);
      EXPECT_EQ(slots.copies(), 40 * (kTurnNodes - 1)) << "it coordinates its ring itself";
    }
    slots.send(40, kInTurn + 2, 10);
    // Compared with the values above, each value takes one more transmission, to the second
    // ensemble's coordinator. It takes one less if the sender is the distributor of the value.
    if (ways == Dissemination::ring) {
      EXPECT_EQ(slots.copies(), 40 * kTurnNodes);
    } else {
      EXPECT_LE(slots.copies(), 40 * kTurnNodes - 9) << "nine, before it would be ahead of others";
      EXPECT_GE(slots.copies(), 40 * (kTurnNodes - 1));
    }
  }
}

// A new coordinator of an ensemble skips, in one instance, to the place of the other ensembles, and
// then continues as usual. The former coordinator skips nothing more.
TEST(RidgeRotation, AnotherCoordinatorGoesOnWhereTheOthersAre) {
  Slots slots(rotation());
  slots.settle();
  slots.send(10, 1, 20);
  std::uint64_t second = 0;  // the ensemble that node 2 coordinates
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

// The history of an ensemble may hold very many skips. The log, which all ensembles share, must not
// keep the later records of another ensemble because of these skips.
TEST(RidgeRotation, TheLogDoesNotGrowWhereOneEnsembleOnlySkips) {
  Slots slots(rotation());
  slots.settle();
  slots.send(2'000, 1, kTick);
  const std::size_t before = slots.records_of(1);
  EXPECT_GT(before, 2'000U) << "a vote for each value, and for each skip";
  slots.send(4'000, 1, kTick);
  EXPECT_LT(slots.records_of(1), before + 1'000);
}

// In an idle cluster, each ensemble sends its heartbeats, and nothing else.
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
