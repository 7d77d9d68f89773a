// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster.h"
#include "group/groups.h"
#include "group/traffic.h"

// Clients get a gap for messages that were ordered in views without their daemon. They get no gap
// for other reasons.

namespace peal::group::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

/// All daemons are in one view, and each has a client x. Client z at c is the only member of group
/// kv.
struct Kv {
  explicit Kv(std::uint32_t nodes = 3) : cluster(nodes) {
    for (std::uint32_t n = 0; n < nodes; ++n) all += static_cast<char>('a' + n);
    cluster.settle(all);
    for (const char letter : all) x = cluster[letter].connect("x");
    z = cluster['c'].connect("z");
    EXPECT_TRUE(cluster['c'].groups->join(z, "kv"));
    cluster.order_all(all);
    for (const auto& each : cluster.daemons) each->take_log();
  }
  void send(char from, std::string_view to, std::string_view text) {
    EXPECT_TRUE(cluster[from].send(x, to, text));
    cluster.order_all(std::string(1, from));
  }
  std::vector<std::string> told() { return cluster['c'].take_log(); }

  std::string all;
  Cluster cluster;
  std::uint32_t x = 0, z = 0;
};

TEST(Gaps, AMemberThatIsAloneInItsGroupIsToldWhatItMissed) {
  Kv kv;
  kv.send('a', "kv", "one");
  kv.cluster.settle("ab");
  kv.send('a', "kv", "MISSED");
  kv.cluster.settle("abc");
  kv.send('a', "kv", "three");
  EXPECT_THAT(kv.told(),
              ElementsAre("2 got one from x@a", "2 missed some of kv", "2 got three from x@a"));
}

TEST(Gaps, NothingIsToldWithoutAMessage) {
  Kv kv;
  kv.send('a', "kv", "one");
  kv.cluster.settle("ab");
  kv.send('a', "other", "for others");
  kv.send('a', "#x#b", "for another");
  kv.cluster.settle("a");
  kv.cluster.settle("abc");
  EXPECT_THAT(kv.told(), ElementsAre("2 got one from x@a"));
}

TEST(Gaps, OneThatWasCutOffAloneIsTold) {
  Kv kv;
  kv.cluster.settle("c");
  kv.cluster.settle("ab");
  kv.send('a', "kv", "MISSED");
  kv.cluster.settle("abc");
  EXPECT_THAT(kv.told(), ElementsAre("2 missed some of kv"));
  kv.cluster.settle("ab");
  kv.cluster.settle("abc");
  EXPECT_THAT(kv.told(), IsEmpty()) << "it was told already";
}

TEST(Gaps, PrivateNamesAreNamesToo) {
  Kv kv;
  kv.cluster.settle("ab");
  kv.send('a', "#z#c", "MISSED");
  kv.cluster.settle("abc");
  EXPECT_THAT(kv.told(), ElementsAre("2 missed some of its own"));
}

TEST(Gaps, TheGapStandsBeforeTheViews) {
  Kv kv;
  EXPECT_TRUE(kv.cluster['a'].groups->join(kv.x, "kv"));
  kv.cluster.order_all("abc");
  kv.told();
  kv.cluster.settle("c");
  kv.cluster.settle("ab");
  kv.send('a', "kv", "MISSED");
  kv.cluster.settle("abc");
  EXPECT_THAT(kv.told(), ElementsAre("2 loses members of kv", "2 sees kv by network: [z@c]",
                                     "2 missed some of kv", "2 sees kv by network: x@a | [z@c]"));
  EXPECT_THAT(kv.cluster['a'].take_log(), Not(Contains("1 missed some of kv")));
}

TEST(Gaps, WhatWasSentIsRememberedOverViewsAndByWhoHeardOfIt) {
  Kv kv(5);
  kv.cluster.settle("ab");
  kv.send('a', "kv", "MISSED");
  kv.cluster.settle("a");
  kv.cluster.settle("abd");  // d learns of the message from a
  kv.cluster.settle("d");
  kv.cluster.settle("de");  // e learns of the message from d
  kv.cluster.settle("ce");
  EXPECT_THAT(kv.told(), ElementsAre("2 missed some of kv"));
}

