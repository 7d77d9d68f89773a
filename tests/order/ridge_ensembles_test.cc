// SPDX-License-Identifier: Apache-2.0
// An engine with several ensembles, on the network of the paper's formulas: the cost of a value,
// its delay when other ensembles have nothing to order, and the silence of idle ensembles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "ridge_slots.h"

namespace peal::order::ridge::test {
namespace {

struct Case {
  std::uint32_t nodes, faults;
};
constexpr Case kCases[] = {{8, 1}, {16, 1}, {32, 2}};
constexpr std::int64_t kDelay = 10;

/// With one ensemble: slots until the last node has delivered a value.
std::int64_t formula(const Case& c) {
  return (c.faults + 2) * kDelay + (c.nodes - c.faults - 1) - 2;
}

Slots::Shape shape(const Case& c, std::uint32_t ensembles) {
  return {c.nodes, c.faults, kDelay, Dissemination::distributors, ensembles};
}

class RidgeEnsembles : public ::testing::TestWithParam<std::uint32_t> {};

// The first value after a silence waits until each other ensemble has decided an empty value. An
// empty value announces that its ensemble has no other value up to a key. This key lies some time
// ahead, so the values of that time are as fast as with one ensemble.
TEST_P(RidgeEnsembles, OnlyTheFirstValueAfterASilenceWaitsForTheOthers) {
  for (const Case& c : kCases) {
    Slots slots(shape(c, GetParam()));
    slots.settle();
    slots.send(1);
    EXPECT_GT(slots.latencies().front(), formula(c));
    EXPECT_LE(slots.latencies().front(), 2 * formula(c)) << c.nodes << " nodes";
    EXPECT_EQ(slots.copies(), c.nodes - 1);
    for (int i = 0; i < 2; ++i) {
      slots.send(1);
      EXPECT_EQ(slots.latencies().front(), formula(c)) << c.nodes << " nodes";
      EXPECT_EQ(slots.copies(), c.nodes - 1) << "nothing takes no slots";
    }
  }
}

// While only a few units are in progress, they all use the first ensemble, at the cost of a single
// ensemble.
TEST_P(RidgeEnsembles, AFewValuesGoTheWaysOfTheFirst) {
  const Case c = kCases[0];
  Slots slots(shape(c, GetParam()));
  slots.settle();
  for (int i = 0; i < 3; ++i) slots.send(1);
  slots.send(12);
  EXPECT_EQ(*std::max_element(slots.latencies().begin(), slots.latencies().end()), formula(c));
  EXPECT_EQ(slots.copies(), 12 * (c.nodes - 1));
}

// Under load, values are spread over all ensembles: each value is first sent to the coordinator of
// one ensemble. All nodes deliver all values.
TEST_P(RidgeEnsembles, ManyValuesSpreadAndComeTogetherAgain) {
  const Case c = kCases[0];
  Slots slots(shape(c, GetParam()));
  slots.settle();
  slots.send(1);
  slots.send(600);
  EXPECT_GT(slots.copies(), 600 * (c.nodes - 1)) << "some had to go to another coordinator";
  EXPECT_LE(slots.copies(), 600 * c.nodes);
  EXPECT_GE(600.0 / static_cast<double>(slots.span()), 0.65) << "values per slot";
}

// In an idle cluster, each ensemble sends its heartbeats, and nothing else.
TEST_P(RidgeEnsembles, NothingIsProposedWhileNobodyOrders) {
  const Case c = kCases[0];
  Slots one(shape(c, 1));
  one.settle();
  Slots several(shape(c, GetParam()));
  several.settle();
  several.send(3);
  several.rest(2'000);
  EXPECT_EQ(several.rest(5'000), GetParam() * one.rest(5'000));
}

INSTANTIATE_TEST_SUITE_P(Numbers, RidgeEnsembles, ::testing::Values(2U, 3U, 4U));

}  // namespace
}  // namespace peal::order::ridge::test
