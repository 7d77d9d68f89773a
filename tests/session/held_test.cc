// SPDX-License-Identifier: Apache-2.0
// Disjoint domains: messages of other domains wait while this domain exchanges its tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "daemon.h"

namespace peal::session::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using wire::SlowPolicy;

constexpr std::uint64_t kMemberBytes = 16'384;

Options exchanging_options() {
  Options some = options();
  some.domains = group::Domains({}, NodeId{1}, group::Domains::Kind::disjoint);
  return some;
}

/// Two members of the group; another node has come into the view, and has not sent its tables.
struct Exchanging {
  explicit Exchanging(SlowPolicy policy, const Options& how = exchanging_options()) : daemon(how) {
    for (Client* each : {&x, &y}) {
      each->connect();
      each->join("g", {policy, kMemberBytes, 1U << 20, 0});
    }
    daemon.run();
    take();
    daemon.begin_to_meet();
    daemon.pump();
    take();
  }
  std::vector<std::string> take() {
    y.take();
    return x.take();
  }
  void hear(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      daemon.hear_from_outside("g", std::to_string(i) + std::string(1'000, '.'));
    }
    daemon.pump();
  }

  Daemon daemon;
  Client x{daemon, "x"}, y{daemon, "y"};
};

/// All of them come at once, and are more than the client's limit.
class HeldMessage : public testing::TestWithParam<SlowPolicy> {};

TEST_P(HeldMessage, WhatWaitedMakesNoClientSlow) {
  Exchanging both(GetParam());
  both.hear(100);
  EXPECT_EQ(both.take(), std::vector<std::string>{});
  both.daemon.exchange_tables();
  both.daemon.hear_from_outside("g", "last");
  std::vector<std::string> told;
  for (int i = 0; i < 100; ++i) {
    both.daemon.pump();
    for (std::string& text : both.take()) told.push_back(std::move(text));
  }
  EXPECT_EQ(
      std::count_if(told.begin(), told.end(),
                    [](const std::string& text) { return text.rfind("message g: ", 0) == 0; }),
      101);
  EXPECT_EQ(both.daemon.sessions->counters().left_out, 0U);
  EXPECT_EQ(both.daemon.sessions->counters().evicted, 0U);
  EXPECT_EQ(both.daemon.sessions->sessions(), 2U);
}

/// Once the client has seen them, its limit is what it was.
TEST_P(HeldMessage, TheLimitHoldsAgainOnceTheClientHasSeenThem) {
  Exchanging both(GetParam());
  both.hear(100);
  both.daemon.exchange_tables();
  for (int i = 0; i < 100; ++i) {
    both.daemon.pump();
    both.take();
  }
  both.daemon.let_read(both.x.connection, false);
  both.hear(30);
  const auto counters = both.daemon.sessions->counters();
  EXPECT_EQ(counters.left_out > 0, GetParam() == SlowPolicy::drop);
  EXPECT_EQ(counters.evicted > 0, GetParam() == SlowPolicy::evict);
}

/// They raise the limit by themselves alone.
TEST_P(HeldMessage, AClientThatReadsNothingIsSlowAllTheSame) {
  Exchanging both(GetParam());
  both.hear(100);
  both.daemon.let_read(both.x.connection, false);
  both.daemon.exchange_tables();
  both.hear(30);
  const auto counters = both.daemon.sessions->counters();
  const bool blocks = both.daemon.sessions->room_bytes() == 0;
  EXPECT_EQ(counters.left_out > 0, GetParam() == SlowPolicy::drop);
  EXPECT_EQ(counters.evicted > 0, GetParam() == SlowPolicy::evict);
  EXPECT_EQ(blocks, GetParam() == SlowPolicy::block);
}

INSTANTIATE_TEST_SUITE_P(Policies, HeldMessage,
                         testing::Values(SlowPolicy::block, SlowPolicy::drop, SlowPolicy::evict));

TEST(HeldTooMuch, SessionsEndAndSayWhy) {
  Options how = exchanging_options();
  how.memory_bytes_max = 1U << 20;
  how.message_bytes_max = 65'536;
  Exchanging both(SlowPolicy::block, how);
  both.hear(200);  // less than a quarter of a MiB
  EXPECT_EQ(both.daemon.sessions->sessions(), 2U);
  both.hear(100);
  EXPECT_THAT(both.take(), Contains("closing dropped"));
  EXPECT_EQ(both.daemon.sessions->sessions(), 0U);
  EXPECT_EQ(both.daemon.sessions->groups().counters().held_dropped > 200, true);
}

TEST(HeldTooMuch, AClientThatWasAwayLearnsIt) {
  Options how = exchanging_options();
  how.memory_bytes_max = 1U << 20;
  how.message_bytes_max = 65'536;
  Exchanging both(SlowPolicy::block, how);
  both.daemon.cut(both.x.connection);
  both.daemon.pump();
  both.hear(300);
  EXPECT_EQ(both.daemon.sessions->sessions(), 0U);
  both.x.connect();
  both.daemon.pump();
  EXPECT_THAT(both.x.take(), Contains("closing dropped"));
}

TEST(HeldTooMuch, StatusSaysForWhomTheGroupsWait) {
  Exchanging both(SlowPolicy::block);
  EXPECT_EQ(both.daemon.sessions->groups_wait_for(), "the group tables of n, n");
  both.daemon.exchange_tables();
  EXPECT_EQ(both.daemon.sessions->groups_wait_for(), "");
}

}  // namespace
}  // namespace peal::session::test