/// All daemons deliver the messages `one`. Only a and b deliver `two`, in the same view. So c
/// misses messages only to the group of `two`.
TEST(Gaps, WhatALostMemberDeliveredOfTheViewIsNotMissed) {
  Kv kv;
  EXPECT_TRUE(kv.cluster['c'].groups->join(kv.z, "both"));
  kv.cluster.order_all("abc");
  kv.told();
  kv.send('a', "kv", "one");
  kv.send('a', "both", "one");
  EXPECT_TRUE(kv.cluster['a'].send(kv.x, "both", "two"));
  EXPECT_TRUE(kv.cluster.order_one('a', "ab"));
  kv.cluster.settle("ab");
  kv.cluster.settle("abc");
  EXPECT_THAT(kv.told(),
              ElementsAre("2 got one from x@a", "2 got one from x@a", "2 missed some of both"));
}

/// In their transitional views, both parts deliver the remaining messages of the old view. c
/// delivers all three, and a and b deliver the first two.
TEST(Gaps, WhatBothPartsDeliverInTheirTransitionalViewsIsNotMissed) {
  Kv kv;
  for (const char* text : {"one", "two", "three"}) {
    EXPECT_TRUE(kv.cluster['a'].send(kv.x, "kv", text));
  }
  const auto rest = [&](std::string_view to, Seq from, int count) {
    for (int i = 0; i < count; ++i) {
      const auto& message = kv.cluster['a'].waiting[static_cast<std::size_t>(i)];
      for (const char letter : to) {
        const Seq seq = from + static_cast<Seq>(i);
        kv.cluster[letter].groups->on_message({kv.cluster['a'].id, seq, message.service, {seq, 0}},
                                              message.bytes);
      }
    }
  };
  kv.cluster.install("ab", [&] { rest("ab", 10, 2); });
  kv.cluster.install("c", [&] { rest("c", 10, 3); });
  kv.cluster['a'].waiting.clear();
  kv.cluster.settle("abc");
  EXPECT_THAT(kv.told(), Not(Contains("2 missed some of kv")));

  Kv other;
  EXPECT_TRUE(other.cluster['a'].send(other.x, "kv", "one"));
  const auto message = other.cluster['a'].waiting.front();
  other.cluster['a'].waiting.clear();
  const auto place = [&](char letter, Seq seq) {
    other.cluster[letter].groups->on_message(
        {other.cluster['a'].id, seq, message.service, {seq, 0}}, message.bytes);
  };
  other.cluster.install("ab", [&] {
    for (const char letter : {'a', 'b'}) {
      place(letter, 10);
      place(letter, 12);
    }
  });
  other.cluster.install("c", [&] {
    place('c', 10);
    place('c', 11);
  });
  other.cluster.settle("abc");
  EXPECT_THAT(other.told(), Contains("2 missed some of kv")) << "12 went to the others";
}

TEST(Gaps, AStartCostsNothing) {
  // Daemon b starts late. Its client joins g before b installs its first view, which is with a.
  Cluster cluster(2);
  cluster.settle("a");
  const std::uint32_t x = cluster['a'].connect("x");
  EXPECT_TRUE(cluster['a'].send(x, "g,#y#b", "before"));
  cluster.order_all("a");
  const std::uint32_t y = cluster['b'].connect("y");
  EXPECT_TRUE(cluster['b'].groups->join(y, "g"));
  cluster.settle("ab");
  EXPECT_THAT(cluster['b'].take_log(), ElementsAre("1 sees g by join of y@b: [y@b]"));
}

