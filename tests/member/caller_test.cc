// SPDX-License-Identifier: Apache-2.0
// Members that the application's thread runs, inside next() and wait().
#include <poll.h>

#include <algorithm>
#include <string>
#include <thread>

#include "members.h"

namespace peal::test {
namespace {

void run_by_caller(Config& config) { config.thread = Thread::caller; }

bool readable(int fd, int wait_ms) {
  pollfd descriptor{fd, POLLIN, 0};
  return ::poll(&descriptor, 1, wait_ms) == 1;
}

TEST(MemberCaller, OneThreadRunsThreeMembers) {
  Sites sites = start(3, run_by_caller);
  ASSERT_EQ(sites.size(), 3U);
  constexpr std::size_t kEach = 300;
  for (std::size_t i = 0; i < kEach; ++i) {
    for (auto& site : sites) {
      ASSERT_TRUE(site->member->multicast(pattern(i * 11, i), Service::safe));
    }
  }
  ASSERT_TRUE(read_until(sites, [&] {
    return std::all_of(sites.begin(), sites.end(),
                       [](const auto& site) { return site->got.size() == 3 * kEach; });
  }));
  for (std::size_t i = 0; i < 3 * kEach; ++i) {
    ASSERT_TRUE(sites[1]->got[i].same_as(sites[0]->got[i]) &&
                sites[2]->got[i].same_as(sites[0]->got[i]));
    EXPECT_EQ(sites[0]->got[i].text,
              pattern((sites[0]->got[i].number - 1) * 11, sites[0]->got[i].number - 1));
  }
}

TEST(MemberCaller, ASenderThatWaitsForRoomRunsTheMemberMeanwhile) {
  Sites sites = start(1, [](Config& config) {
    run_by_caller(config);
    config.submit_messages_max = 16;
  });
  ASSERT_EQ(sites.size(), 1U);
  constexpr std::size_t kMessages = 1'000;
  for (std::size_t i = 0; i < kMessages; ++i) {
    const auto ticket = sites[0]->member->multicast_for(bytes_of("x"), Service::agreed, 60s);
    ASSERT_TRUE(ticket) << ticket.error().message;
  }
  ASSERT_TRUE(read_until(sites, [&] { return sites[0]->got.size() == kMessages; }));
}

TEST(MemberCaller, ForeignLoopsWaitForTheDescriptor) {
  Sites sites = start(2, [](Config& config) {
    if (config.name == "n1") run_by_caller(config);
  });
  ASSERT_EQ(sites.size(), 2U);
  Site& mine = *sites[0];
  const int fd = mine.member->fd();
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(sites[1]->member->multicast("from the other node", Service::agreed));
      EXPECT_TRUE(mine.member->multicast("from another thread", Service::agreed));
    }
  });
  while (mine.got.size() < 40) {
    while (mine.take(0ms)) {
    }
    const bool done = mine.got.size() == 40;
    ASSERT_TRUE(done || readable(fd, 60'000)) << mine.got.size();
  }
  other.join();
  EXPECT_EQ(std::count_if(mine.got.begin(), mine.got.end(), [](const Got& got) { return got.own; }),
            20);
}

TEST(MemberCaller, StatusIsAnsweredOnEachThread) {
  Sites sites = start(1, run_by_caller);
  ASSERT_EQ(sites.size(), 1U);
  EXPECT_EQ(sites[0]->member->status().id, sites[0]->member->id());
  const std::string view = sites[0]->views.back().id;
  std::thread asker([&] {
    EXPECT_EQ(sites[0]->member->status().view, view);
    EXPECT_TRUE(sites[0]->member->multicast("answered", Service::agreed));
  });
  EXPECT_TRUE(read_until(sites, [&] { return sites[0]->got.size() == 1; }));
  asker.join();
}

TEST(MemberCaller, AfterLeaveWhatCameCanBeRead) {
  Sites sites = start(1, run_by_caller);
  ASSERT_EQ(sites.size(), 1U);
  Site& site = *sites[0];
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(site.member->multicast("x", Service::safe));
  site.member->leave(60s);
  EXPECT_EQ(site.member->multicast("y", Service::safe).error().code, ErrorCode::closed);
  EXPECT_EQ(site.member->multicast_for(bytes_of("y"), Service::safe, 1s).error().code,
            ErrorCode::closed);
  while (site.take(0ms)) {
  }
  EXPECT_EQ(site.got.size(), 100U);
  ASSERT_EQ(site.closed.size(), 1U);
  EXPECT_EQ(site.closed[0].reason, "left on request");
  EXPECT_FALSE(site.take(10ms));
  EXPECT_EQ(site.member->status().id, site.member->id());
}

}  // namespace
}  // namespace peal::test
