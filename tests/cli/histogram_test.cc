// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace peal::cli {
namespace {

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (std::uint64_t value = 0; value < 128; ++value) histogram.add(value);
  for (int i = 1; i <= 128; ++i) {
    EXPECT_EQ(histogram.percentile(i / 128.0), static_cast<std::uint64_t>(i - 1));
  }
}

TEST(Histogram, PercentilesAreWithinTheirBucket) {
  Random random(3);
  std::vector<std::uint64_t> values;
  Histogram histogram;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(random.next() >> (20 + random.below(40)));
    histogram.add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double share : {0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * 20'000));
    const std::uint64_t exact = values[rank - 1];
    const std::uint64_t said = histogram.percentile(share);
    EXPECT_GE(said, exact) << share;
    EXPECT_LE(static_cast<double>(said), static_cast<double>(exact) * (1 + 1.0 / 64) + 1) << share;
  }
}

TEST(Histogram, MergesAndBounds) {
  Histogram one, two;
  EXPECT_EQ(one.percentile(0.5), 0U);
  one.add(1'000'000);
  one.add(~std::uint64_t{0});
  for (std::uint32_t bucket = 0; bucket < one.counts().size(); ++bucket) {
    two.add_bucket(bucket, one.counts()[bucket]);
  }
  two.add_bucket(1'000'000'000, 5);  // ignored: the histogram has no such bucket
  EXPECT_EQ(two.total(), 2U);
  EXPECT_EQ(two.percentile(0.5), one.percentile(0.5));
  EXPECT_GT(two.percentile(1), 10'000'000'000'000U);
}

}  // namespace
}  // namespace peal::cli
