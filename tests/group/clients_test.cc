// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster.h"
#include "group/groups.h"

// Requests of clients: which requests are accepted, and which are refused.

namespace peal::group::test {
namespace {

using testing::ElementsAre;

struct Alone {
  Alone() { cluster.settle("a"); }
  Cluster cluster{1};
  Daemon& a = cluster['a'];
  Groups& groups = *a.groups;
  const std::uint32_t x = a.connect("x");
};

TEST(Clients, ConnectionsAreNeverUsedTwice) {
  Alone alone;
  alone.groups.disconnect(alone.x);
  const std::uint32_t again = alone.a.connect("x");
  EXPECT_NE(again, alone.x);
  EXPECT_EQ(alone.groups.join(alone.x, "g").error(), Refusal::no_client);
  EXPECT_EQ(alone.groups.leave(alone.x, "g").error(), Refusal::no_client);
  EXPECT_EQ(alone.a.send(alone.x, "g", "").error(), Refusal::no_client);
  alone.groups.disconnect(alone.x);
  EXPECT_EQ(alone.groups.clients(), 1U);
}

TEST(Clients, NamesAreChecked) {
  Alone alone;
  EXPECT_EQ(alone.groups.connect("x").error(), Refusal::name_in_use);
  for (const char* bad : {"", "a#b", "a\nb"}) {
    EXPECT_EQ(alone.groups.connect(bad).error(), Refusal::bad_name);
  }
  EXPECT_EQ(alone.groups.join(alone.x, "#x#a").error(), Refusal::bad_name);
  EXPECT_EQ(alone.a.send(alone.x, "g,#x", "").error(), Refusal::bad_name);
  EXPECT_EQ(alone.groups.send(alone.x, {}).error(), Refusal::bad_name) << "no targets";
  const std::vector<std::string_view> many(kTargetsMax + 1, "g");
  EXPECT_EQ(alone.groups.send(alone.x, {many, Service::agreed, 0, false, {}}).error(),
            Refusal::bad_name);
  EXPECT_TRUE(alone.a.waiting.empty()) << "what is refused is not submitted";
  const std::span<const std::string_view> most(many.data(), kTargetsMax);
  EXPECT_TRUE(alone.groups.send(alone.x, {most, Service::agreed, 0, false, {}}));
}

TEST(Clients, MembershipsAreCheckedAsTheClientWishedThem) {
  Alone alone;
  EXPECT_EQ(alone.groups.leave(alone.x, "g").error(), Refusal::no_member);
  EXPECT_TRUE(alone.groups.join(alone.x, "g"));
  EXPECT_EQ(alone.groups.join(alone.x, "g").error(), Refusal::member_already);
  EXPECT_TRUE(alone.groups.leave(alone.x, "g"));
  EXPECT_EQ(alone.groups.leave(alone.x, "g").error(), Refusal::no_member);
  EXPECT_TRUE(alone.groups.join(alone.x, "g"));
  alone.cluster.order_all("a");
  EXPECT_THAT(alone.a.take_log(), ElementsAre("1 sees g by join of x@a: [x@a]", "1 left g",
                                              "1 sees g by join of x@a: [x@a]"));
}

TEST(Clients, AFullQueueIsSaidAndNothingHappened) {
  Alone alone;
  alone.a.room = 0;
  EXPECT_EQ(alone.groups.join(alone.x, "g").error(), Refusal::would_block);
  EXPECT_EQ(alone.groups.leave(alone.x, "g").error(), Refusal::no_member);
  EXPECT_EQ(alone.a.send(alone.x, "g", "").error(), Refusal::would_block);
  alone.a.room = 1;
  EXPECT_TRUE(alone.groups.join(alone.x, "g"));
}

TEST(Clients, AGoodbyeThatFindsNoRoomIsSaidLater) {
  Alone alone;
  EXPECT_TRUE(alone.groups.join(alone.x, "g"));
  const std::uint32_t y = alone.a.connect("y");
  EXPECT_TRUE(alone.groups.join(y, "g"));
  alone.cluster.order_all("a");
  alone.a.take_log();
  alone.a.room = 0;
  alone.groups.disconnect(alone.x);
  EXPECT_EQ(alone.groups.connect("x").error(), Refusal::name_in_use) << "not before it is said";
  alone.groups.check_invariants();
  alone.a.room = 1;
  alone.groups.work();
  EXPECT_TRUE(alone.groups.connect("x"));
  alone.cluster.order_all("a");
  EXPECT_THAT(alone.a.take_log(), ElementsAre("2 sees g by disconnect of x@a: [y@a]"));
}

TEST(Clients, ConnectingSubmitsTheGoodbyeThatHoldsTheName) {
  Alone alone;
  EXPECT_TRUE(alone.groups.join(alone.x, "g"));
  alone.cluster.order_all("a");
  alone.a.room = 0;
  alone.groups.disconnect(alone.x);
  EXPECT_TRUE(alone.groups.has_work());
  alone.a.room = 1;
  EXPECT_TRUE(alone.groups.connect("x"));
  EXPECT_FALSE(alone.groups.has_work());
}

TEST(Clients, WhoIsGoneIsToldNothingThoughItStillStandsInTheTable) {
  Alone alone;
  EXPECT_TRUE(alone.groups.join(alone.x, "g"));
  alone.cluster.order_all("a");
  alone.a.take_log();
  const std::uint32_t y = alone.a.connect("y");
  EXPECT_TRUE(alone.a.send(y, "g,#x#a", "late"));
  EXPECT_TRUE(alone.groups.leave(alone.x, "g"));
  alone.groups.disconnect(alone.x);
  alone.cluster.order_all("a");
  EXPECT_TRUE(alone.a.take_log().empty());
}

TEST(Clients, ThereIsRoomForSoManyOnly) {
  Cluster cluster(1);
  Options options;
  options.node_name = "a";
  options.clients_max = 2;
  Groups groups(options, cluster['a']);
  EXPECT_TRUE(groups.connect("x"));
  EXPECT_TRUE(groups.connect("y"));
  EXPECT_EQ(groups.connect("z").error(), Refusal::no_room);
  groups.disconnect(1);
  EXPECT_TRUE(groups.connect("z"));
}

/// However fast clients join groups, the table of all nodes fits one message.
TEST(Clients, GroupsAreRefusedWhenTheirTableWouldNotFit) {
  constexpr std::uint32_t kBytes = 8'192;
  Cluster cluster(2, kBytes);
  cluster.settle("ab");
  for (const char letter : {'a', 'b'}) {
    Daemon& daemon = cluster[letter];
    const std::uint32_t x = daemon.connect("x");
    int joined = 0;
    for (int i = 0; i < 1'000; ++i) {
      const auto wish = daemon.groups->join(x, "group " + std::to_string(i));
      if (wish) {
        ++joined;
      } else {
        ASSERT_EQ(wish.error(), Refusal::no_room);
      }
      if (i % 100 == 7) cluster.order_all("ab");
    }
    EXPECT_GT(joined, 40);
    cluster.order_all("ab");
    EXPECT_FALSE(daemon.groups->join(x, "another")) << "when all of them are members, too";
    EXPECT_TRUE(daemon.groups->leave(x, "group 3"));
    cluster.order_all("ab");
    EXPECT_TRUE(daemon.groups->join(x, "group 3"));
  }
  cluster.order_all("ab");
  EXPECT_EQ(cluster['a'].groups->counters().bad_changes, 0U);
  std::vector<std::byte> bytes;
  const auto& daemons = cluster.daemons;
  encode(daemons[0]->groups->table().tables(daemons[0]->in, std::vector{daemons[0]->id}), bytes);
  EXPECT_LE(bytes.size(), kBytes);
}

TEST(Clients, OptionsAreChecked) {
  Options options;
  options.node_name = "a";
  EXPECT_EQ(validate(options), "");
  options.node_name = std::string(94, 'n');
  EXPECT_EQ(validate(options), "");
  for (const std::string& bad : {std::string(), std::string("a#b"), std::string(95, 'n')}) {
    options.node_name = bad;
    EXPECT_NE(validate(options).find("accepted are 1 to 94 bytes"), std::string::npos) << bad;
  }
  options.node_name = "a";
  options.nodes = 129;
  EXPECT_EQ(validate(options), "nodes is 129; accepted is 1 to 128");
  options.nodes = 128;
  options.message_bytes_max = 131'071;
  EXPECT_EQ(validate(options),
            "message_bytes_max is 131071; accepted for groups is at least 131072");
  options.message_bytes_max = 131'072;
  options.clients_max = 0;
  EXPECT_EQ(validate(options), "clients_max is 0; accepted is at least 1");
}

}  // namespace
}  // namespace peal::group::test
