// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "members.h"

namespace peal::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The nodes 1 to `count`, as a configuration lists them.
std::vector<Node> nodes(std::uint32_t count) { return config_of(1, count).nodes; }

bool counts(Site& site, std::size_t count) {
  return site.member->status().list.size() == count && site.member->status().next_list.empty();
}

TEST(MemberList, AMemberIsAddedAndRemovedWithoutARestart) {
  for (const Thread thread : {Thread::own, Thread::caller}) {
    Sites sites = start(2, [&](Config& config) { config.thread = thread; });
    ASSERT_EQ(sites.size(), 2U);
    ASSERT_TRUE(sites[0]->member->set_nodes(nodes(3)));
    EXPECT_THAT(sites[0]->member->status().next_list, ElementsAre("n1", "n2", "n3"));
    ASSERT_TRUE(sites[1]->member->set_nodes(nodes(3)));
    ASSERT_TRUE(read_until(sites, [&] { return counts(*sites[0], 3) && counts(*sites[1], 3); }));
    Config third = config_of(3, 3);
    third.thread = thread;
    sites.push_back(std::make_unique<Site>(third));
    ASSERT_TRUE(read_until(sites, [&] {
      return sites[0]->members() == 3 && sites[1]->members() == 3 && sites[2]->members() == 3;
    }));
    ASSERT_TRUE(sites[2]->member->multicast("from three", Service::safe));
    ASSERT_TRUE(read_until(sites, [&] { return sites[0]->got.size() == 1; }));
    EXPECT_THAT(sites[0]->got[0].sender, HasSubstr("n3."));
    EXPECT_THAT(sites[0]->views.back().members[2], HasSubstr("n3."));

    sites[2]->member->leave();
    sites.pop_back();
    ASSERT_TRUE(sites[0]->member->set_nodes(nodes(2)));
    ASSERT_TRUE(sites[1]->member->set_nodes(nodes(2)));
    ASSERT_TRUE(read_until(sites, [&] { return counts(*sites[0], 2) && counts(*sites[1], 2); }));
  }
}

TEST(MemberList, OneThatCannotBeIsRefusedAndTheOldOneStays) {
  Sites sites = start(2);
  ASSERT_EQ(sites.size(), 2U);
  Member& member = *sites[0]->member;
  const auto refused = [&](const std::vector<Node>& list) {
    const auto given = member.set_nodes(list);
    EXPECT_FALSE(given);
    if (given) return std::string();
    EXPECT_EQ(given.error().code, ErrorCode::invalid_option);
    return given.error().message;
  };
  auto list = nodes(3);
  list.erase(list.begin() + 1);
  EXPECT_THAT(refused(list), HasSubstr("\"n3\" would get number 2, which \"n2\" has"));
  list = nodes(3);
  list.erase(list.begin());
  EXPECT_THAT(refused(list), HasSubstr("stop it and reload the others"));
  list = nodes(3);
  list[2].address = "nowhere";
  EXPECT_THAT(refused(list), HasSubstr("nodes[2].address = \"nowhere\""));
  list = nodes(3);
  list[2].name = "n2";
  EXPECT_THAT(refused(list), HasSubstr("different from the names before it"));
  EXPECT_THAT(member.status().list, ElementsAre("n1", "n2"));
  EXPECT_THAT(member.status().next_list, IsEmpty());
  member.leave();
  const auto late = member.set_nodes(nodes(2));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::closed);
}

// One thread reads events and the names of their senders, while another thread sets new nodes.
TEST(MemberList, ThreadsMayGiveListsWhileAnotherReads) {
  Sites sites = start(2);
  ASSERT_EQ(sites.size(), 2U);
  const std::size_t views = sites[0]->views.size();
  std::thread other([&] {
    for (std::uint32_t i = 0; i < 50; ++i) {
      for (auto& site : sites) EXPECT_TRUE(site->member->set_nodes(nodes(2 + i % 3)));
    }
  });
  for (std::uint32_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(sites[i % 2]->member->multicast_for(bytes_of("x"), Service::agreed, 10s));
  }
  EXPECT_TRUE(read_until(
      sites, [&] { return sites[0]->got.size() == 200 && sites[1]->got.size() == 200; }));
  other.join();
  EXPECT_TRUE(read_until(sites, [&] { return counts(*sites[0], 3) && counts(*sites[1], 3); }));
  for (auto& site : sites) {
    const Status status = site->member->status();
    EXPECT_THAT(status.next_list, IsEmpty()) << status.list_waits_for;
    EXPECT_THAT(status.list, ElementsAre("n1", "n2", "n3"));
  }
  EXPECT_EQ(sites[0]->views.size(), views) << "the view stays";
}

}  // namespace
}  // namespace peal::test
