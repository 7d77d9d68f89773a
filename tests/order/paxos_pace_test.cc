// SPDX-License-Identifier: Apache-2.0
// Pipeline limits and retransmit timers, which engines on quorums adapt to the answers that they
// get.
#include <gtest/gtest.h>

#include "order/paxos/headway.h"
#include "order/paxos/pace.h"
#include "order/paxos/window.h"

namespace peal::order::paxos {
namespace {

constexpr Duration kQuick = microseconds(100);

/// A window that is always full. The clock advances with each answer.
class WindowTest : public testing::Test {
 protected:
  void answers(int count, Duration time) {
    for (int i = 0; i < count; ++i) {
      now_ = now_ + microseconds(10);
      while (window_.allows(now_, window_.size())) {
      }
      window_.took(now_, time);
    }
  }

  Window window_{64, 1'000};
  Instant now_{1'000'000'000};
};

TEST_F(WindowTest, GrowsByEachAnswerWhileItIsUsedUp) {
  answers(100, kQuick);
  EXPECT_EQ(window_.size(), 164U);
  answers(2'000, kQuick);
  EXPECT_EQ(window_.size(), 1'000U) << "no more than it may";
}

TEST_F(WindowTest, StaysAsItIsWhileItIsNotUsedUp) {
  for (int i = 0; i < 100; ++i) {
    now_ = now_ + milliseconds(1);
    EXPECT_TRUE(window_.allows(now_, 63));
    window_.took(now_, kQuick);
  }
  EXPECT_EQ(window_.size(), 64U);
}

TEST_F(WindowTest, ShrinksByLossWhereAnswersWaitInQueues) {
  answers(436, kQuick);
  ASSERT_EQ(window_.size(), 500U);
  answers(500, kQuick * 10);
  ASSERT_EQ(window_.size(), 1'000U);
  window_.lost(now_);
  EXPECT_EQ(window_.size(), 750U);
  window_.lost(now_ + kQuick);
  EXPECT_EQ(window_.size(), 750U) << "the same loss";
  now_ = now_ + kQuick * 20;
  for (int i = 0; i < 20; ++i, now_ = now_ + kQuick * 20) window_.lost(now_);
  EXPECT_EQ(window_.size(), 16U) << "never less";
}

TEST_F(WindowTest, KeepsItsSizeIfLossHasAnotherReasonThanQueues) {
  answers(100, kQuick);
  answers(100, kQuick * 2);
  const std::uint32_t size = window_.size();
  window_.lost(now_);
  EXPECT_EQ(window_.size(), size);
}

TEST_F(WindowTest, GrowsSlowlyOnceTheEndOfTheWayIsKnown) {
  answers(200, kQuick);
  answers(200, kQuick * 10);
  window_.lost(now_);
  const std::uint32_t size = window_.size();
  answers(160, kQuick * 10);
  EXPECT_EQ(window_.size(), size + 10);
}

TEST_F(WindowTest, ForgetsTheBestAnswerOfAnotherTime) {
  answers(100, kQuick);
  now_ = now_ + seconds(6);
  answers(10, kQuick * 10);
  now_ = now_ + seconds(6);
  answers(100, kQuick * 10);
  const std::uint32_t size = window_.size();
  window_.lost(now_);
  EXPECT_EQ(window_.size(), size) << "this is as quick as it gets now";
}

TEST(Window, NeverExceedsASmallLimit) {
  Window window(64, 8);
  EXPECT_EQ(window.size(), 8U);
  window.took({}, kQuick);
  window.lost(Instant{} + seconds(1));
  EXPECT_EQ(window.size(), 8U);
}

/// A coordinator that orders `values` values in each heartbeat of 10 ms.
class HeadwayTest : public testing::Test {
 protected:
  void beats(int count, wire::Instance values, bool lost) {
    for (int i = 0; i < count; ++i) headway_.tick(next_ += values, lost);
  }

  // Half of the silence of 100 ms after which a node is suspected, in heartbeats of 10 ms.
  static constexpr wire::Instance kBeats = 5;
  static constexpr wire::Instance kFirst = (2U << 20) / 1'472;
  static constexpr wire::Instance kMost = 4'096;

  wire::Instance next_ = 1'000;
  Headway headway_{Options{}, true};
};

TEST_F(HeadwayTest, IsWhatGoesThroughInHalfTheTimeOfSilence) {
  headway_.begin(next_);
  EXPECT_EQ(headway_.size(), kFirst) << "enough to begin with";
  beats(1, 100, false);
  EXPECT_EQ(headway_.size(), kFirst);
  beats(1, 600, false);
  EXPECT_EQ(headway_.size(), 600 * kBeats);
  beats(1, 2'000, false);
  EXPECT_EQ(headway_.size(), kMost) << "not more than others keep";
}

TEST_F(HeadwayTest, ForgetsSlowlyHowFastItWas) {
  headway_.begin(next_);
  beats(1, 800, false);
  beats(1, 0, false);
  EXPECT_EQ(headway_.size(), 700 * kBeats);
  beats(100, 0, false);
  EXPECT_EQ(headway_.size(), kFirst);
  beats(1, 800, false);
  headway_.begin(next_);
  EXPECT_EQ(headway_.size(), kFirst) << "another time as coordinator";
}

TEST_F(HeadwayTest, ShrinksByLossToWhatStillGoesThrough) {
  headway_.begin(next_);
  beats(10, 700, false);
  ASSERT_EQ(headway_.size(), 700 * kBeats);
  beats(1, 700, true);
  EXPECT_NEAR(static_cast<double>(headway_.size()), 700.0 * kBeats * 7 / 8, 1);
  beats(14, 700, true);
  EXPECT_EQ(headway_.size(), 700U + 700 / 4);
}

TEST_F(HeadwayTest, GrowsAgainWhereNothingIsLost) {
  headway_.begin(next_);
  beats(10, 700, false);
  beats(8, 700, true);
  const wire::Instance shrunk = headway_.size();
  beats(10, 700, false);
  EXPECT_EQ(headway_.size(), shrunk + 10 * (kFirst / 128));
}

TEST_F(HeadwayTest, IsNotHeldUpByLossThatItDoesNotCure) {
  headway_.begin(next_);
  beats(10, 700, false);
  beats(16, 700, true);
  EXPECT_EQ(headway_.size(), 700 * kBeats) << "as much again";
  beats(100, 700, true);
  EXPECT_EQ(headway_.size(), 700 * kBeats) << "nobody looks for a second";
  beats(16, 700, true);
  beats(200, 700, true);
  EXPECT_EQ(headway_.size(), 700 * kBeats) << "and twice as long the next time";
  beats(1, 700, true);
  EXPECT_LT(headway_.size(), 700 * kBeats);
}

TEST_F(HeadwayTest, IsNeverMoreThanTheHistoryHolds) {
  Options options;
  options.packet_bytes_max = 65'507;
  options.history_bytes_max = 1U << 20;
  EXPECT_EQ(Headway(options, true).size(), gap_max(options));
}

TEST_F(HeadwayTest, IsAllThatOthersKeepWhereVotesTellHowFullLinksAre) {
  Headway headway{Options{}, false};
  headway.begin(next_);
  for (int i = 0; i < 20; ++i) headway.tick(next_ += 10, true);
  EXPECT_EQ(headway.size(), kMost);
}

TEST(Patience, IsTwiceAsLongAsAnythingTookLately) {
  Patience patience(microseconds(500), milliseconds(20), milliseconds(100));
  const Instant now = Instant{} + seconds(10);
  EXPECT_EQ(patience.wait(0), microseconds(500));
  patience.took(now, milliseconds(2));
  patience.took(now, microseconds(1));
  EXPECT_EQ(patience.wait(0), milliseconds(4));
  EXPECT_EQ(patience.wait(1), milliseconds(8));
  EXPECT_EQ(patience.wait(40), milliseconds(20));
  patience.took(now + milliseconds(1'500), microseconds(1));
  EXPECT_EQ(patience.wait(0), milliseconds(4)) << "the second before counts too";
  patience.took(now + milliseconds(2'600), microseconds(1));
  EXPECT_EQ(patience.wait(0), microseconds(500));
}

// A value that is known to take long is requested late: an earlier request would be useless.
TEST(Patience, WhatIsKnownToTakeLongerIsWaitedForLonger) {
  Patience patience(microseconds(500), milliseconds(20), milliseconds(100));
  const Instant now = Instant{} + seconds(10);
  patience.took(now, milliseconds(30));
  EXPECT_EQ(patience.wait(0), milliseconds(60));
  EXPECT_EQ(patience.wait(6), milliseconds(60));
  patience.took(now, milliseconds(300));
  EXPECT_EQ(patience.wait(0), milliseconds(100)) << "within reason";
}

TEST(Patience, ForgetsWhatWasLongAgo) {
  Patience patience(microseconds(500), milliseconds(20), milliseconds(100));
  patience.took(Instant{} + seconds(10), milliseconds(2));
  patience.took(Instant{} + seconds(20), microseconds(1));
  EXPECT_EQ(patience.wait(0), microseconds(500));
}

}  // namespace
}  // namespace peal::order::paxos
