// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "cluster.h"
#include "group/groups.h"
#include "samples.h"

// Daemons get random requests, views and bytes. The daemons of one view must always agree.

namespace peal::group::test {
namespace {

constexpr std::uint32_t kNodes = 5;

/// Checks that all daemons whose exchange ended in the same view had the same hash of their tables.
void expect_agreement(const Cluster& cluster) {
  std::map<ViewId, std::uint64_t> hashes;
  for (const auto& daemon : cluster.daemons) {
    for (const auto& [view, hash] : daemon->settled_hashes) {
      EXPECT_EQ(hashes.emplace(view, hash).first->second, hash) << daemon->name();
    }
  }
}

/// Splits the daemons into parts at random.
std::vector<std::string> random_parts(Random& random) {
  std::vector<std::string> parts(1 + random.below(3));
  for (std::uint32_t n = 0; n < kNodes; ++n) {
    parts[random.below(parts.size())] += static_cast<char>('a' + n);
  }
  std::erase(parts, "");
  return parts;
}

void wish(Daemon& daemon, Random& random) {
  const auto connection = static_cast<std::uint32_t>(random.between(1, 8));
  const std::string group = "g" + std::to_string(random.below(4));
  switch (random.below(6)) {
    case 0:
      ignore(daemon.groups->connect("c" + std::to_string(random.below(4))), "or in use");
      return;
    case 1: daemon.groups->disconnect(connection); return;
    case 2: ignore(daemon.groups->leave(connection, group), "or no member"); return;
    case 3: ignore(daemon.send(connection, group + ",#c1#b", "hello"), "or no client"); return;
    default: ignore(daemon.groups->join(connection, group), "or a member"); return;
  }
}

TEST(Chaos, AllAgreeHoweverViewsFollowEachOther) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Cluster cluster(kNodes);
    const auto some = [&](std::string_view members) {
      for (std::uint64_t i = random.below(30); i > 0; --i) {
        const char letter = members[random.below(members.size())];
        if (random.chance(0.6)) wish(cluster[letter], random);
        cluster.order_one(letter, members);
      }
    };
    std::uint64_t exchanges = 0;
    for (int step = 0; step < 30; ++step) {
      for (const std::string& part : random_parts(random)) {
        std::map<ViewId, std::string> together;
        for (const char letter : part) together[cluster[letter].in] += letter;
        cluster.install(part, [&] {
          for (const auto& [view, members] : together) {
            if (view.number != 0 && random.chance(0.5)) some(members);
          }
        });
        some(part);
      }
    }
    cluster.settle("abcde");
    expect_agreement(cluster);
    for (const auto& daemon : cluster.daemons) {
      EXPECT_EQ(daemon->groups->state(), Groups::State::operational) << seed;
      EXPECT_EQ(daemon->groups->table().hash(), cluster['a'].groups->table().hash()) << seed;
      EXPECT_EQ(daemon->groups->counters().out_of_turn, 0U) << seed;
      EXPECT_EQ(daemon->groups->counters().bad_tables, 0U) << seed;
      exchanges += daemon->groups->counters().exchanges;
    }
    EXPECT_GT(exchanges, 20U);
  }
}

/// Delivers random bytes as messages. No daemon may crash. All daemons must count the same errors
/// and keep the same table.
TEST(Chaos, NonsenseIsDroppedByAllAlike) {
  Random random(11);
  for (int round = 0; round < 100; ++round) {
    Cluster cluster(kNodes);
    cluster.settle("abcde");
    for (const auto& daemon : cluster.daemons) {
      for (const char* client : {"c", "feed", "x"}) daemon->connect(client);
    }
    if (random.chance(0.5)) {
      cluster.settle("ab");
      cluster.settle("cde");
      cluster.install("abcde");
    }
    for (int step = 0; step < 300; ++step) {
      const auto from = static_cast<char>('a' + random.below(kNodes));
      wish(cluster[from], random);
      const std::vector<Sample> all = samples();
      std::vector<std::byte> bytes = all[random.below(all.size())].bytes;
      if (random.chance(0.6)) {
        bytes[random.below(bytes.size())] = static_cast<std::byte>(random.below(256));
      }
      if (random.chance(0.1)) bytes.resize(random.below(bytes.size() + 1));
      const Seq place = 1'000'000 + static_cast<Seq>(step);
      for (const auto& daemon : cluster.daemons) {
        daemon->groups->on_message({cluster[from].id, place, Service::agreed, {place, 0}}, bytes);
      }
      if (random.chance(0.5)) cluster.order_one(from);
    }
    const Groups::Counters& first = cluster['a'].groups->counters();
    EXPECT_GT(first.bad_messages, 0U);
    EXPECT_GT(first.bad_changes + first.out_of_turn, 0U);
    for (const auto& daemon : cluster.daemons) {
      const Groups& groups = *daemon->groups;
      groups.check_invariants();
      EXPECT_EQ(groups.table().hash(), cluster['a'].groups->table().hash());
      EXPECT_EQ(groups.state(), cluster['a'].groups->state());
      EXPECT_EQ(groups.counters().bad_messages, first.bad_messages);
      EXPECT_EQ(groups.counters().bad_changes, first.bad_changes);
      EXPECT_EQ(groups.counters().bad_tables, first.bad_tables);
      EXPECT_EQ(groups.counters().outdated_tables, first.outdated_tables);
    }
  }
}

// The numbers of messages are on record for the next exchange. A number that no record can hold
// would make every record invalid, and no exchange would ever end.
TEST(Chaos, DataWithANumberBeyondAllCountersIsRefused) {
  for (const bool companies : {false, true}) {
    SCOPED_TRACE(companies);
    Cluster cluster(2, 1U << 20, companies);
    cluster.settle("ab");
    for (const auto& daemon : cluster.daemons) {
      ASSERT_TRUE(daemon->groups->join(daemon->connect("c"), "news"));
    }
    cluster.order_all("ab");
    ASSERT_TRUE(cluster['b'].send(1, "news", "hello"));
    const std::vector<std::byte> bytes = cluster['b'].waiting.back().bytes;
    const std::uint64_t number = (std::uint64_t{1} << 63) + 1;
    for (const auto& daemon : cluster.daemons) {
      daemon->groups->on_message({cluster['b'].id, number, Service::agreed, {Seq{1'000}, 0}},
                                 bytes);
      EXPECT_EQ(daemon->groups->counters().bad_messages, 1U);
    }
    cluster.order_all("ab");
    cluster.settle("a");
    cluster.settle("b");
    cluster.settle("ab");
    for (const auto& daemon : cluster.daemons) {
      EXPECT_EQ(daemon->groups->state(), Groups::State::operational);
      EXPECT_EQ(daemon->groups->counters().bad_tables, 0U);
    }
  }
}

}  // namespace
}  // namespace peal::group::test
