// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster.h"
#include "group/groups.h"

// Exchanges of tables. However views follow each other, an exchange ends, and all tables are equal.

namespace peal::group::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using State = Groups::State;

/// Each daemon is alone in its view, and has a client x in group g.
struct Apart {
  explicit Apart(std::uint32_t nodes) : cluster(nodes) {
    for (const auto& each : cluster.daemons) {
      cluster.settle(each->name());
      EXPECT_TRUE(each->groups->join(each->connect("x"), "g"));
      cluster.order_all(each->name());
      each->take_log();
    }
  }
  Cluster cluster;
};

std::uint64_t hash(Daemon& daemon) { return daemon.groups->table().hash(); }

TEST(Exchange, OnlyTheFirstOfThoseWithEqualTablesSendsTheirs) {
  Apart all(4);
  Cluster& cluster = all.cluster;
  cluster.settle("ab");
  cluster.settle("cd");
  cluster.install("abcd");
  for (const char letter : {'a', 'c'}) EXPECT_EQ(cluster[letter].control.size(), 1U);
  for (const char letter : {'b', 'd'}) EXPECT_TRUE(cluster[letter].control.empty());
  for (const auto& each : cluster.daemons) each->take_log();
  cluster.order_all("abcd");
  EXPECT_THAT(cluster['b'].take_log(), ElementsAre("1 sees g by network: [x@a x@b] | x@c x@d"));
  for (const char letter : {'b', 'c', 'd'}) EXPECT_EQ(hash(cluster[letter]), hash(cluster['a']));
}

TEST(Exchange, AGroupOfOneSideKeepsItsIdAndHearsNothing) {
  Apart all(2);
  Cluster& cluster = all.cluster;
  EXPECT_TRUE(cluster['a'].groups->join(1, "own"));
  cluster.order_all("a");
  const GroupId before = cluster['a'].groups->table().groups().at("own").id;
  cluster['a'].take_log();
  cluster.settle("ab");
  EXPECT_THAT(cluster['a'].take_log(), ElementsAre("1 sees g by network: [x@a] | x@b"));
  EXPECT_EQ(cluster['b'].groups->table().groups().at("own").id, before);
}

TEST(Exchange, InterruptedItIsCompletedInTheTransitionalView) {
  Apart all(3);
  Cluster& cluster = all.cluster;
  cluster.install("abc");
  cluster.order_one('a');
  cluster.order_one('b');
  for (const auto& each : cluster.daemons) each->take_log();
  cluster.install("ab", [&] {
    EXPECT_EQ(cluster['a'].groups->state(), State::interrupted);
    EXPECT_TRUE(cluster.order_one('c', "ab"));
    EXPECT_EQ(cluster['a'].groups->state(), State::transitional);
  });
  EXPECT_THAT(cluster['a'].take_log(),
              ElementsAre("1 sees g by network: [x@a] | x@b | x@c", "1 loses members of g",
                          "1 sees g by network: [x@a x@b]"));
  EXPECT_EQ(cluster['a'].groups->state(), State::operational) << "their tables are equal";
  EXPECT_EQ(hash(cluster['a']), hash(cluster['b']));
}

TEST(Exchange, InterruptedForGoodItBeginsAgainInTheNextView) {
  Apart all(3);
  Cluster& cluster = all.cluster;
  cluster.install("abc");
  cluster.order_one('a');
  cluster.order_one('b');
  cluster.install("ab");
  EXPECT_EQ(cluster['a'].groups->state(), State::exchanging);
  EXPECT_EQ(cluster['b'].control.size(), 1U) << "still alone with its table";
  EXPECT_TRUE(cluster['a'].take_log().empty());
  cluster.order_all("ab");
  EXPECT_THAT(cluster['a'].take_log(), ElementsAre("1 sees g by network: [x@a] | x@b"));
  EXPECT_EQ(hash(cluster['a']), hash(cluster['b']));
}

/// Members that are lost while an exchange fails are reported after a later exchange.
TEST(Exchange, WhatAFailedExchangeLostIsTold) {
  Apart all(4);
  Cluster& cluster = all.cluster;
  cluster.settle("ab");
  for (const auto& each : cluster.daemons) each->take_log();
  cluster.install("abc");  // a's table stands for b too
  cluster.install("ad");   // b is lost, and no table of c came
  EXPECT_TRUE(cluster['d'].groups->leave(1, "g"));
  cluster.order_all("ad");
  EXPECT_THAT(cluster['a'].take_log(),
              ElementsAre("1 sees g by network: [x@a] | x@d", "1 sees g by leave of x@d: [x@a]"));

  cluster.install("acd");
  cluster.install("a");
  cluster.order_all("a");
  EXPECT_THAT(cluster['a'].take_log(), IsEmpty()) << "x at a was alone all the time";

  cluster.settle("ab");
  cluster['b'].take_log();
  cluster.install("bc");
  cluster.install("b");
  cluster.order_all("b");
  EXPECT_THAT(cluster['b'].take_log(),
              ElementsAre("1 loses members of g", "1 sees g by network: [x@b]"));
}