/// A client joins g while its daemon b is alone in a view. Nobody knows whether the message in the
/// view of a was sent before this join, so the client gets a gap.
TEST(Gaps, WhoJoinsWhileItsDaemonIsAloneIsTold) {
  Cluster cluster(2);
  cluster.settle("a");
  cluster.settle("b");
  const std::uint32_t y = cluster['b'].connect("y");
  EXPECT_TRUE(cluster['b'].groups->join(y, "g"));
  cluster.order_all("b");
  EXPECT_TRUE(cluster['a'].send(cluster['a'].connect("x"), "g", "MISSED"));
  cluster.order_all("a");
  cluster['b'].take_log();
  cluster.settle("ab");
  EXPECT_THAT(cluster['b'].take_log(), ElementsAre("1 missed some of g"));
}

TEST(Gaps, AboveTheBoundAllNamesAreTold) {
  Kv kv;
  kv.cluster.settle("ab");
  for (std::size_t i = 0; i <= kTrafficNamesMax; ++i) {
    kv.send('a', "group " + std::to_string(i), "for others");
  }
  kv.cluster.settle("abc");
  EXPECT_THAT(kv.told(), ElementsAre("2 missed some of kv", "1 missed some of its own",
                                     "2 missed some of its own"));
}

TEST(Gaps, JustBelowTheBoundNamesAreExact) {
  Kv kv;
  kv.cluster.settle("ab");
  for (std::size_t i = 0; i < kTrafficNamesMax; ++i) {
    kv.send('a', "group " + std::to_string(i), "for others");
  }
  kv.cluster.settle("abc");
  EXPECT_THAT(kv.told(), IsEmpty());
}

/// Nodes forget traffic that all nodes know. Otherwise tables would grow for ever.
TEST(Gaps, WhatAllNodesKnowIsForgotten) {
  Kv kv;
  for (const auto& each : kv.cluster.daemons) {
    each->groups->set_nodes({NodeId{1}, NodeId{2}, NodeId{3}});
  }
  kv.send('a', "early", "for nobody");
  kv.cluster.settle("abc");
  kv.cluster.settle("abc");
  kv.cluster.settle("abc");
  kv.cluster.settle("abc");
  kv.cluster.install("c");
  kv.cluster.install("ab");
  kv.cluster.install("abc");
  ASSERT_EQ(kv.cluster['a'].control.size(), 1U);
  Tables tables;
  ASSERT_EQ(decode(kv.cluster['a'].control.front().bytes, tables), wire::Drop::none);
  ASSERT_EQ(tables.traffic.size(), 1U);
  EXPECT_THAT(tables.traffic[0].views, IsEmpty());
  EXPECT_THAT(tables.traffic[0].forgotten.names, ElementsAre("early"));
  kv.cluster.order_all("abc");
  // But nodes remember traffic of which c does not know yet.
  kv.cluster.settle("ab");
  kv.send('a', "kv", "MISSED");
  for (int i = 0; i < 5; ++i) kv.cluster.settle("ab");
  kv.told();
  kv.cluster.settle("abc");
  EXPECT_THAT(kv.told(), ElementsAre("2 missed some of kv"));
}

/// Nodes forget traffic only when every node has been in the views after this traffic. While c is
/// away, views of a and b do not count.
TEST(Gaps, NothingIsForgottenWhileANodeIsAway) {
  Kv kv;
  for (const auto& each : kv.cluster.daemons) {
    each->groups->set_nodes({NodeId{1}, NodeId{2}, NodeId{3}});
  }
  kv.cluster.settle("abc");
  kv.send('a', "kv", "one");
  kv.cluster.settle("ab");
  kv.send('a', "other", "for others");
  for (int i = 0; i < 5; ++i) kv.cluster.settle("ab");
  kv.cluster.settle("abc");
  EXPECT_THAT(kv.told(), ElementsAre("2 got one from x@a")) << "exact, as nothing was forgotten";
}

