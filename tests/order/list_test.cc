// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster.h"

// Nodes get new lists of nodes faster than the ring can make these lists active.

namespace peal::order::test {
namespace {

constexpr std::uint32_t kNodes = 9;  // nodes in the first list; at most four of them run

/// A list of nodes 1 to `count`.
NodeList list_of(std::uint32_t count) {
  NodeList list;
  list.hash = 1'000 + count;
  for (std::uint32_t node = 1; node <= count; ++node) list.nodes.push_back({node});
  return list;
}

/// The number of members with this active list.
std::uint32_t count(const Cluster& cluster, std::uint32_t members, const NodeList& list) {
  std::uint32_t count = 0;
  for (std::uint32_t node = 0; node < members; ++node) {
    if (cluster.list(node) == list.hash) ++count;
  }
  return count;
}

TEST(List, AnotherOneMayComeWhenSomeHaveAdoptedTheLast) {
  for (std::uint32_t members = 2; members <= 4; ++members) {
    for (std::uint32_t first = 1; first < members; ++first) {
      Cluster cluster(kNodes, {});
      for (std::uint32_t node = 0; node < members; ++node) cluster.start(node);
      ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(members); }, seconds(5)));
      for (std::uint32_t node = 0; node < members; ++node) cluster.set_nodes(node, list_of(8));
      ASSERT_TRUE(cluster.run_until([&] { return count(cluster, members, list_of(8)) == first; },
                                    seconds(5)));
      for (std::uint32_t node = 0; node < members; ++node) cluster.set_nodes(node, list_of(9));
      EXPECT_TRUE(cluster.run_until([&] { return count(cluster, members, list_of(9)) == members; },
                                    seconds(5)))
          << first << " of " << members << " had adopted the list before";
      EXPECT_TRUE(cluster.in_view_of(members));
    }
  }
}

TEST(List, TheOneThatAllHaveInTheEndIsAdopted) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const auto members = static_cast<std::uint32_t>(random.between(2, 4));
    ring::Options options;
    options.probe = milliseconds(10);  // so that PROBEs are sent while lists differ
    Cluster cluster(kNodes, options);
    for (std::uint32_t node = 0; node < members; ++node) cluster.start(node);
    ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(members); }, seconds(5)));
    for (int change = 0; change < 600; ++change) {
      const auto node = static_cast<std::uint32_t>(random.below(members));
      cluster.set_nodes(node, list_of(static_cast<std::uint32_t>(random.between(6, 8))));
      cluster.run(microseconds(random.between(0, 400)));
    }
    for (std::uint32_t node = 0; node < members; ++node) cluster.set_nodes(node, list_of(7));
    EXPECT_TRUE(cluster.run_until([&] { return count(cluster, members, list_of(7)) == members; },
                                  seconds(5)))
        << "seed " << seed;
    for (std::uint32_t node = 0; node < members; ++node) {
      EXPECT_EQ(cluster.log(node).size(), 1U) << "the view stays; seed " << seed;
    }
    for (std::uint32_t node = 0; node < members; ++node) {
      EXPECT_EQ(cluster.engine(node).nodes_wait().kind, NodesWait::Kind::nothing);
    }
  }
}

}  // namespace
}  // namespace peal::order::test
