// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace peal {
namespace {

TEST(Random, IsSplitMix64) {
  // The published outputs of SplitMix64 for this seed. A simulator seed must keep its meaning.
  Random random(1'234'567);
  EXPECT_EQ(random.next(), 6'457'827'717'110'365'317U);
  EXPECT_EQ(random.next(), 3'203'168'211'198'807'973U);
  EXPECT_EQ(random.next(), 9'817'491'932'198'370'423U);
  EXPECT_EQ(random.next(), 4'593'380'528'125'082'431U);
  EXPECT_EQ(random.next(), 16'408'922'859'458'223'821U);
}

TEST(Random, SameSeedSameNumbers) {
  Random a(5);
  Random b(5);
  Random other(6);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t value = a.next();
    EXPECT_EQ(value, b.next());
    differs = differs || value != other.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Random, BelowStaysBelowAndReachesAll) {
  Random random(1);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts.at(random.below(7));
  for (const int count : counts) {
    EXPECT_GT(count, 9'500);
    EXPECT_LT(count, 10'500);
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
  for (int i = 0; i < 100; ++i) EXPECT_LT(random.below(~0ULL), ~0ULL);
  EXPECT_DEATH(static_cast<void>(random.below(0)), "assertion failed");
}

TEST(Random, BetweenIncludesBothEnds) {
  Random random(2);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1'000; ++i) seen.insert(random.between(-2, 2));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-2, -1, 0, 1, 2}));
  EXPECT_EQ(random.between(7, 7), 7);
  EXPECT_DEATH(static_cast<void>(random.between(1, 0)), "assertion failed");
}

TEST(Random, UnitIsAtLeastZeroAndBelowOne) {
  Random random(3);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = random.unit();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(Random, ChanceHasItsProbability) {
  Random random(4);
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_FALSE(random.chance(0.0));
    EXPECT_TRUE(random.chance(1.0));
    hits += random.chance(0.25) ? 1 : 0;
  }
  EXPECT_GT(hits, 2'300);
  EXPECT_LT(hits, 2'700);
}

}  // namespace
}  // namespace peal
