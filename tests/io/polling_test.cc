// SPDX-License-Identifier: Apache-2.0
#include "io/polling.h"

#include <gtest/gtest.h>

namespace peal::io {
namespace {

constexpr Instant at(Duration time) { return Instant{time.ns}; }

TEST(Polling, IsOffWithoutATime) {
  Polling polling{Duration{}};
  EXPECT_FALSE(polling.enabled());
  EXPECT_FALSE(polling.pays(at(seconds(1))));
}

TEST(Polling, PaysWhileWaitsAreShort) {
  Polling polling{milliseconds(1)};
  EXPECT_TRUE(polling.pays(at(seconds(1))));
  for (int i = 0; i < 20; ++i) polling.note_wait(milliseconds(10));
  EXPECT_FALSE(polling.pays(at(seconds(1))));
  for (int i = 0; i < 20; ++i) polling.note_wait(microseconds(50));
  EXPECT_TRUE(polling.pays(at(seconds(1))));
}

TEST(Polling, OneLongWaitIsNotHeldAgainstItForLong) {
  Polling polling{milliseconds(1)};
  polling.note_wait(seconds(3'600));
  polling.note_wait(seconds(3'600));
  polling.note_wait(seconds(3'600));
  EXPECT_FALSE(polling.pays(at(seconds(1))));
  for (int i = 0; i < 4; ++i) polling.note_wait(Duration{});
  EXPECT_TRUE(polling.pays(at(seconds(1))));
}

TEST(Polling, EndsForAWhileWhereSomebodyElseComputes) {
  Polling polling{milliseconds(1)};
  const Instant start = at(seconds(1));
  EXPECT_FALSE(polling.note_poll(start, Polling::kOusted - nanoseconds(1)));
  EXPECT_TRUE(polling.pays(start));
  EXPECT_TRUE(polling.note_poll(start, Polling::kOusted));
  EXPECT_FALSE(polling.pays(start));
  EXPECT_FALSE(polling.pays(start + Polling::kRestMin - nanoseconds(1)));
  EXPECT_TRUE(polling.pays(start + Polling::kRestMin));
}

TEST(Polling, RestsLongerTheMoreOftenItIsOustedUpToALimit) {
  Polling polling{milliseconds(1)};
  Instant now = at(seconds(1));
  EXPECT_TRUE(polling.note_poll(now, milliseconds(4)));
  Duration rest = Polling::kRestMin;
  for (int i = 0; i < 10; ++i) {
    now = now + rest;
    EXPECT_TRUE(polling.pays(now)) << i;
    EXPECT_TRUE(polling.note_poll(now, milliseconds(4)));
    rest = std::min(rest * 2, Polling::kRestMax);
    EXPECT_FALSE(polling.pays(now + rest - nanoseconds(1))) << i;
  }
  EXPECT_EQ(rest, Polling::kRestMax);
}

TEST(Polling, ForgetsAfterALongTimeUndisturbed) {
  Polling polling{milliseconds(1)};
  Instant now = at(seconds(1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(polling.note_poll(now, milliseconds(4)));
    now = now + Polling::kRestMax;
  }
  now = now + Polling::kRestMax * 8;
  EXPECT_TRUE(polling.note_poll(now, milliseconds(4)));
  EXPECT_TRUE(polling.pays(now + Polling::kRestMin));
}

}  // namespace
}  // namespace peal::io
