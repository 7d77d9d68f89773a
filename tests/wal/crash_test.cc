// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "story.h"

namespace peal::wal::test {
namespace {

constexpr std::uint64_t kPoints = 100'000;

std::uint64_t points_wanted() {
  const char* text = std::getenv("PEAL_CRASH_POINTS");
  if (text == nullptr) return kPoints;
  return number_in<std::uint64_t>(text, 1, UINT64_MAX).value_or(kPoints);
}

TEST(CrashPoints, KeepWhatWasReportedAndInventNothing) {
  StoryFigures sum;
  std::uint64_t seeds = 0;
  while (sum.points < points_wanted()) {
    Story story(++seeds);
    ASSERT_EQ(story.run(), "");
    const StoryFigures& one = story.figures();
    sum.points += one.points;
    sum.torn += one.torn;
    sum.twice += one.twice;
    sum.records += one.records;
    sum.restarts += one.restarts;
    sum.failures += one.failures;
  }
  std::printf(
      "%llu crash points in %llu stories: %llu with a write cut off, %llu recovered twice; %llu "
      "records, %llu restarts, %llu failures of the disk; all that was reported durable was "
      "there\n",
      static_cast<unsigned long long>(sum.points), static_cast<unsigned long long>(seeds),
      static_cast<unsigned long long>(sum.torn), static_cast<unsigned long long>(sum.twice),
      static_cast<unsigned long long>(sum.records), static_cast<unsigned long long>(sum.restarts),
      static_cast<unsigned long long>(sum.failures));
  // The crashes prove something only if these cases are among them.
  EXPECT_GT(sum.torn, sum.points / 100);
  EXPECT_GT(sum.twice, sum.points / 4);
  EXPECT_GT(sum.failures, sum.points / 1'000);
}

}  // namespace
}  // namespace peal::wal::test
