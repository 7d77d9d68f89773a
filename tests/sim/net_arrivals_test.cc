// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sim/netmodel/arrivals.h"
#include "sim/netmodel/index_of_latency.h"

// When messages are due, and how long they wait by the formulas of the ToTo paper.

namespace peal::sim {
namespace {

constexpr double kIntervalNs = 1e6;

std::vector<Duration> due_times(Arrivals kind, std::uint64_t burst, std::size_t count) {
  DueTimes times(kind, kIntervalNs, burst);
  Random random(3);
  std::vector<Duration> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(times.next(random));
  return all;
}

TEST(DueTimes, OfEvenArrivalsAreOneInEachInterval) {
  std::int64_t interval = 0;
  for (const Duration due : due_times(Arrivals::even, 1, 1'000)) {
    EXPECT_EQ(due.ns / 1'000'000, interval++);
  }
  interval = 0;
  for (const Duration due : due_times(Arrivals::even, 4, 1'000)) {
    EXPECT_EQ(due.ns / 4'000'000, interval++);
  }
}

TEST(DueTimes, OfPeriodicArrivalsHaveEqualDistances) {
  for (const std::uint32_t burst : {1U, 4U}) {
    const std::vector<Duration> all = due_times(Arrivals::periodic, burst, 1'000);
    EXPECT_GT(all[0].ns, 0);
    EXPECT_LT(all[0].ns, std::int64_t{burst} * 1'000'000);
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_NEAR(static_cast<double>((all[i] - all[i - 1]).ns), kIntervalNs * burst, 1);
    }
  }
}

TEST(DueTimes, OfPoissonArrivalsHaveExponentialDistances) {
  const std::vector<Duration> all = due_times(Arrivals::poisson, 1, 100'000);
  EXPECT_NEAR(static_cast<double>(all.back().ns) / 1e5, kIntervalNs, 0.01 * kIntervalNs);
  for (const double limit : {0.1, 1.0, 3.0}) {
    double longer = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      ASSERT_GE(all[i], all[i - 1]);
      if (static_cast<double>((all[i] - all[i - 1]).ns) > limit * kIntervalNs) ++longer;
    }
    EXPECT_NEAR(longer / 1e5, std::exp(-limit), 0.005) << limit;
  }
}

// ---- the paper's formulas ----

IndexOfLatency always(std::uint32_t members, std::uint32_t index, std::uint32_t concurrent) {
  IndexOfLatency found(members);
  found.add(index, concurrent);
  return found;
}

TEST(IndexOfLatency, CountsIndicesAndConcurrentMembers) {
  IndexOfLatency found(8);
  EXPECT_EQ(found.mean_index(), 0);
  found.add(5, 1);
  found.add(5, 2);
  found.add(6, 1);
  found.add(8, 8);
  EXPECT_EQ(found.messages(), 4U);
  EXPECT_EQ(found.mean_index(), 6);
  EXPECT_EQ(found.mean_concurrent(), 3);
  EXPECT_EQ(found.share(5), 0.5);
  EXPECT_EQ(found.share(6), 0.25);
  EXPECT_EQ(found.share(7), 0);
  // Fewer members had voted than had concurrent messages: some of these voted later.
  found.add(5, 7);
  EXPECT_EQ(found.mean_concurrent(), (12 + 5) / 5.0);
}

TEST(IndexOfLatency, PredictsTheWaitOfThePaper) {
  const Duration interval = milliseconds(160);  // 8 members, 50 messages per second together
  // (5 - 1) / (8 - 1 + 1) of an interval.
  EXPECT_NEAR(
      static_cast<double>(always(8, 5, 1).expected_wait(Arrivals::periodic, interval).ns) / 1e6, 80,
      1e-3);
  // 1/7 + 1/6 + 1/5 + 1/4 of an interval.
  EXPECT_NEAR(
      static_cast<double>(always(8, 5, 1).expected_wait(Arrivals::poisson, interval).ns) / 1e6,
      160 * (1.0 / 7 + 1.0 / 6 + 1.0 / 5 + 1.0 / 4), 1e-3);
  // All members but two have concurrent messages already.
  EXPECT_NEAR(
      static_cast<double>(always(8, 8, 6).expected_wait(Arrivals::poisson, interval).ns) / 1e6,
      160 * (1.0 / 2 + 1.0 / 1), 1e-3);
  EXPECT_EQ(always(8, 5, 5).expected_wait(Arrivals::periodic, interval).ns, 0);
  EXPECT_EQ(always(8, 5, 1).expected_wait(Arrivals::even, interval).ns, 0);
}

TEST(IndexOfLatency, PredictsTheIdealSpeedUpOverWaitingForAll) {
  const struct {
    std::uint32_t members;
    double poisson, periodic;
  } kIdeal[] = {
      {4, 2.20, 1.50}, {6, 2.92, 1.67}, {8, 3.41, 1.75}, {16, 4.58, 1.88}, {32, 5.68, 1.94}};
  for (const auto& [members, poisson, periodic] : kIdeal) {
    const IndexOfLatency majority = always(members, members / 2 + 1, 1);
    const IndexOfLatency all = always(members, members, 1);
    const auto speed_up = [&](Arrivals arrivals) {
      return static_cast<double>(all.expected_wait(arrivals, seconds(1)).ns) /
             static_cast<double>(majority.expected_wait(arrivals, seconds(1)).ns);
    };
    EXPECT_NEAR(speed_up(Arrivals::poisson), poisson, 0.006) << members;
    EXPECT_NEAR(speed_up(Arrivals::periodic), periodic, 0.006) << members;
  }
}

}  // namespace
}  // namespace peal::sim
