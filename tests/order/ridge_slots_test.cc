// SPDX-License-Identifier: Apache-2.0
// The formulas of the Ridge paper, confirmed by the engine itself on the paper's simple network.
#include "ridge_slots.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace peal::order::ridge::test {
namespace {

std::int64_t formula(const Slots::Shape& shape) {
  const std::int64_t chain = shape.faults + 1;
  return (chain + 1) * shape.delay + (shape.nodes - chain) - 2;
}

constexpr Slots::Shape kShapes[]{{8, 1, 10}, {16, 1, 50}, {32, 2, 50}, {64, 2, 133}, {100, 1, 100}};

TEST(RidgeSlots, OneValueTakesAsLongAsThePaperSays) {
  for (const Slots::Shape& shape : kShapes) {
    Slots slots(shape);
    slots.settle();
    slots.send(1);
    EXPECT_EQ(slots.latencies().at(0), formula(shape)) << shape.nodes << " nodes";
  }
}

TEST(RidgeSlots, AValueIsSentToEachNodeOnce) {
  for (const Slots::Shape& shape : kShapes) {
    Slots slots(shape);
    slots.settle();
    slots.send(1);
    EXPECT_EQ(slots.copies(), shape.nodes - 1) << shape.nodes << " nodes";
  }
}

// The number of transmissions does not depend on the sender: the value goes to the coordinator, and
// comes back to its sender without its bytes.
TEST(RidgeSlots, AValueOfAnyNodeIsSentToEachOtherOnce) {
  for (const Slots::Shape& shape : {kShapes[0], kShapes[1], kShapes[2]}) {
    Slots slots(shape);
    slots.settle();
    const std::uint32_t second = 2;  // the second acceptor of the chain
    for (const std::uint32_t sender : {second, shape.nodes - 1, shape.nodes}) {
      slots.send(1, sender);
      EXPECT_EQ(slots.copies(), shape.nodes - 1) << "node " << sender << " of " << shape.nodes;
      EXPECT_EQ(slots.latencies().at(0), shape.delay + formula(shape));
    }
  }
}

TEST(RidgeSlots, OneValueInEachSlotIsCarriedWithHardlyAnyWaiting) {
  for (const Slots::Shape& shape : {kShapes[0], kShapes[1], kShapes[2]}) {
    constexpr std::uint32_t kValues = 900;
    Slots slots(shape);
    slots.settle();
    slots.send(kValues);
    const std::int64_t worst =
        *std::max_element(slots.latencies().begin(), slots.latencies().end());
    EXPECT_LE(worst, formula(shape) + 4) << shape.nodes << " nodes";
    EXPECT_LE(slots.span(), kValues - 1 + 4) << shape.nodes << " nodes: one value in each slot";
    EXPECT_EQ(slots.copies(), static_cast<std::uint64_t>(kValues) * (shape.nodes - 1));
  }
}

// ---- the ring ----

std::int64_t round_trip(const Slots::Shape& shape) { return (shape.nodes - 1) * shape.delay; }

/// Each measurement ends before a heartbeat could carry information.
constexpr Dissemination kRing = Dissemination::ring;
constexpr Slots::Shape kRings[]{{2, 0, 10, kRing},
                                {8, 1, 10, kRing},
                                {16, 1, 50, kRing},
                                {32, 2, 10, kRing},
                                {100, 1, 8, kRing}};

TEST(RidgeSlotsInARing, OneValueTakesAStepForEachNodeAndIsSentToEachOnce) {
  for (const Slots::Shape& shape : kRings) {
    Slots slots(shape);
    slots.settle();
    slots.send(1);
    EXPECT_EQ(slots.latencies().at(0), round_trip(shape)) << shape.nodes << " nodes";
    EXPECT_EQ(slots.copies(), shape.nodes - 1) << shape.nodes << " nodes";
  }
}

TEST(RidgeSlotsInARing, WithFewNodesTheWordThatItIsDecidedTakesLonger) {
  // Three steps: the value goes to the second acceptor, this acceptor's vote goes to the
  // coordinator, and the decision goes to the other nodes.
  Slots slots({3, 1, 10, kRing});
  slots.settle();
  slots.send(1);
  EXPECT_EQ(slots.latencies().at(0), 3 * 10);
}

TEST(RidgeSlotsInARing, OneValueInEachSlotIsCarriedWithoutWaiting) {
  for (const Slots::Shape& shape : {kRings[1], kRings[3]}) {
    constexpr std::uint32_t kValues = 600;
    Slots slots(shape);
    slots.settle();
    slots.send(kValues);
    const std::int64_t worst =
        *std::max_element(slots.latencies().begin(), slots.latencies().end());
    EXPECT_EQ(worst, round_trip(shape)) << shape.nodes << " nodes";
    EXPECT_EQ(slots.span(), kValues - 1) << shape.nodes << " nodes: one value in each slot";
    EXPECT_EQ(slots.copies(), static_cast<std::uint64_t>(kValues) * (shape.nodes - 1));
  }
}

}  // namespace
}  // namespace peal::order::ridge::test
