// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "io/multicast_probe.h"
#include "io/udp_sockets.h"
#include "stations.h"

// Multicast on the loopback interface. Probes find that it works, that it fails, and that it works
// again.

namespace peal::io {
namespace {

void with_multicast(std::uint32_t, UdpConfig& config) {
  config.multicast = MulticastMode::automatic;
  config.faults.emplace();
}

std::size_t reached(Station& station) {
  std::size_t count = 0;
  for (const PeerReach& peer : station.transport->reach()) count += peer.by_multicast ? 1 : 0;
  return count;
}

bool all_reached(Stations& nodes, std::uint32_t count) {
  for (std::uint32_t node = 1; node <= count; ++node) {
    if (reached(nodes[node]) != count - 1) return false;
  }
  return true;
}

TEST(Multicast, IsFoundAndUsed) {
  Stations nodes(3, with_multicast);
  nodes[1].multicast(Lane::data, "early");
  ASSERT_TRUE(nodes.run_until([&] { return all_reached(nodes, 3); }))
      << nodes[1].transport->multicast_status();
  EXPECT_EQ(nodes[1].counters().data_multicast_out, 0U);
  EXPECT_GT(nodes[1].transport->reach()[0].last_ack.ns, 0);

  const std::uint64_t packets_before = nodes[1].counters().data_packets_out;
  for (int i = 0; i < 100; ++i) nodes[1].multicast(Lane::data, "p" + std::to_string(i));
  ASSERT_TRUE(nodes.run_until(
      [&] { return nodes[2].received.size() == 101 && nodes[3].received.size() == 101; }));
  EXPECT_EQ(nodes[1].counters().data_packets_out - packets_before, 100U);
  EXPECT_EQ(nodes[1].counters().data_multicast_out, 100U);
  EXPECT_EQ(nodes[2].counters().data_multicast_in, 100U);
  // The kernel drops the copies of node 1's own multicasts. These copies must not count as losses.
  nodes[2].send(1, Lane::data, "x");
  ASSERT_TRUE(nodes.run_until([&] { return !nodes[1].received.empty(); }));
  EXPECT_EQ(nodes[1].received.size(), 1U);
  EXPECT_EQ(nodes[1].counters().drop_own, 0U);
  EXPECT_EQ(nodes[1].counters().drop_kernel, 0U);
}

TEST(Multicast, ReachesNodesOfThisMachineThatWereFoundLater) {
  Stations nodes(3, [](std::uint32_t node, UdpConfig& config) {
    with_multicast(node, config);
    for (Peer& peer : config.nodes) {
      if (peer.node != config.self) peer.at = {};
    }
  });
  for (std::uint32_t node = 1; node <= 3; ++node) {
    for (std::uint32_t other = 1; other <= 3; ++other) {
      if (other != node) nodes[node].transport->set_address(NodeId{other}, node_endpoint(other));
    }
  }
  ASSERT_TRUE(nodes.run_until([&] { return all_reached(nodes, 3); }))
      << nodes[1].transport->multicast_status();
  for (int i = 0; i < 100; ++i) nodes[1].multicast(Lane::data, "p" + std::to_string(i));
  ASSERT_TRUE(nodes.run_until(
      [&] { return nodes[2].received.size() == 100 && nodes[3].received.size() == 100; }));
  EXPECT_EQ(nodes[1].counters().data_multicast_out, 100U);
  nodes[2].send(1, Lane::data, "x");
  ASSERT_TRUE(nodes.run_until([&] { return !nodes[1].received.empty(); }));
  EXPECT_EQ(nodes[1].counters().drop_kernel, 0U);

  // A node that moves is reached by unicast until a probe succeeds.
  nodes[1].transport->set_address(NodeId{2}, node_endpoint(4));
  EXPECT_EQ(reached(nodes[1]), 1U);
}

TEST(Multicast, CountsLossesButNotOwnCopies) {
  for (const Offload offload : {Offload::automatic, Offload::off}) {
    Stations nodes(3, [&](std::uint32_t node, UdpConfig& config) {
      with_multicast(node, config);
      config.coalescing = offload;
      if (node == 2) config.receive_buffer_bytes = 8'192;
    });
    ASSERT_TRUE(nodes.run_until([&] { return all_reached(nodes, 3); }));
    for (int i = 0; i < 100; ++i) nodes[2].multicast(Lane::data, "own");
    nodes[2].transport->flush();
    ASSERT_EQ(nodes[2].counters().data_multicast_out, 100U);
    for (std::size_t i = 0; i < 200; ++i) {
      nodes[1].multicast(Lane::data, std::string(1'000 + i, 'x'));  // each has another size
      nodes[1].transport->flush();
    }
    ASSERT_EQ(nodes[1].counters().data_multicast_out, 200U);
    while (nodes[2].turn().more) {
    }
    nodes[1].multicast(Lane::data, "last");
    nodes[1].transport->flush();
    while (nodes[2].turn().more) {
    }
    EXPECT_EQ(nodes[2].received.back().text(), "last");
    EXPECT_GT(nodes[2].counters().drop_kernel, 0U);
    EXPECT_EQ(nodes[2].counters().drop_kernel + nodes[2].received.size(), 201U);
  }
}

TEST(Multicast, IsNotUsedForASingleListener) {
  Stations nodes(2, with_multicast);
  ASSERT_TRUE(nodes.run_until([&] { return all_reached(nodes, 2); }));
  nodes[1].multicast(Lane::data, "x");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() == 1; }));
  EXPECT_EQ(nodes[1].counters().data_multicast_out, 0U);
}

TEST(Multicast, LeavesOutNodesThatItDoesNotReach) {
  Stations nodes(4, with_multicast);
  Faults deaf;
  deaf.multicast_in_lost = true;
  nodes[4].transport->set_faults(deaf);
  ASSERT_TRUE(nodes.run_until([&] { return reached(nodes[1]) == 2; }));
  EXPECT_FALSE(nodes[1].transport->reach()[2].by_multicast);
  nodes[1].multicast(Lane::data, "x");
  ASSERT_TRUE(nodes.run_until([&] {
    return nodes[2].received.size() == 1 && nodes[3].received.size() == 1 &&
           nodes[4].received.size() == 1;
  }));
  EXPECT_EQ(nodes[1].counters().data_packets_out, 2U);
  EXPECT_EQ(nodes[1].counters().data_multicast_out, 1U);
  EXPECT_EQ(nodes[4].counters().data_multicast_in, 0U);
}

TEST(Multicast, HealsAnOutage) {
  Stations nodes(3, with_multicast);
  ASSERT_TRUE(nodes.run_until([&] { return all_reached(nodes, 3); }));
  Faults outage;
  outage.multicast_out_lost = true;
  nodes[1].transport->set_faults(outage);
  // Under load the probes notice the outage. From then on, packets arrive by unicast.
  ASSERT_TRUE(nodes.run_until([&] {
    nodes[1].multicast(Lane::data, "x");
    return !nodes[2].received.empty() && !nodes[3].received.empty();
  }));
  EXPECT_EQ(reached(nodes[1]), 0U);
  EXPECT_EQ(nodes[2].counters().data_multicast_in, 0U);
  nodes[1].transport->set_faults({});
  ASSERT_TRUE(nodes.run_until([&] { return reached(nodes[1]) == 2; }));
  const std::uint64_t before = nodes[1].counters().data_multicast_out;
  nodes[1].multicast(Lane::data, "y");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.back().text() == "y"; }));
  EXPECT_EQ(nodes[1].counters().data_multicast_out, before + 1);
}

