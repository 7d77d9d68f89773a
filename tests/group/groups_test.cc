// SPDX-License-Identifier: Apache-2.0
#include "group/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster.h"

// Which events clients receive. There is one scenario for each rule.

namespace peal::group::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// All daemons are in one view. Each has one client in group g: x at a, y at b and z at c, or p, q,
/// r and s if there are four daemons.
struct Together {
  explicit Together(std::uint32_t nodes) : cluster(nodes) {
    std::string all;
    for (std::uint32_t n = 0; n < nodes; ++n) all += static_cast<char>('a' + n);
    cluster.settle(all);
    for (const char letter : all) {
      const std::string client(1, static_cast<char>(letter - 'a' + (nodes > 3 ? 'p' : 'x')));
      EXPECT_TRUE(cluster[letter].groups->join(cluster[letter].connect(client), "g"));
    }
    cluster.order_all(all);
    for (const auto& each : cluster.daemons) each->take_log();
  }
  Cluster cluster;
};

TEST(Groups, JoiningTellsAllMembersWhoCameTogether) {
  Cluster cluster(2);
  cluster.settle("ab");
  Daemon &a = cluster['a'], &b = cluster['b'];
  const std::uint32_t x = a.connect("x"), y = b.connect("y"), z = a.connect("z");
  EXPECT_TRUE(a.groups->join(x, "g"));
  cluster.order_all("ab");
  EXPECT_THAT(a.take_log(), ElementsAre("1 sees g by join of x@a: [x@a]"));
  EXPECT_TRUE(b.groups->join(y, "g"));
  cluster.order_all("ab");
  EXPECT_THAT(a.take_log(), ElementsAre("1 sees g by join of y@b: [x@a] | y@b"));
  EXPECT_THAT(b.take_log(), ElementsAre("1 sees g by join of y@b: x@a | [y@b]"));
  EXPECT_TRUE(a.groups->join(z, "g"));
  cluster.order_all("ab");
  EXPECT_THAT(a.take_log(), ElementsAre("1 sees g by join of z@a: [x@a y@b] | z@a",
                                        "2 sees g by join of z@a: x@a y@b | [z@a]"));
}

TEST(Groups, LeavingTellsTheLeaverFirstAndTheOthersThatTheyStayTogether) {
  Together all(3);
  Daemon& a = all.cluster['a'];
  const std::uint32_t second = a.connect("w");
  EXPECT_TRUE(a.groups->join(second, "g"));
  all.cluster.order_all("abc");
  a.take_log();
  EXPECT_TRUE(a.groups->leave(second, "g"));
  EXPECT_TRUE(a.send(1, "g", "later"));
  all.cluster.order_all("abc");
  EXPECT_THAT(a.take_log(), ElementsAre("2 left g", "1 sees g by leave of w@a: [x@a y@b z@c]",
                                        "1 got later from x@a"));
  all.cluster['b'].groups->disconnect(1, wire::ClientCode::slow);
  all.cluster.order_all("abc");
  EXPECT_THAT(a.take_log(), ElementsAre("1 sees g by disconnect (slow) of y@b: [x@a z@c]"));
}

TEST(Groups, DisconnectingLeavesAllGroupsInOrderOfTheirNames) {
  Together all(2);
  Daemon &a = all.cluster['a'], &b = all.cluster['b'];
  for (const char* group : {"m", "b"}) {
    EXPECT_TRUE(a.groups->join(1, group));
    EXPECT_TRUE(b.groups->join(1, group));
  }
  all.cluster.order_all("ab");
  b.take_log();
  a.groups->disconnect(1);
  all.cluster.order_all("ab");
  EXPECT_THAT(b.take_log(), ElementsAre("1 sees b by disconnect of x@a: [y@b]",
                                        "1 sees g by disconnect of x@a: [y@b]",
                                        "1 sees m by disconnect of x@a: [y@b]"));
  EXPECT_EQ(a.groups->table().hash(), b.groups->table().hash());
}

TEST(Groups, AMessageComesOnceWhateverItsReceiverIsIn) {
  Together all(2);
  Daemon &a = all.cluster['a'], &b = all.cluster['b'];
  EXPECT_TRUE(b.groups->join(1, "h"));
  all.cluster.order_all("ab");
  b.take_log();
  EXPECT_TRUE(a.send(1, "h,g,#y#b,g,nobody", "hello"));
  all.cluster.order_all("ab");
  EXPECT_THAT(b.take_log(), ElementsAre("1 got hello from x@a"));
  EXPECT_THAT(a.take_log(), ElementsAre("1 got hello from x@a"));
}

