// SPDX-License-Identifier: Apache-2.0
#include "cli/node/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temp_dir.h"

namespace peal::cli {
namespace {

const std::vector<std::string> kAddresses = {"10.0.0.1:4800", "10.0.0.2:4800", "10.0.0.3:4800",
                                             "10.0.0.4:4800"};

TEST(Cluster, SoManyOfItsNodesVote) {
  const TempDir dir;
  for (const order::Descriptor* order :
       {order::find_engine("paxos"), order::find_engine("ridge")}) {
    SCOPED_TRACE(order->name);
    LocalRules rules;
    rules.order = order;
    rules.acceptors = 3;
    const auto cluster = make_cluster(dir.path(), "c", kAddresses, rules);
    ASSERT_TRUE(cluster) << cluster.error();
    const auto config = read_config(cluster->config, "n4");
    ASSERT_TRUE(config) << config.error();
    EXPECT_EQ(config->order, order);
    EXPECT_THAT(config->acceptors, testing::ElementsAre(1, 2, 3));
  }
}

TEST(Cluster, WithRidgeItsWaysAreInItsFile) {
  const TempDir dir;
  LocalRules rules;
  rules.order = order::find_engine("ridge");
  rules.dissemination = Dissemination::ring;
  rules.ensembles = 3;
  rules.merging = Merging::rotation;
  const auto cluster = make_cluster(dir.path(), "c", kAddresses, rules);
  ASSERT_TRUE(cluster) << cluster.error();
  const auto config = read_config(cluster->config, "n1");
  ASSERT_TRUE(config) << config.error();
  EXPECT_EQ(config->dissemination, Dissemination::ring);
  EXPECT_EQ(config->ensembles, 3U);
  EXPECT_EQ(config->merging, Merging::rotation);
  EXPECT_FALSE(config->optimistic);
  rules.ensembles = 1;
  rules.merging = Merging::keys;
  rules.optimistic = true;
  const auto early = make_cluster(dir.path(), "c", kAddresses, rules);
  ASSERT_TRUE(early) << early.error();
  const auto told = read_config(early->config, "n1");
  ASSERT_TRUE(told) << told.error();
  EXPECT_TRUE(told->optimistic);
}

TEST(Cluster, WithoutANumberTheEngineChoosesWhoVotes) {
  const TempDir dir;
  LocalRules rules;
  rules.order = order::find_engine("paxos");
  const auto cluster = make_cluster(dir.path(), "c", kAddresses, rules);
  ASSERT_TRUE(cluster) << cluster.error();
  const auto config = read_config(cluster->config, "n1");
  ASSERT_TRUE(config) << config.error();
  EXPECT_TRUE(config->acceptors.empty());
}

TEST(Cluster, OneOnThisMachineHasANameOfItsOwn) {
  const TempDir dir;
  const auto cluster = make_local_cluster(dir.path(), "c", 2, {});
  ASSERT_TRUE(cluster) << cluster.error();
  const auto config = read_config(cluster->config, "n1");
  ASSERT_TRUE(config) << config.error();
  EXPECT_EQ(config->cluster, "c-" + std::to_string(config->own().address.port));
}

}  // namespace
}  // namespace peal::cli