TEST(Gaps, TheViewBeforeTheLastOneIsRemembered) {
  Kv kv;
  for (const auto& each : kv.cluster.daemons) {
    each->groups->set_nodes({NodeId{1}, NodeId{2}, NodeId{3}});
  }
  const ViewId sent_in = kv.cluster['a'].in;
  kv.send('a', "early", "for nobody");
  kv.cluster.settle("abc");
  kv.cluster.settle("abc");
  kv.cluster.install("c");
  kv.cluster.install("ab");
  kv.cluster.install("abc");
  ASSERT_EQ(kv.cluster['a'].control.size(), 1U);
  Tables tables;
  ASSERT_EQ(decode(kv.cluster['a'].control.front().bytes, tables), wire::Drop::none);
  ASSERT_EQ(tables.traffic.size(), 1U);
  EXPECT_TRUE(tables.traffic[0].forgotten.empty());
  ASSERT_EQ(tables.traffic[0].views.size(), 1U);
  EXPECT_EQ(tables.traffic[0].views[0].view, sent_in);
}

/// a and b believe that c came with them to their last view. But c did not complete the exchange
/// before, so a and b must not yet forget the traffic that c missed long before.
TEST(Gaps, WhatIsForgottenIsKnownToAllEvenIfOneWasInTwoTransitionalViews) {
  Kv kv;
  for (const auto& each : kv.cluster.daemons) {
    each->groups->set_nodes({NodeId{1}, NodeId{2}, NodeId{3}});
  }
  kv.cluster.settle("ab");
  kv.send('a', "kv", "MISSED");
  kv.cluster.settle("ab");
  kv.cluster.settle("ab");
  kv.cluster.install("abc");
  // The tables of a and c reach a and b. No table reaches c.
  EXPECT_TRUE(kv.cluster.order_one('a', "ab"));
  EXPECT_TRUE(kv.cluster.order_one('c', "ab"));
  const std::vector<MemberId> all{kv.cluster['a'].id, kv.cluster['b'].id, kv.cluster['c'].id};
  const ViewId next{100, all.front()};
  for (const char letter : {'a', 'b'}) {
    Daemon& daemon = kv.cluster[letter];
    daemon.groups->on_view({true, next, daemon.in, all, {}}, daemon.id);
    daemon.in = next;
    daemon.groups->on_view({false, next, {}, all, {}}, daemon.id);
  }
  kv.cluster.settle("ab");
  kv.told();
  kv.cluster.settle("abc");
  EXPECT_THAT(kv.told(), ElementsAre("2 missed some of kv"));
}

/// Client z at d is in the groups kv and rest. The lists of a, b and c do not have d, so these
/// nodes forget traffic that d does not know.
struct Unlisted {
  Unlisted() {
    cluster.settle("d");
    z = cluster['d'].connect("z");
    for (const char* group : {"kv", "rest"}) EXPECT_TRUE(cluster['d'].groups->join(z, group));
    cluster.order_all("d");
    cluster.settle("abc");
    x = cluster['a'].connect("x");
    EXPECT_TRUE(cluster['a'].groups->join(x, "kv"));
    list("abc", 3);
    list("d", 4);
    cluster.order_all("abc");
  }
  void list(std::string_view of, std::uint32_t nodes) {
    std::vector<NodeId> all;
    for (std::uint32_t n = 1; n <= nodes; ++n) all.push_back(NodeId{n});
    for (const char letter : of) cluster[letter].groups->set_nodes(all);
  }
  void send(char from, std::uint32_t client, std::string_view to) {
    EXPECT_TRUE(cluster[from].send(client, to, "MISSED"));
    cluster.order_all(from == 'd' ? "d" : "abc");
  }
  void forget() {
    for (int i = 0; i < 4; ++i) cluster.settle("abc");
    for (const auto& each : cluster.daemons) each->take_log();
  }

  Cluster cluster{4};
  std::uint32_t x = 0, z = 0;
};

