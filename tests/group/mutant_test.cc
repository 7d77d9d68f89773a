// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "base/hooks.h"
#include "base/mutants.h"
#include "cluster.h"
#include "with_mutant.h"

// These tests detect the mutants of groups in disjoint domains that concern changes of views. The
// simulated engines that every hunt runs have one view.

namespace peal::group::test {
namespace {

using sim_hooks::Mutant;

constexpr std::uint32_t kBytes = 1U << 20;

/// True if a message that came during an exchange reaches the members.
bool held_message_comes() {
  Cluster cluster(3, kBytes, false, Domains::Kind::disjoint);
  cluster.settle("a");
  const std::uint32_t x = cluster['a'].connect("x");
  const std::uint32_t w = cluster['c'].connect("w");
  EXPECT_TRUE(cluster['a'].groups->join(x, "g"));
  cluster.order_all("a");
  cluster.install("ab");
  EXPECT_TRUE(cluster['c'].send(w, "g", "one"));
  EXPECT_TRUE(cluster.order_under_way('c', "ab"));
  cluster.order_all("ab");
  const auto log = cluster['a'].take_log();
  return std::count(log.begin(), log.end(), "1 got one from w@c") == 1;
}

/// True if a daemon that may hold nothing says that it drops messages.
bool dropping_is_told() {
  Cluster cluster(3, kBytes, false, Domains::Kind::disjoint);
  cluster.settle("a");
  const std::uint32_t w = cluster['c'].connect("w");
  cluster['a'].held_bytes_max = 0;
  cluster.install("ab");
  EXPECT_TRUE(cluster['c'].send(w, "g", "one"));
  EXPECT_TRUE(cluster.order_under_way('c', "ab"));
  EXPECT_EQ(cluster['a'].groups->counters().held_dropped, 1U);
  return !cluster['a'].take_log().empty();
}

/// True if a join that was ordered while its node was outside the view takes effect.
bool missed_join_counts() {
  Cluster cluster(2, kBytes, false, Domains::Kind::disjoint);
  cluster.settle("ab");
  Daemon& b = cluster['b'];
  EXPECT_TRUE(b.groups->join(b.connect("y"), "g"));
  b.taken = 1;
  cluster.settle("a");
  EXPECT_TRUE(cluster.order_under_way('b', "a"));
  b.groups->on_placed(1, 0, false);
  cluster.settle("ab");
  return cluster['a'].groups->table().groups().contains("g");
}

TEST(GroupMutants, AHeldMessageThatIsDroppedIsMissed) {
  EXPECT_TRUE(held_message_comes());
  const WithMutant mutant(Mutant::gm25_held_dropped);
  EXPECT_FALSE(held_message_comes());
}

TEST(GroupMutants, ADropThatIsNotToldIsMissed) {
  EXPECT_TRUE(dropping_is_told());
  const WithMutant mutant(Mutant::gm27_drop_not_told);
  EXPECT_FALSE(dropping_is_told());
}

TEST(GroupMutants, AMissedChangeThatIsForgottenIsMissed) {
  EXPECT_TRUE(missed_join_counts());
  const WithMutant mutant(Mutant::gm26_missed_change_lost);
  EXPECT_FALSE(missed_join_counts());
}

}  // namespace
}  // namespace peal::group::test
