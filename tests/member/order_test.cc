// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "members.h"

namespace peal::test {
namespace {

void expect_same(const Sites& sites, std::size_t count) {
  for (const auto& site : sites) {
    ASSERT_EQ(site->got.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(site->got[i].same_as(sites[0]->got[i])) << i;
    }
  }
}

/// Each test runs twice: the first member has a thread of its own, or the test's thread runs it.
class MemberOrder : public testing::TestWithParam<Thread> {
 protected:
  static Sites start_first(
      std::uint32_t count, const std::function<void(Config&)>& change = [](Config&) {}) {
    return start(count, [&](Config& config) {
      if (config.name == "n1") config.thread = GetParam();
      change(config);
    });
  }
};

TEST_P(MemberOrder, ThreeMembersDeliverTheSameMessagesInTheSameOrder) {
  Sites sites = start_first(3);
  ASSERT_EQ(sites.size(), 3U);
  EXPECT_EQ(sites[0]->views.back().id, sites[1]->views.back().id);
  EXPECT_EQ(sites[0]->views.back().members, sites[2]->views.back().members);
  constexpr std::size_t kEach = 500;
  for (std::size_t i = 0; i < kEach; ++i) {
    for (std::size_t who = 0; who < sites.size(); ++who) {
      const std::string text = pattern((i * 37 + who) % 3'000, i);
      const auto service = static_cast<Service>((i + who) % 4);
      const auto ticket = sites[who]->member->multicast_for(bytes_of(text), service, 20s);
      ASSERT_TRUE(ticket) << ticket.error().message;
      EXPECT_EQ(ticket.value().number, i + 1);
    }
  }
  ASSERT_TRUE(read_until(sites, [&] {
    return std::all_of(sites.begin(), sites.end(),
                       [](const auto& site) { return site->got.size() == 3 * kEach; });
  }));
  expect_same(sites, 3 * kEach);
  std::set<std::string> senders;
  for (std::size_t i = 0; i < sites[0]->got.size(); ++i) {
    const Got& got = sites[0]->got[i];
    senders.insert(got.sender);
    const std::size_t who = static_cast<std::size_t>(got.sender[1] - '1');
    EXPECT_EQ(got.own, who == 0);
    EXPECT_EQ(got.text, pattern(((got.number - 1) * 37 + who) % 3'000, got.number - 1));
    EXPECT_EQ(got.service, static_cast<Service>((got.number - 1 + who) % 4));
    if (i == 0) continue;
    const Got& before = sites[0]->got[i - 1];
    if (before.view != got.view) continue;
    EXPECT_LT(std::pair(before.position, before.index), std::pair(got.position, got.index));
  }
  EXPECT_EQ(senders, std::set<std::string>(sites[0]->views.back().members.begin(),
                                           sites[0]->views.back().members.end()));
  EXPECT_TRUE(senders.contains(sites[1]->member->id()));
}

// Messages with a place have the same places at all members. All messages of one sender, with and
// without a place, come in the sender's order.
TEST_P(MemberOrder, WithTotoFifoAndCausalMessagesHaveNoPlace) {
  Sites sites = start_first(3, [](Config& config) { config.order = Toto{.fault = 10s}; });
  ASSERT_EQ(sites.size(), 3U);
  constexpr std::size_t kEach = 300;
  for (std::size_t i = 0; i < kEach; ++i) {
    for (std::size_t who = 0; who < sites.size(); ++who) {
      const std::string text = pattern((i * 37 + who) % 3'000, i);
      const auto service = static_cast<Service>((i / 3 + who) % 4);
      ASSERT_TRUE(sites[who]->member->multicast_for(bytes_of(text), service, 20s));
    }
  }
  ASSERT_TRUE(read_until(sites, [&] {
    return std::all_of(sites.begin(), sites.end(),
                       [](const auto& site) { return site->got.size() == 3 * kEach; });
  }));
  std::vector<std::vector<Got>> placed(sites.size());
  for (std::size_t s = 0; s < sites.size(); ++s) {
    std::map<std::string, std::uint64_t> last;
    for (const Got& got : sites[s]->got) {
      const std::size_t who = static_cast<std::size_t>(got.sender[1] - '1');
      ASSERT_EQ(got.number, ++last[got.sender]) << "site " << s;
      EXPECT_EQ(got.text, pattern(((got.number - 1) * 37 + who) % 3'000, got.number - 1));
      EXPECT_EQ(got.service, static_cast<Service>(((got.number - 1) / 3 + who) % 4));
      EXPECT_EQ(got.position == 0, got.service < Service::agreed);
      if (got.position > 0) {
        placed[s].push_back(got);
      } else {
        EXPECT_EQ(got.index, 0U);
      }
    }
    EXPECT_EQ(last.size(), 3U);
    ASSERT_EQ(placed[s].size(), placed[0].size());
    for (std::size_t i = 0; i < placed[s].size(); ++i) {
      ASSERT_TRUE(placed[s][i].same_as(placed[0][i])) << "site " << s << ", " << i;
      if (i == 0 || placed[s][i - 1].view != placed[s][i].view) continue;
      EXPECT_LT(std::pair(placed[s][i - 1].position, placed[s][i - 1].index),
                std::pair(placed[s][i].position, placed[s][i].index));
    }
  }
}

TEST_P(MemberOrder, LargeAndEmptyMessagesArriveByteExact) {
  Sites sites = start_first(3);
  ASSERT_EQ(sites.size(), 3U);
  std::vector<std::string> texts;
  for (std::size_t size :
       {0UL, 1UL, 1'379UL, 1'380UL, 16'384UL, 16'385UL, 1'000'000UL, 5'000'000UL}) {
    texts.push_back(pattern(size, size));
    ASSERT_TRUE(sites[1]->member->multicast(texts.back(), Service::safe));
  }
  ASSERT_TRUE(read_until(sites, [&] {
    return std::all_of(sites.begin(), sites.end(),
                       [&](const auto& site) { return site->got.size() == texts.size(); });
  }));
  expect_same(sites, texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(sites[2]->got[i].text, texts[i]);
}

TEST_P(MemberOrder, AMemberAloneTalksToItself) {
  Sites sites = start_first(1);
  ASSERT_EQ(sites.size(), 1U);
  ASSERT_TRUE(sites[0]->member->multicast("hello", Service::safe));
  ASSERT_TRUE(read_until(sites, [&] { return sites[0]->got.size() == 1; }));
  EXPECT_EQ(sites[0]->got[0].text, "hello");
  EXPECT_TRUE(sites[0]->got[0].own);
}

TEST_P(MemberOrder, AMemberThatLeavesIsMissingInTheNextView) {
  Sites sites =
      start_first(3, [](Config& config) { ring_of(config).primary = PrimaryRule::majority; });
  ASSERT_EQ(sites.size(), 3U);
  const std::string gone = sites[2]->member->id();
  EXPECT_EQ(sites[0]->views.back().primary, true);
  sites[2]->member->leave();
  while (sites[2]->take(0ms)) {
  }
  ASSERT_EQ(sites[2]->closed.size(), 1U);
  EXPECT_TRUE(sites[2]->closed[0].on_request);
  sites.pop_back();
  ASSERT_TRUE(
      read_until(sites, [&] { return sites[0]->members() == 2 && sites[1]->members() == 2; }));
  const View& last = sites[0]->views.back();
  EXPECT_EQ(std::count(last.members.begin(), last.members.end(), gone), 0);
  EXPECT_EQ(last.primary, true);
  // A transitional view comes before the last view. It has the id of the last view, and the members
  // that go to that view together.
  ASSERT_GE(sites[0]->views.size(), 2U);
  const View& between = *(sites[0]->views.end() - 2);
  EXPECT_TRUE(between.transitional);
  EXPECT_EQ(between.id, last.id);
  EXPECT_EQ(between.old, (sites[0]->views.end() - 3)->id);
  EXPECT_EQ(between.reason, "n3 left");
  EXPECT_EQ(between.members.front(), sites[0]->member->id());
  EXPECT_TRUE(std::includes(last.members.begin(), last.members.end(), between.members.begin(),
                            between.members.end()));
}

TEST_P(MemberOrder, MessagesQueuedBeforeLeaveAreDeliveredBeforeIt) {
  Sites sites = start_first(2);
  ASSERT_EQ(sites.size(), 2U);
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(sites[0]->member->multicast("message " + std::to_string(i), Service::safe));
  }
  sites[0]->member->leave(60s);
  while (sites[0]->take(0ms)) {
  }
  EXPECT_EQ(sites[0]->got.size(), 1'000U);
  ASSERT_EQ(sites[0]->closed.size(), 1U);
  EXPECT_EQ(sites[0]->closed[0].reason, "left on request");
  sites.erase(sites.begin());
  ASSERT_TRUE(read_until(sites, [&] { return sites[0]->got.size() == 1'000; }));
}

TEST_P(MemberOrder, SeveralThreadsMaySendWhileOneReads) {
  Sites sites = start_first(2);
  ASSERT_EQ(sites.size(), 2U);
  constexpr std::size_t kThreads = 4, kEach = 2'000;
  std::atomic<std::size_t> refused{0};
  std::vector<std::vector<std::uint64_t>> numbers(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kEach; ++i) {
        const std::string text = std::to_string(t) + ":" + std::to_string(i);
        const auto ticket = sites[0]->member->multicast_for(bytes_of(text), Service::agreed, 60s);
        if (ticket) {
          numbers[t].push_back(ticket.value().number);
        } else {
          ++refused;
        }
      }
    });
  }
  read_until(sites, [&] {
    return sites[0]->got.size() == kThreads * kEach && sites[1]->got.size() == kThreads * kEach;
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 0U);
  expect_same(sites, kThreads * kEach);
  // The numbers of delivered messages have no gaps, and each ticket has the number of its message.
  for (std::size_t i = 0; i < sites[1]->got.size(); ++i) {
    const Got& got = sites[1]->got[i];
    ASSERT_EQ(got.number, i + 1);
    const std::size_t thread = static_cast<std::size_t>(got.text[0] - '0');
    const std::size_t place = std::stoul(got.text.substr(2));
    ASSERT_EQ(numbers[thread][place], got.number);
  }
}

INSTANTIATE_TEST_SUITE_P(, MemberOrder, testing::Values(Thread::own, Thread::caller),
                         [](const auto& suite) {
                           return suite.param == Thread::own ? "own" : "caller";
                         });

}  // namespace
}  // namespace peal::test
