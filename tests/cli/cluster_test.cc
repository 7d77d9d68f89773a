// SPDX-License-Identifier: Apache-2.0
#include "cli/node/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/file/file.h"
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
    const auto config = config::read_file(cluster->config, "n4");
    ASSERT_TRUE(config) << config.error();
    EXPECT_EQ(config->settings.order, order);
    EXPECT_THAT(config->settings.acceptors, testing::ElementsAre(NodeId{1}, NodeId{2}, NodeId{3}));
  }
}

TEST(Cluster, WithRidgeItsWaysAreInItsFile) {
  const TempDir dir;
  LocalRules rules;
  rules.order = order::find_engine("ridge");
  rules.options.set("ridge.dissemination", 1);
  rules.options.set("ridge.ensembles", 3);
  rules.options.set("ridge.merge", 1);
  const auto cluster = make_cluster(dir.path(), "c", kAddresses, rules);
  ASSERT_TRUE(cluster) << cluster.error();
  const auto config = config::read_file(cluster->config, "n1");
  ASSERT_TRUE(config) << config.error();
  EXPECT_EQ(config->settings.options, rules.options);
  rules.options = {};
  rules.options.set("ridge.optimistic", 1);
  const auto early = make_cluster(dir.path(), "c", kAddresses, rules);
  ASSERT_TRUE(early) << early.error();
  const auto told = config::read_file(early->config, "n1");
  ASSERT_TRUE(told) << told.error();
  EXPECT_EQ(told->settings.options, rules.options);
}

TEST(Cluster, WithoutANumberTheEngineChoosesWhoVotes) {
  const TempDir dir;
  LocalRules rules;
  rules.order = order::find_engine("paxos");
  const auto cluster = make_cluster(dir.path(), "c", kAddresses, rules);
  ASSERT_TRUE(cluster) << cluster.error();
  const auto config = config::read_file(cluster->config, "n1");
  ASSERT_TRUE(config) << config.error();
  EXPECT_TRUE(config->settings.acceptors.empty());
}

TEST(Cluster, OneOnThisMachineHasANameOfItsOwn) {
  const TempDir dir;
  const auto cluster = make_local_cluster(dir.path(), "c", 2, {});
  ASSERT_TRUE(cluster) << cluster.error();
  const auto config = config::read_file(cluster->config, "n1");
  ASSERT_TRUE(config) << config.error();
  EXPECT_EQ(config->settings.cluster, "c-" + std::to_string(config->settings.own().address.port));
}

TEST(Cluster, HasDomainsOfEqualSizeAndPerhapsANodeOutside) {
  const TempDir dir;
  LocalRules rules;
  rules.order = order::find_engine("ramcast");
  const auto one = make_cluster(dir.path(), "c", kAddresses, rules);
  ASSERT_TRUE(one) << one.error();
  EXPECT_TRUE(config::read_file(one->config, "n1").value().settings.domains.empty());
  EXPECT_TRUE(one->domains.empty());
  rules.domains = 2;
  const auto two = make_cluster(dir.path(), "c", kAddresses, rules);
  ASSERT_TRUE(two) << two.error();
  const auto config = config::read_file(two->config, "n3");
  ASSERT_TRUE(config) << config.error();
  const auto& domains = config->settings.domains;
  ASSERT_EQ(domains.size(), 2U);
  EXPECT_THAT(domains[0].nodes, testing::ElementsAre(NodeId{1}, NodeId{2}));
  EXPECT_THAT(domains[1].nodes, testing::ElementsAre(NodeId{3}, NodeId{4}));
  EXPECT_THAT(domains[0].groups, testing::ElementsAre("*"));
  EXPECT_THAT(domains[1].groups, testing::ElementsAre("d2*"));
  ASSERT_EQ(two->domains.size(), 2U);
  EXPECT_EQ(two->domains[1].name, "d2");
  EXPECT_THAT(two->domains[1].nodes, testing::ElementsAre("n3", "n4"));
  EXPECT_EQ(two->domains[1].groups, "d2*");
  rules.domains = 1;
  rules.outside = true;
  const auto sender = make_cluster(dir.path(), "c", kAddresses, rules);
  ASSERT_TRUE(sender) << sender.error();
  const auto outside = config::read_file(sender->config, "n4");
  ASSERT_TRUE(outside) << outside.error();
  ASSERT_EQ(outside->settings.domains.size(), 1U);
  EXPECT_THAT(outside->settings.domains[0].nodes,
              testing::ElementsAre(NodeId{1}, NodeId{2}, NodeId{3}));
}

}  // namespace
}  // namespace peal::cli
