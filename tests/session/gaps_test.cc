// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "daemon.h"

// Gaps tell a client of messages that were ordered in views without its daemon. Each gap has its
// place among the other events of the client.

namespace peal::session::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using wire::SlowPolicy;

/// Client x is in group g, and client y sends to g.
struct Pair {
  explicit Pair(const wire::SlowLimits& limits = {}, bool shares = false)
      : x(daemon, "x"), y(daemon, "y") {
    x.shares = shares;
    for (Client* each : {&x, &y}) {
      each->connect();
      daemon.run();
      each->take();
    }
    x.join("g", limits);
    x.join("quiet", limits);
    told();
  }
  void send(const std::string& text) {
    y.send("g", text);
    daemon.run();
    y.take();
  }
  /// All events that x receives.
  std::vector<std::string> told() {
    std::vector<std::string> all;
    for (int i = 0; i < 400; ++i) {
      daemon.run();
      for (std::string& text : x.take_events()) all.push_back(std::move(text));
    }
    return all;
  }

  Daemon daemon;
  Client x, y;
};

TEST(Gaps, AreToldAtTheirPlaceWithoutCounts) {
  Pair pair;
  pair.send("one");
  pair.daemon.meet({"g"});
  pair.send("three");
  EXPECT_THAT(pair.told(), ElementsAre(HasSubstr("one"), "gap g away", HasSubstr("three")));
  EXPECT_THAT(pair.y.take_events(), IsEmpty());
  EXPECT_EQ(pair.daemon.sessions->counters().gaps_away, 1U);
  pair.daemon.meet({});
  EXPECT_THAT(pair.told(), IsEmpty());
}

TEST(Gaps, APrivateNameHasNoGroup) {
  Pair pair;
  pair.daemon.meet({"#x#n", "other"});
  EXPECT_THAT(pair.told(), ElementsAre("gap  away"));
  EXPECT_THAT(pair.y.take_events(), IsEmpty());
}

TEST(Gaps, AreReplayedAtTheirPlaceToWhoComesBack) {
  for (const bool cut_before : {false, true}) {
    Pair pair;
    if (cut_before) {
      pair.x.cut();
    } else {
      pair.daemon.let_read(pair.x.connection, false);
    }
    pair.send("one");
    pair.daemon.meet({"g"});
    pair.send("three");
    if (!cut_before) pair.x.cut();
    pair.x.connect();
    EXPECT_THAT(pair.told(), ElementsAre(HasSubstr("one"), "gap g away", HasSubstr("three")));
  }
}

/// The client reads nothing, and many events wait. The gap keeps its place under every policy.
TEST(Gaps, KeepTheirPlaceUnderEveryPolicy) {
  for (const SlowPolicy policy :
       {SlowPolicy::block, SlowPolicy::spill, SlowPolicy::drop, SlowPolicy::evict}) {
    const bool spills = policy == SlowPolicy::spill || policy == SlowPolicy::drop;
    Pair pair({policy, 16'384, 1U << 20, 0});
    pair.daemon.let_read(pair.x.connection, false);
    const int count = spills ? 300 : 10;
    for (int i = 0; i < count; ++i) pair.send("before " + std::string(100, '.'));
    pair.daemon.meet({"g"});
    pair.send("behind it");
    pair.daemon.let_read(pair.x.connection, true);
    const std::vector<std::string> told = pair.told();
    const auto gap = std::find(told.begin(), told.end(), "gap g away");
    ASSERT_NE(gap, told.end());
    EXPECT_EQ(std::count(told.begin(), told.end(), "gap g away"), 1);
    const std::vector<std::string> before(told.begin(), gap), behind(gap + 1, told.end());
    EXPECT_THAT(before, Contains(HasSubstr("before ")));
    EXPECT_THAT(behind, Not(Contains(HasSubstr("before "))));
    if (policy == SlowPolicy::drop) {
      EXPECT_THAT(before.back(), HasSubstr("gap g ")) << "what was left out was before";
    } else {
      EXPECT_EQ(before.size(), static_cast<std::size_t>(count));
      EXPECT_THAT(behind, ElementsAre(HasSubstr("behind it")));
    }
  }
}

TEST(Gaps, StandAmongEventsInSharedMemory) {
  Pair pair({}, true);
  pair.send(std::string(1'000, 'a'));
  pair.daemon.meet({"g"});
  pair.send(std::string(1'000, 'b'));
  EXPECT_THAT(pair.told(), ElementsAre(HasSubstr("aaaa"), "gap g away", HasSubstr("bbbb")));
  EXPECT_EQ(pair.x.shared, 2U);
}

TEST(Gaps, WhoHasLeftIsNotTold) {
  Pair pair;
  pair.x.leave("g");
  pair.told();
  pair.daemon.meet({"g", "quiet"});
  EXPECT_THAT(pair.told(), ElementsAre("gap quiet away"));
}

}  // namespace
}  // namespace peal::session::test
