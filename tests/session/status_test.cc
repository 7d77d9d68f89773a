// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "daemon.h"

namespace peal::session::test {
namespace {

using ::testing::HasSubstr;

std::size_t count(const std::vector<std::string>& told, std::string_view text) {
  return static_cast<std::size_t>(std::count(told.begin(), told.end(), text));
}

TEST(Status, IsBoundedHoweverManySessionsThereAre) {
  Daemon daemon;
  std::vector<std::unique_ptr<Client>> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(std::make_unique<Client>(daemon, "c" + std::to_string(1'000 + i)));
    all.back()->connect();
  }
  daemon.run();
  all[250]->cut();
  const Status status = daemon.sessions->status(daemon.now);
  EXPECT_EQ(status.sessions_count, 300U);
  ASSERT_EQ(status.sessions.size(), kStatusSessionsMax);
  EXPECT_EQ(status.sessions[0].name, "#c1250#n") << "what waits comes first";
  const Status some = daemon.sessions->status(daemon.now, "#c129");
  EXPECT_EQ(some.sessions_count, 10U);
  ASSERT_EQ(some.sessions.size(), 10U);
  EXPECT_EQ(some.sessions[9].name, "#c1299#n");
}

TEST(Status, IsBoundedHoweverManyGroupsThereAre) {
  Daemon daemon;
  Client x(daemon, "x"), y(daemon, "y");
  for (Client* each : {&x, &y}) each->connect();
  for (int i = 0; i < 100; ++i) x.join("g" + std::to_string(i));
  daemon.run();
  x.take();
  daemon.run();
  x.take();
  x.says_seen = false;
  y.send("g90", "payload");
  daemon.run();
  const Status status = daemon.sessions->status(daemon.now, "#x#");
  ASSERT_EQ(status.sessions.size(), 1U);
  EXPECT_EQ(status.sessions[0].memberships_count, 101U);
  ASSERT_EQ(status.sessions[0].memberships.size(), kStatusMembershipsMax);
  EXPECT_EQ(status.sessions[0].memberships.back().group, "g90");
}

TEST(Status, QuestionsAreAnsweredSoOftenAndNotMore) {
  Options some = options();
  some.clients[0].admin = false;
  Daemon daemon(some);
  std::vector<std::unique_ptr<Client>> all;
  std::size_t answered = 0;
  const auto ask = [&](Client& client) {
    for (int i = 0; i < 10; ++i) client.ask("status");
    daemon.run();
    return count(client.take(), "reply 3 ok well");
  };
  for (int i = 0; i < 20; ++i) {
    all.push_back(std::make_unique<Client>(daemon, "c" + std::to_string(i)));
    all.back()->connect();
    const std::size_t times = ask(*all.back());
    EXPECT_LE(times, 4U);
    answered += times;
  }
  EXPECT_EQ(answered, 40U) << "of all together";
  daemon.pass(seconds(1));
  EXPECT_EQ(ask(*all[0]), 4U);
  daemon.pass(milliseconds(250));
  EXPECT_EQ(ask(*all[0]), 1U);
}

TEST(Status, AnAdministratorIsAnsweredHoweverMuchTheOthersAsk) {
  Options some = options();
  some.clients = {{{Who::Kind::uid, 7, {}}, "*", 100, 100, 0, true},
                  {{Who::Kind::everyone, 0, {}}, "*", 100, 100, 0, false}};
  Daemon daemon(some);
  std::vector<std::unique_ptr<Client>> all;
  for (int i = 0; i < 12; ++i) {
    const bool admin = i == 11;
    all.push_back(std::make_unique<Client>(daemon, "c" + std::to_string(i), 60'000,
                                           admin ? user(7, "root") : user(8, "bob")));
    all.back()->connect();
    for (int k = 0; k < 4; ++k) all.back()->ask("status");
    daemon.run();
    const auto told = all.back()->take();
    EXPECT_EQ(count(told, "reply 3 ok well"), i < 10 ? 4U : 0U);
    EXPECT_EQ(count(told, "reply 3 ok all is well"), admin ? 4U : 0U);
  }
}

TEST(Status, AnAnswerThatIsTooLongIsNotCut) {
  Daemon daemon;
  Client x(daemon, "x");
  x.connect();
  x.ask("all");
  daemon.run();
  const auto told = x.take();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_THAT(told[1], HasSubstr("reply 3 too_large"));
}

}  // namespace
}  // namespace peal::session::test
