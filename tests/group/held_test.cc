// SPDX-License-Identifier: Apache-2.0
// Disjoint domains: nodes of other domains send while a domain exchanges its tables, and what the
// domain's own nodes had sent before keeps its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster.h"

namespace peal::group::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Log = std::vector<std::string>;

/// Daemons a, b and c are in one view, and have the clients x, y and z in group g. Daemon d is of
/// another domain, and has the client w.
class Held : public testing::Test {
 protected:
  Held() {
    cluster.settle("abc");
    EXPECT_TRUE(cluster['a'].groups->join(x, "g"));
    EXPECT_TRUE(cluster['b'].groups->join(y, "g"));
    EXPECT_TRUE(cluster['c'].groups->join(z, "g"));
    cluster.order_all("abc");
    forget();
  }

  void forget() {
    for (const auto& daemon : cluster.daemons) daemon->take_log();
  }
  /// A message of daemon d is ordered in the domain of `members`.
  void order_from_outside(std::string_view text, std::string_view members) {
    EXPECT_TRUE(cluster['d'].send(w, "g", text));
    EXPECT_TRUE(cluster.order_under_way('d', members));
  }

  Cluster cluster{4, 1U << 20, false, Domains::Kind::disjoint};
  std::uint32_t x = cluster['a'].connect("x");
  std::uint32_t y = cluster['b'].connect("y");
  std::uint32_t z = cluster['c'].connect("z");
  std::uint32_t w = cluster['d'].connect("w");
};

TEST_F(Held, AMessageWaitsForTheEndOfTheExchange) {
  cluster.settle("ab");
  forget();
  cluster.install("abc");
  order_from_outside("one", "abc");
  EXPECT_THAT(cluster['a'].take_log(), IsEmpty());
  EXPECT_EQ(cluster['a'].groups->counters().held, 1U);
  cluster.order_all("abc");
  EXPECT_THAT(cluster['a'].take_log(),
              ElementsAre("1 sees g by network: [x@a y@b] | z@c", "1 got one from w@d"));
  EXPECT_THAT(cluster['c'].take_log(),
              ElementsAre("1 loses members of g", "1 sees g by network: x@a y@b | [z@c]",
                          "1 got one from w@d"));
  EXPECT_EQ(cluster['a'].groups->counters().out_of_turn, 0U);
}