/// A node may serve clients before the other nodes list it. Until they list this node, they forget
/// their common traffic without waiting for it.
TEST(Gaps, WhoServedBeforeItWasListedIsToldOfWhatTheOthersForgot) {
  Unlisted some;
  some.send('a', some.x, "kv,#z#d");
  some.forget();
  some.list("abc", 4);
  some.cluster.settle("abcd");
  EXPECT_THAT(some.cluster['d'].take_log(),
              ElementsAre("1 missed some of kv", "1 missed some of its own",
                          "1 sees kv by network: x@a | [z@d]"));
  EXPECT_THAT(some.cluster['a'].take_log(), ElementsAre("1 sees kv by network: [x@a] | z@d"));
  some.cluster.settle("d");
  some.cluster.settle("abc");
  for (const auto& each : some.cluster.daemons) each->take_log();
  some.cluster.settle("abcd");
  EXPECT_THAT(some.cluster['d'].take_log(), Not(Contains("1 missed some of kv")))
      << "it was told already";
}

TEST(Gaps, WhatItOrderedItselfBeforeItWasListedIsTold) {
  Unlisted some;
  some.send('d', some.z, "kv");
  some.forget();
  some.list("abc", 4);
  some.cluster.settle("abcd");
  EXPECT_THAT(some.cluster['a'].take_log(),
              ElementsAre("1 missed some of kv", "1 sees kv by network: [x@a] | z@d"));
  EXPECT_THAT(some.cluster['d'].take_log(), Not(Contains("1 missed some of kv")));
}

/// Nodes get a new list at different times. So a and b forget traffic that c still remembers, but
/// none of the three missed any of it.
TEST(Gaps, WhoForgetsAtAnotherTimeMissedNothing) {
  Unlisted some;
  const std::uint32_t y = some.cluster['c'].connect("y");
  EXPECT_TRUE(some.cluster['c'].groups->join(y, "kv"));
  some.cluster.order_all("abc");
  some.list("c", 4);
  some.send('a', some.x, "kv");
  some.cluster.settle("abc");
  some.send('a', some.x, "kv");
  some.forget();
  some.cluster.settle("ab");
  some.cluster.settle("c");
  some.cluster.settle("abc");
  EXPECT_THAT(some.cluster['a'].take_log(), Not(Contains("1 missed some of kv")));
  EXPECT_THAT(some.cluster['c'].take_log(), Not(Contains("1 missed some of kv")));
  some.cluster.settle("abcd");
  EXPECT_THAT(some.cluster['a'].take_log(), Not(Contains("1 missed some of kv")));
  EXPECT_THAT(some.cluster['c'].take_log(), Not(Contains("1 missed some of kv")));
  EXPECT_THAT(some.cluster['d'].take_log(), Contains("1 missed some of kv"));
}

TEST(Gaps, OfWhatWasForgottenAllNamesAreToldAboveTheBound) {
  Unlisted some;
  for (std::size_t i = 0; i <= kTrafficNamesMax; ++i) {
    some.send('a', some.x, "group " + std::to_string(i));
    if (i % 1'000 == 0) some.cluster.settle("abc");
  }
  some.forget();
  some.list("abc", 4);
  some.cluster.settle("abcd");
  EXPECT_THAT(some.cluster['d'].take_log(), Contains("1 missed some of rest"));
}

/// The exchange of a, b and c fails. The client at c gets its gap only when the next exchange, of b
/// and c, has ended.
TEST(Gaps, AnExchangeThatFailedTellsNothingAndForgetsNothing) {
  Kv kv;
  kv.cluster.settle("ab");
  kv.send('a', "kv", "MISSED");
  kv.cluster.install("abc");
  kv.cluster.order_one('a');
  kv.cluster.install("bc");
  EXPECT_THAT(kv.told(), IsEmpty());
  kv.cluster.order_all("bc");
  EXPECT_THAT(kv.told(), ElementsAre("2 missed some of kv"));
}

}  // namespace
}  // namespace peal::group::test
