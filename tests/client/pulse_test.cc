// SPDX-License-Identifier: Apache-2.0
#include "client/pulse.h"

#include <gtest/gtest.h>

namespace peal::client::test {
namespace {

constexpr Duration kPing = milliseconds(100);

Instant at(std::int64_t ms) { return Instant{} + milliseconds(ms); }

TEST(Pulse, SpeaksTwiceAsOftenAsItMust) {
  Pulse pulse;
  pulse.start(at(0));
  EXPECT_EQ(pulse.next(kPing, true), at(50));
  EXPECT_FALSE(pulse.is_quiet(at(49), kPing));
  EXPECT_TRUE(pulse.is_quiet(at(50), kPing));
  pulse.said(at(50));
  EXPECT_FALSE(pulse.is_quiet(at(99), kPing));
}

TEST(Pulse, ADaemonIsSilentAfterThreePingsWithoutAnAnswer) {
  Pulse pulse;
  pulse.start(at(0));
  pulse.heard(at(10));
  pulse.said(at(300));
  EXPECT_EQ(pulse.next(kPing, true), at(310));
  EXPECT_FALSE(pulse.is_silent(at(309), kPing));
  EXPECT_TRUE(pulse.is_silent(at(310), kPing));
}

TEST(Pulse, WhileNobodyListensNobodyIsSilent) {
  Pulse pulse;
  pulse.start(at(0));
  pulse.said(at(5'000));
  EXPECT_EQ(pulse.next(kPing, false), at(5'050));
  pulse.was_deaf(at(5'000));
  EXPECT_FALSE(pulse.is_silent(at(5'299), kPing));
  EXPECT_TRUE(pulse.is_silent(at(5'300), kPing));
}

TEST(Pulse, WithoutPingsNothingIsDue) {
  Pulse pulse;
  pulse.start(at(0));
  EXPECT_EQ(pulse.next(Duration{}, true), Pulse::kNever);
  EXPECT_FALSE(pulse.is_quiet(at(1'000'000), Duration{}));
  EXPECT_FALSE(pulse.is_silent(at(1'000'000), Duration{}));
}

}  // namespace
}  // namespace peal::client::test