TEST(Multicast, UsesAGivenGroup) {
  const auto port = static_cast<std::uint16_t>(30'000 + ::getpid() % 2'000);
  const Endpoint group = Endpoint::v4(239, 7, 7, 7, port);
  Stations nodes(3, [&](std::uint32_t, UdpConfig& config) {
    config.multicast = MulticastMode::group;
    config.group = group;
  });
  EXPECT_EQ(nodes[1].transport->multicast_status(), to_string(group) + " on lo");
  ASSERT_TRUE(nodes.run_until([&] { return all_reached(nodes, 3); }));
}

TEST(Multicast, KeepsClustersApart) {
  // Both nodes have the same multicast group, but belong to different clusters.
  const auto port = static_cast<std::uint16_t>(32'000 + ::getpid() % 700);
  Stations nodes(2, [&](std::uint32_t node, UdpConfig& config) {
    config.multicast = MulticastMode::group;
    config.group = Endpoint::v4(239, 7, 7, 8, port);
    config.cluster += node;
  });
  ASSERT_TRUE(nodes.run_until(
      [&] { return nodes[1].counters().probe_bad > 0 && nodes[2].counters().probe_bad > 0; }));
  EXPECT_EQ(reached(nodes[1]), 0U);
  EXPECT_EQ(nodes[1].counters().probe_ack_out, 0U);
}

TEST(Multicast, DerivesTheGroupFromTheCluster) {
  const Endpoint group = derived_group(1);
  EXPECT_TRUE(group.is_multicast());
  EXPECT_EQ(group, derived_group(1));
  EXPECT_NE(group, derived_group(2));
  for (std::uint64_t cluster = 0; cluster < 1'000; ++cluster) {
    const Endpoint at = derived_group(cluster << 32);
    EXPECT_EQ(at.ip[12], 239);
    EXPECT_EQ(at.ip[13], 192);
    EXPECT_GE(at.port, 20'000);
    EXPECT_LT(at.port, 30'000);
  }
}

TEST(Multicast, OffIsOff) {
  Stations nodes(3);
  EXPECT_EQ(nodes[1].transport->multicast_status(), "off");
  EXPECT_FALSE(nodes[1].transport->next_deadline());
  EXPECT_EQ(nodes[1].counters().probe_hello_out, 0U);
}

}  // namespace
}  // namespace peal::io