TEST(Exchange, TablesOfAnotherViewAreIgnored) {
  Apart all(2);
  Cluster& cluster = all.cluster;
  cluster.install("ab");
  const auto outdated = cluster['b'].control.front();
  cluster.install("ab");
  cluster['a'].groups->on_message({cluster['b'].id, 1, Service::agreed, {1, 0}}, outdated.bytes);
  EXPECT_EQ(cluster['a'].groups->counters().outdated_tables, 1U);
  EXPECT_TRUE(cluster.order_one('a'));
  EXPECT_EQ(cluster['a'].groups->state(), State::exchanging);
  cluster.order_all("ab");
  EXPECT_EQ(cluster['a'].groups->state(), State::operational);
}

TEST(Exchange, TablesAreIgnoredOnceItHasEnded) {
  Apart all(2);
  Cluster& cluster = all.cluster;
  cluster.install("ab");
  const auto again = cluster['b'].control.front();
  cluster.order_all("ab");
  Groups& groups = *cluster['a'].groups;
  groups.on_message({cluster['b'].id, 9, Service::agreed, {9, 0}}, again.bytes);
  EXPECT_EQ(groups.counters().outdated_tables, 1U);
  EXPECT_EQ(groups.counters().bad_tables, 0U);
  EXPECT_EQ(groups.state(), State::operational);
  groups.check_invariants();
}

TEST(Exchange, OtherMessagesDuringItAreOutOfTurn) {
  Apart all(3);
  Cluster& cluster = all.cluster;
  Groups& groups = *cluster['a'].groups;
  const auto give_leave = [&](char sender) {
    std::vector<std::byte> bytes;
    encode(Leave{{1, "x"}, "g"}, bytes);
    groups.on_message({cluster[sender].id, 9, Service::agreed, {9, 0}}, bytes);
    return groups.counters().out_of_turn;
  };
  const std::uint64_t before = hash(cluster['a']);
  cluster.install("abc");
  EXPECT_EQ(give_leave('a'), 1U);
  cluster.install("ab", [&] {
    EXPECT_EQ(groups.state(), State::interrupted);
    EXPECT_EQ(give_leave('a'), 2U);
  });
  EXPECT_EQ(hash(cluster['a']), before);
}

TEST(Exchange, TablesThatDoNotFitTheViewAreDropped) {
  Apart all(3);
  Cluster& cluster = all.cluster;
  cluster.install("ab");
  Groups& groups = *cluster['a'].groups;
  const auto give = [&](char sender, std::string_view synced) {
    Tables tables;
    tables.view = cluster['a'].in;
    for (const char letter : synced) tables.synced.push_back(cluster[letter].id);
    std::vector<std::byte> bytes;
    encode(tables, bytes);
    groups.on_message({cluster[sender].id, 1, Service::agreed, {1, 0}}, bytes);
    return groups.counters().bad_tables;
  };
  EXPECT_EQ(give('b', "ab"), 1U) << "a is the first of them";
  EXPECT_EQ(give('b', "bc"), 2U) << "c is not here";
  EXPECT_EQ(give('b', "b"), 2U);
  EXPECT_EQ(give('b', "b"), 3U) << "twice";
  EXPECT_EQ(give('a', "ab"), 4U) << "b has spoken for itself";
  EXPECT_EQ(groups.state(), State::exchanging);
  EXPECT_EQ(give('a', "a"), 4U);
  EXPECT_EQ(groups.state(), State::operational);
}

TEST(Exchange, GroupsThatEmptyAndReturnGetIdsTheyNeverHad) {
  Cluster cluster(1);
  cluster.settle("a");
  Groups& groups = *cluster['a'].groups;
  const std::uint32_t x = cluster['a'].connect("x");
  std::vector<GroupId> ids;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(groups.join(x, "g"));
    cluster.order_all("a");
    ids.push_back(groups.table().groups().at("g").id);
    EXPECT_TRUE(groups.leave(x, "g"));
    cluster.order_all("a");
    EXPECT_TRUE(groups.table().groups().empty());
  }
  EXPECT_LT(ids[0], ids[1]);
  EXPECT_LT(ids[1], ids[2]);
}