TEST(Groups, AMessageComesAsItWasSent) {
  Together all(2);
  const std::string_view targets[] = {"h", "g", "h"};
  EXPECT_TRUE(all.cluster['a'].groups->send(
      1, {targets, Service::safe, 0x1234, false, as_bytes_view("payload")}));
  all.cluster.order_all("ab");
  for (const char letter : {'a', 'b'}) {
    const Daemon& daemon = all.cluster[letter];
    EXPECT_EQ(daemon.got_type, 0x1234U);
    EXPECT_EQ(daemon.got_service, Service::safe);
    EXPECT_THAT(daemon.got_targets, ElementsAre("g", "h"));
  }
}

TEST(Groups, WhoSendsNeedNotBeAMember) {
  Together all(2);
  Daemon& b = all.cluster['b'];
  const std::uint32_t stranger = b.connect("stranger");
  EXPECT_TRUE(b.send(stranger, "g", "hello"));
  all.cluster.order_all("ab");
  EXPECT_THAT(all.cluster['a'].take_log(), ElementsAre("1 got hello from stranger@b"));
  EXPECT_THAT(b.take_log(), ElementsAre("1 got hello from stranger@b"));
}

TEST(Groups, SelfDiscardKeepsAMessageFromItsSenderAlone) {
  Together all(2);
  Daemon& a = all.cluster['a'];
  EXPECT_TRUE(a.groups->join(a.connect("w"), "g"));
  all.cluster.order_all("ab");
  for (const auto& each : all.cluster.daemons) each->take_log();
  EXPECT_TRUE(a.send(1, "g", "hello", true));
  all.cluster.order_all("ab");
  EXPECT_THAT(a.take_log(), ElementsAre("2 got hello from x@a"));
  EXPECT_THAT(all.cluster['b'].take_log(), ElementsAre("1 got hello from x@a"));
}

TEST(Groups, APrivateNameReachesOneClientOfOneNode) {
  Cluster cluster(2);
  cluster.settle("ab");
  Daemon &a = cluster['a'], &b = cluster['b'];
  const std::uint32_t x = a.connect("x");
  a.connect("y");
  b.connect("x");
  EXPECT_TRUE(a.send(x, "#x#b", "to b"));
  EXPECT_TRUE(a.send(x, "#y#a", "to y"));
  EXPECT_TRUE(a.send(x, "#nobody#a,#x#c", "to nobody"));
  cluster.order_all("ab");
  EXPECT_THAT(a.take_log(), ElementsAre("2 got to y from x@a"));
  EXPECT_THAT(b.take_log(), ElementsAre("1 got to b from x@a"));
}

/// The example of the design. Clients x at a and z at c are in g. The view splits into {a, b} and
/// {c, d}, which then merge again.
TEST(Groups, APartitionAndItsEnd) {
  Cluster cluster(4);
  cluster.settle("abcd");
  Daemon &a = cluster['a'], &c = cluster['c'];
  EXPECT_TRUE(a.groups->join(a.connect("x"), "g"));
  EXPECT_TRUE(c.groups->join(c.connect("z"), "g"));
  cluster.order_all("abcd");
  a.take_log();
  c.take_log();
  EXPECT_TRUE(c.send(1, "g", "before"));
  EXPECT_TRUE(a.send(1, "g", "between"));
  cluster.order_one('c');
  cluster.install("ab", [&] { cluster.order_one('a', "ab"); });
  cluster.install("cd");
  EXPECT_THAT(a.take_log(), ElementsAre("1 got before from z@c", "1 loses members of g",
                                        "1 got between from x@a", "1 sees g by network: [x@a]"));
  EXPECT_THAT(c.take_log(), ElementsAre("1 got before from z@c", "1 loses members of g",
                                        "1 sees g by network: [z@c]"));
  cluster.install("abcd");
  EXPECT_THAT(a.take_log(), IsEmpty()) << "nobody in g is lost";
  cluster.order_all("abcd");
  EXPECT_THAT(a.take_log(), ElementsAre("1 sees g by network: [x@a] | z@c"));
  EXPECT_THAT(c.take_log(), ElementsAre("1 missed some of g", "1 sees g by network: x@a | [z@c]"));
}

