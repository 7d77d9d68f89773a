// SPDX-License-Identifier: Apache-2.0
#include "runtime/stall_notice.h"

#include <gtest/gtest.h>

namespace peal::runtime {
namespace {

constexpr Instant at(std::int64_t second) { return Instant{} + seconds(1) * second; }

TEST(StallNotice, SaysAfterAWhileWhatTheOrderingWaitsFor) {
  StallNotice notice("the ordering");
  EXPECT_TRUE(notice.is_due(at(1)));
  for (int second = 1; second < 6; ++second) EXPECT_EQ(notice.look(at(second), "b"), "") << second;
  EXPECT_FALSE(notice.is_due(at(5)));
  EXPECT_EQ(notice.look(at(6), "b"), "the ordering has stood still for 5 s: it waits for b");
  EXPECT_EQ(notice.look(at(7), "b"), "") << "once";
  EXPECT_EQ(notice.look(at(9), ""), "the ordering goes on: it stood still for 8 s");
  EXPECT_EQ(notice.look(at(10), ""), "");
}

TEST(StallNotice, SaysNothingWhileMessagesAreDelivered) {
  StallNotice notice("the ordering");
  for (int second = 1; second < 20; ++second) {
    notice.on_progress();
    EXPECT_EQ(notice.look(at(second), "b"), "");
  }
  for (int second = 20; second < 25; ++second) EXPECT_EQ(notice.look(at(second), "b"), "");
  EXPECT_NE(notice.look(at(25), "b"), "");
  notice.on_progress();
  EXPECT_EQ(notice.look(at(26), "b"), "the ordering goes on: it stood still for 6 s");
}

TEST(StallNotice, SaysOnceAMinuteThatAnotherReasonIsThere) {
  StallNotice notice("the ordering");
  notice.look(at(1), "a");
  EXPECT_NE(notice.look(at(6), "a"), "");
  EXPECT_EQ(notice.look(at(7), "b"), "");
  EXPECT_EQ(notice.look(at(65), "b"), "");
  EXPECT_EQ(notice.look(at(66), "b"), "the ordering has stood still for 65 s: it waits for b");
}

}  // namespace
}  // namespace peal::runtime