/// A view may end differently in each of its parts, and a view may consist of parts of several
/// earlier views. Between two views, each part gives its states of a group ids that no other part
/// uses. Ids of a group only grow.
TEST(Exchange, PartsNameTheirStatesApart) {
  Apart all(4);
  Cluster& cluster = all.cluster;
  const auto leave_in_between = [&](std::string_view members, std::string_view leavers) {
    std::vector<GroupId> ids;
    for (const char letter : leavers) EXPECT_TRUE(cluster[letter].groups->leave(1, "g"));
    cluster.install(members, [&] {
      for (const char letter : leavers) {
        std::string part;
        for (const char other : members) {
          if (cluster[other].in == cluster[letter].in) part += other;
        }
        const GroupId before = cluster[letter].groups->table().groups().at("g").id;
        cluster.order_one(letter, part);
        ids.push_back(cluster[letter].groups->table().groups().at("g").id);
        EXPECT_LT(before, ids.back());
      }
    });
    return ids;
  };
  cluster.settle("ab");
  cluster.settle("cd");
  auto ids = leave_in_between("abcd", "ac");
  EXPECT_NE(ids[0], ids[1]) << "parts of one next view";
  cluster.order_all("abcd");
  EXPECT_TRUE(cluster['a'].groups->join(1, "g") && cluster['c'].groups->join(1, "g"));
  cluster.order_all("abcd");
  ids = leave_in_between("ab", "a");
  ids.push_back(leave_in_between("cd", "c")[0]);
  EXPECT_NE(ids[0], ids[1]) << "parts of one view before";
}

/// b goes to a view together with a, but a never installs this view and goes to another one. a and
/// b had the same previous view, and both new views have the same smallest member. The ids that a
/// and b use between the views must differ.
TEST(Exchange, WhoDoesNotComeAlongNamesItsStatesApart) {
  Apart all(3);
  Cluster& cluster = all.cluster;
  cluster.settle("abc");
  for (const char letter : {'a', 'b'}) {
    EXPECT_TRUE(cluster[letter].groups->join(cluster[letter].connect("stays"), "g"));
  }
  cluster.order_all("abc");
  const auto after = [&](char letter, std::uint64_t next, const std::vector<MemberId>& survivors) {
    Daemon& daemon = cluster[letter];
    EXPECT_TRUE(daemon.groups->leave(1, "g"));
    const GroupId before = daemon.groups->table().groups().at("g").id;
    daemon.groups->on_view({true, {next, cluster['a'].id}, daemon.in, survivors, {}}, daemon.id);
    cluster.order_one(letter, std::string(1, letter));
    const GroupId between = daemon.groups->table().groups().at("g").id;
    EXPECT_LT(before, between);
    daemon.in = {next, cluster['a'].id};
    daemon.groups->on_view({false, daemon.in, {}, survivors, {}}, daemon.id);
    EXPECT_LT(between, daemon.groups->table().groups().at("g").id);
    return between;
  };
  const MemberId a = cluster['a'].id, b = cluster['b'].id;
  EXPECT_NE(after('b', 10, {a, b}), after('a', 11, {a}));
}

/// The exchange of 1,000 groups with 1,000 members each is interrupted.
TEST(Exchange, LargeTablesSurviveAnInterruption) {
  Cluster cluster(4, 64U << 20);
  cluster.install("abcd");
  for (const auto& daemon : cluster.daemons) {  // each daemon reports 250 clients in each group
    Tables tables;
    tables.view = daemon->in;
    tables.synced = {daemon->id};
    DaemonMembers members{daemon->id, {}};
    for (std::uint32_t c = 1; c <= 250; ++c) {
      members.clients.push_back({c, "c" + std::to_string(1'000 + c)});
    }
    for (int g = 1'000; g < 2'000; ++g) {
      tables.groups.push_back({"g" + std::to_string(g), {daemon->in, 1}, false, {members}});
    }
    std::vector<std::byte> bytes;
    encode(tables, bytes);
    daemon->replace_control(bytes);
  }
  cluster.order_all("abcd");
  const auto members = [&](char letter) {
    std::size_t count = 0;
    for (const auto& [name, group] : cluster[letter].groups->table().groups()) {
      for (const auto& daemon : group.daemons) count += daemon.clients.size();
    }
    return count;
  };
  EXPECT_EQ(members('d'), 1'000'000U);
  cluster.install("ab");
  cluster.install("cd");
  cluster.install("abcd");
  EXPECT_TRUE(cluster.order_one('a'));
  cluster.settle("abc");
  for (const char letter : {'a', 'b', 'c'}) {
    EXPECT_EQ(cluster[letter].groups->state(), State::operational);
    EXPECT_EQ(members(letter), 750'000U);
    EXPECT_EQ(hash(cluster[letter]), hash(cluster['a']));
  }
  EXPECT_EQ(cluster['d'].groups->state(), State::exchanging);
}

}  // namespace
}  // namespace peal::group::test