TEST(Groups, WhoLosesNobodyIsToldNothingWhenAViewShrinks) {
  Together all(3);
  Daemon& a = all.cluster['a'];
  EXPECT_TRUE(a.groups->join(1, "own"));
  all.cluster.order_all("abc");
  a.take_log();
  all.cluster.install("ab");
  EXPECT_THAT(a.take_log(), ElementsAre("1 loses members of g", "1 sees g by network: [x@a y@b]"));
  EXPECT_EQ(a.groups->state(), Groups::State::operational) << "nothing to exchange";
}

TEST(Groups, ChangesInATransitionalViewSaySo) {
  Together all(4);  // clients p, q, r and s
  Cluster& cluster = all.cluster;
  Daemon& a = cluster['a'];
  EXPECT_TRUE(a.groups->join(a.connect("late"), "g"));
  EXPECT_TRUE(cluster['d'].groups->leave(1, "g"));
  EXPECT_TRUE(cluster['c'].groups->join(cluster['c'].connect("far"), "own"));
  EXPECT_TRUE(a.groups->join(1, "own"));
  cluster.install("ab", [&] {
    cluster.order_one('a', "ab");
    cluster.order_one('d', "ab");
    cluster.order_one('c', "ab");
    cluster.order_one('a', "ab");
  });
  EXPECT_THAT(a.take_log(),
              ElementsAre("1 loses members of g",  // 2 is client late, 1 is p
                          "2 sees g by network: [late@a] | p@a q@b | r@c | s@d",
                          "1 sees g by network: late@a | [p@a q@b] | r@c | s@d",
                          "2 loses members of g", "1 loses members of g",
                          // s has left g, so its set is gone
                          "2 sees g by network: [late@a p@a q@b] | r@c",
                          "1 sees g by network: [late@a p@a q@b] | r@c", "2 loses members of g",
                          "1 loses members of g",
                          // far@c joined own, although c is lost
                          "1 sees own by network: [p@a] | far@c", "1 loses members of own",
                          // events of the new view of nodes
                          "2 sees g by network: [late@a p@a q@b]",
                          "1 sees g by network: [late@a p@a q@b]", "1 sees own by network: [p@a]"));
}

TEST(Groups, LosingMembersGivesAGroupAnIdInTheTransitionalViewAndAnotherInTheNext) {
  Together all(2);
  Daemon& a = all.cluster['a'];
  EXPECT_TRUE(a.groups->join(1, "own"));
  all.cluster.order_all("ab");
  const auto id = [&](const char* group) { return a.groups->table().groups().at(group).id; };
  const GroupId before = id("g"), own = id("own");
  GroupId between{};
  all.cluster.install("a", [&] {
    between = id("g");
    EXPECT_EQ(id("own"), own) << "it lost nobody";
  });
  EXPECT_LT(before, between);
  EXPECT_LT(between, id("g"));
  EXPECT_EQ(id("own"), own);
}

TEST(Groups, ClientsWaitUntilTablesAreEqual) {
  Together all(2);
  Cluster& cluster = all.cluster;
  cluster.install("a");
  cluster.install("b");
  EXPECT_TRUE(cluster['a'].send(1, "g", "early"));
  cluster.install("ab");
  EXPECT_TRUE(cluster['a'].blocked && cluster['b'].blocked);
  EXPECT_TRUE(cluster.order_one('a'));
  EXPECT_FALSE(cluster.order_one('a'));
  EXPECT_TRUE(cluster.order_one('b'));
  EXPECT_FALSE(cluster['a'].blocked || cluster['b'].blocked);
  cluster['b'].take_log();
  cluster.order_all("ab");
  EXPECT_THAT(cluster['b'].take_log(), ElementsAre("1 got early from x@a"));
}

TEST(Groups, AJoinOfAClientThatIsGoneComesAndGoes) {
  Together all(2);
  Daemon& a = all.cluster['a'];
  const std::uint32_t w = a.connect("w");
  EXPECT_TRUE(a.groups->join(w, "g"));
  a.groups->disconnect(w);
  EXPECT_TRUE(a.groups->connect("w"));
  all.cluster.order_all("ab");
  for (const char letter : {'a', 'b'}) {
    const std::string set = "[x@a y@b]";
    EXPECT_THAT(all.cluster[letter].take_log(),
                ElementsAre("1 sees g by join of w@a: w@a | " + set,
                            "1 sees g by disconnect of w@a: " + set));
  }
}

}  // namespace
}  // namespace peal::group::test