/// Its clients are told, and joins and leaves are kept: the tables are equal in the end.
TEST_F(Held, ADaemonThatMayHoldNoMoreDropsMessagesOfClients) {
  cluster.settle("ab");
  forget();
  const std::uint32_t u = cluster['a'].connect("u");
  EXPECT_TRUE(cluster['a'].groups->join(u, "g"));
  cluster['a'].held_bytes_max = 2'000;
  cluster.install("abc");
  EXPECT_TRUE(cluster.order_under_way('a', "abc"));
  order_from_outside(std::string(1'000, '1'), "abc");
  EXPECT_THAT(cluster['a'].take_log(), IsEmpty());
  order_from_outside(std::string(1'000, '2'), "abc");
  EXPECT_THAT(cluster['a'].take_log(), ElementsAre("all miss what was dropped"));
  EXPECT_EQ(cluster['a'].groups->counters().held_dropped, 2U);
  order_from_outside("3", "abc");
  cluster.order_all("abc");
  EXPECT_THAT(cluster['a'].take_log(), testing::Contains("1 got 3 from w@d"));
  EXPECT_THAT(cluster['b'].take_log(), testing::Contains(testing::HasSubstr("222 from w@d")));
  EXPECT_EQ(cluster['a'].groups->table().hash(), cluster['b'].groups->table().hash());
  EXPECT_EQ(cluster['a'].groups->table().groups().at("g").at(cluster['a'].id)->clients.size(), 2U);
}

/// Others than members change nothing, however often they try.
TEST_F(Held, ChangesOfOthersThanMembersAreNotHeld) {
  cluster.settle("ab");
  cluster.install("ab");
  cluster.install("abc");
  const std::uint64_t before = cluster['a'].groups->counters().held;
  EXPECT_TRUE(cluster['d'].groups->join(w, "g"));
  EXPECT_TRUE(cluster.order_under_way('d', "abc"));
  EXPECT_EQ(cluster['a'].groups->counters().held, before);
  cluster.order_all("abc");
  EXPECT_EQ(cluster['a'].groups->table().groups().at("g").daemons.size(), 3U);
}

TEST_F(Held, AGapIsToldFirst) {
  cluster.settle("ab");
  order_from_outside("missed by c", "ab");
  forget();
  cluster.install("abc");
  order_from_outside("one", "abc");
  cluster.order_all("abc");
  EXPECT_THAT(cluster['c'].take_log(),
              ElementsAre("1 loses members of g", "1 missed some of g",
                          "1 sees g by network: x@a y@b | [z@c]", "1 got one from w@d"));
}

TEST_F(Held, WhatAViewHeldTakesEffectAmongThoseThatCameTogether) {
  cluster.settle("ab");
  order_from_outside("missed by c", "ab");
  forget();
  cluster.install("abc");
  order_from_outside("one", "abc");
  cluster.install("abc");  // the exchange of the last view was not completed
  order_from_outside("two", "abc");
  cluster.order_all("abc");
  EXPECT_THAT(cluster['a'].take_log(),
              ElementsAre("1 got one from w@d", "1 sees g by network: [x@a y@b] | z@c",
                          "1 got two from w@d"));
  EXPECT_THAT(cluster['c'].take_log(),
              ElementsAre("1 loses members of g", "1 missed some of g", "1 got one from w@d",
                          "1 sees g by network: x@a y@b | [z@c]", "1 got two from w@d"));
}

TEST_F(Held, NothingIsMissedThatAViewHeld) {
  cluster.settle("ab");
  cluster.install("abc");
  order_from_outside("one", "abc");
  cluster.install("ab");  // c lacks nothing of the last view
  order_from_outside("two", "ab");
  cluster.order_all("ab");
  forget();
  cluster.settle("abc");
  EXPECT_THAT(cluster['c'].take_log(), ElementsAre("1 missed some of g", "1 got one from w@d",
                                                   "1 sees g by network: x@a y@b | [z@c]"));
  EXPECT_THAT(cluster['a'].take_log(), ElementsAre("1 sees g by network: [x@a y@b] | z@c"));
}

TEST_F(Held, AChangeThatWasUnderWayTakesEffectInTheTables) {
  cluster.settle("ab");
  const std::uint32_t u = cluster['a'].connect("u");
  EXPECT_TRUE(cluster['a'].groups->join(u, "g"));
  EXPECT_TRUE(cluster['b'].groups->leave(y, "g"));
  forget();
  cluster.install("abc");
  EXPECT_TRUE(cluster.order_under_way('a', "abc"));
  EXPECT_TRUE(cluster.order_under_way('b', "abc"));
  cluster.install("abc");
  order_from_outside("one", "abc");
  cluster.order_all("abc");
  for (const char each : {'a', 'b', 'c'}) {
    const Table::Group& group = cluster[each].groups->table().groups().at("g");
    EXPECT_EQ(group.daemons.size(), 2U) << each;
    EXPECT_EQ(cluster[each].groups->table().hash(), cluster['a'].groups->table().hash());
    EXPECT_EQ(*cluster[each].settled_hashes.rbegin(), *cluster['a'].settled_hashes.rbegin());
    EXPECT_EQ(cluster[each].groups->counters().bad_changes, 0U) << each;
  }
  EXPECT_THAT(
      cluster['a'].take_log(),
      ElementsAre("2 sees g by join of u@a: [u@a] | x@a y@b",
                  "1 sees g by join of u@a: u@a | [x@a y@b]", "2 sees g by leave of y@b: [u@a x@a]",
                  "1 sees g by leave of y@b: [u@a x@a]", "2 sees g by network: [u@a x@a] | z@c",
                  "1 sees g by network: [u@a x@a] | z@c", "2 got one from w@d",
                  "1 got one from w@d"));
}

TEST_F(Held, AChangeOfANodeOutsideTheViewHasNoEffect) {
  const std::uint32_t u = cluster['c'].connect("u");
  EXPECT_TRUE(cluster['c'].groups->join(u, "g"));
  cluster.settle("ab");
  forget();
  EXPECT_TRUE(cluster.order_under_way('c', "ab"));
  EXPECT_THAT(cluster['a'].take_log(), IsEmpty());
  EXPECT_EQ(cluster['a'].groups->table().groups().at("g").daemons.size(), 2U);
  EXPECT_EQ(cluster['a'].groups->counters().bad_changes, 0U);
}

TEST_F(Held, TheEndOfAViewMayCompleteAnExchange) {
  cluster.settle("ab");
  cluster.install("abc");
  order_from_outside("one", "abc");
  cluster.order_one('a');
  forget();
  cluster.install("ab", [&] {
    order_from_outside("two", "ab");
    EXPECT_TRUE(cluster.order_one('c', "ab"));
    order_from_outside("three", "ab");
  });
  cluster.order_all("ab");
  EXPECT_THAT(cluster['a'].take_log(),
              ElementsAre("1 sees g by network: [x@a y@b] | z@c", "1 got one from w@d",
                          "1 loses members of g", "1 got two from w@d", "1 got three from w@d",
                          "1 sees g by network: [x@a y@b]"));
}

TEST_F(Held, ANodeThatComesBackBringsWhatItsClientsDidMeanwhile) {
  Daemon& c = cluster['c'];
  const std::uint32_t u = c.connect("u");
  EXPECT_TRUE(c.groups->join(u, "g"));   // number 2 of c's clients
  EXPECT_TRUE(c.groups->leave(z, "g"));  // number 3
  c.taken = 3;
  c.groups->on_placed(1, 0, true);  // the join of z
  cluster.settle("ab");
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(cluster.order_under_way('c', "ab"));
  c.groups->on_placed(2, 0, false);
  forget();
  cluster.install("abc");
  EXPECT_TRUE(c.control.empty()) << "its table waits for the last message that was under way";
  c.groups->on_placed(3, 0, false);
  EXPECT_FALSE(c.control.empty());
  cluster.order_all("abc");
  EXPECT_THAT(cluster['a'].take_log(), ElementsAre("1 sees g by network: [x@a y@b] | u@c"));
  EXPECT_THAT(c.take_log(),
              ElementsAre("1 loses members of g", "2 sees g by network: [u@c] | z@c",
                          "1 sees g by network: u@c | [z@c]", "2 loses members of g",
                          "1 loses members of g", "1 left g", "2 sees g by network: [u@c]",
                          "2 loses members of g", "2 sees g by network: x@a y@b | [u@c]"));
  for (const char each : {'a', 'b', 'c'}) {
    EXPECT_EQ(cluster[each].groups->table().hash(), c.groups->table().hash()) << each;
  }
}

/// A client joins in a view whose exchange is not completed, and its connection ends in the next
/// view, without its node: the end comes behind the join.
TEST_F(Held, WhatANodeMissedComesBehindWhatItsLastViewHeld) {
  constexpr Seq kFar = 1'000'000;
  Daemon& c = cluster['c'];
  cluster.settle("ab");
  const std::uint32_t u = c.connect("u");
  EXPECT_TRUE(c.groups->join(u, "g"));  // number 2 of c's clients
  c.groups->disconnect(u);
  c.groups->work();  // number 3
  c.taken = 3;
  c.groups->on_placed(1, 0, true);
  cluster.install("abc");
  c.groups->on_placed(2, 0, true);
  EXPECT_TRUE(cluster.order_under_way('c', "abc"));
  cluster.install("ab");
  EXPECT_TRUE(cluster.order_under_way('c', "ab"));
  c.groups->on_placed(3, kFar, false);
  cluster.install("abc");
  cluster.order_all("abc");
  for (const char each : {'a', 'b', 'c'}) {
    EXPECT_EQ(cluster[each].groups->table().groups().at("g").daemons.size(), 3U) << each;
    const auto& of_c = cluster[each].groups->table().groups().at("g").at(c.id)->clients;
    ASSERT_EQ(of_c.size(), 1U) << each;
    EXPECT_EQ(of_c[0].connection, z);
    EXPECT_EQ(cluster[each].groups->table().hash(), cluster['a'].groups->table().hash()) << each;
    EXPECT_EQ(cluster[each].groups->counters().bad_changes, 0U) << each;
  }
}

}  // namespace
}  // namespace peal::group::test
