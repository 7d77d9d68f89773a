// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "io/multicast_probe.h"
#include "io/peers.h"
#include "stations.h"

// The list of nodes changes while a transport runs.

namespace peal::io {
namespace {

std::vector<Peer> nodes_of(std::initializer_list<std::uint32_t> numbers) {
  std::vector<Peer> nodes;
  for (const std::uint32_t number : numbers) nodes.push_back({{number}, node_endpoint(number)});
  return nodes;
}

TEST(Nodes, WhoIsAddedIsHeardAndSentTo) {
  for (const bool seals : {false, true}) {
    Stations nodes(3, [&](std::uint32_t node, UdpConfig& config) {
      if (node == 1) config.nodes.pop_back();
      if (seals) config = sealed_config(config);
    });
    Station& one = nodes[1];
    nodes[3].send(1, Lane::control, "from a stranger");
    one.send(3, Lane::control, "to nobody");
    ASSERT_TRUE(nodes.run_until([&] { return one.counters().drop_unknown_source == 1; }));
    EXPECT_EQ(one.counters().drop_unknown_peer, 1U);

    one.transport->set_nodes(nodes_of({1, 2, 3}));
    nodes[3].send(1, Lane::control, "from three");
    one.multicast(Lane::control, "to all");
    ASSERT_TRUE(nodes.run_until([&] {
      return one.received.size() == 1 && nodes[2].received.size() == 1 &&
             nodes[3].received.size() == 1;
    }));
    EXPECT_EQ(one.received[0].from, NodeId{3});
    EXPECT_EQ(one.received[0].text(), "from three");
    EXPECT_EQ(one.transport->reach().size(), 2U);
    // Node 3 gets data only once it is in the view.
    one.multicast(Lane::data, "not for three");
    const std::vector<MemberId> all{{{1}, 5}, {{2}, 5}, {{3}, 5}};
    one.transport->flush();
    one.transport->set_audience(all);
    one.multicast(Lane::data, "for all");
    ASSERT_TRUE(nodes.run_until(
        [&] { return nodes[3].received.size() == 2 && nodes[2].received.size() == 3; }));
    EXPECT_EQ(nodes[3].received[1].text(), "for all");
  }
}

TEST(Nodes, WhoIsRemovedIsAStrangerAndTheOthersAreStillThemselves) {
  for (const bool seals : {false, true}) {
    Stations nodes(4, [&](std::uint32_t, UdpConfig& config) {
      if (seals) config = sealed_config(config);
    });
    Station& one = nodes[1];
    nodes[2].send(1, Lane::control, "from two");
    ASSERT_TRUE(nodes.run_until([&] { return one.received.size() == 1; }));
    one.transport->set_nodes(nodes_of({1, 3, 4}));
    nodes[2].send(1, Lane::token, "from nobody");
    nodes[4].send(1, Lane::control, "from four");
    one.send(2, Lane::token, "to nobody");
    one.send(4, Lane::token, "to four");
    one.multicast(Lane::control, "to both");
    ASSERT_TRUE(nodes.run_until([&] {
      return one.received.size() == 2 && one.counters().drop_unknown_source == 1 &&
             nodes[4].received.size() == 2 && nodes[3].received.size() == 1;
    }));
    EXPECT_EQ(one.received[1].from, NodeId{4});
    EXPECT_EQ(nodes[4].received[0].text(), "to four");
    EXPECT_EQ(one.counters().drop_unknown_peer, 1U);
    EXPECT_TRUE(nodes[2].received.empty());
    EXPECT_EQ(one.transport->reach()[0].node, NodeId{3});
  }
}

TEST(Nodes, WhatWasReadAlreadyIsOfThoseWhoSentIt) {
  Stations nodes(3, [](std::uint32_t, UdpConfig& config) { config.receive_budget = 1; });
  Station& one = nodes[1];
  const auto two_are_there = [&] {  // reads both packets, delivers the first
    const std::size_t before = one.received.size();
    nodes[2].send(1, Lane::token, "two");
    nodes[3].send(1, Lane::token, "three");
    while (one.received.size() == before) one.turn();
  };
  two_are_there();
  one.transport->set_nodes(nodes_of({1, 3}));
  ASSERT_TRUE(nodes.run_until([&] { return one.received.size() == 2; }));
  EXPECT_EQ(one.received[1].from, NodeId{3});
  EXPECT_EQ(one.received[1].text(), "three");

  one.transport->set_nodes(nodes_of({1, 2, 3}));
  two_are_there();
  one.transport->set_nodes(nodes_of({1, 2}));
  ASSERT_TRUE(nodes.run_until([&] { return one.counters().drop_unknown_source == 1; }));
  EXPECT_EQ(one.received.size(), 3U);
  EXPECT_EQ(one.received[2].from, NodeId{2});
}

TEST(Nodes, MulticastReachesThoseWhoStayAndFindsThoseWhoCome) {
  Stations nodes(4, [](std::uint32_t node, UdpConfig& config) {
    config.multicast = MulticastMode::automatic;
    if (node == 1) config.nodes.pop_back();
  });
  const auto reached = [&](std::uint32_t node) {
    for (const PeerReach& peer : nodes[1].transport->reach()) {
      if (peer.node == NodeId{node}) return peer.by_multicast;
    }
    return false;
  };
  ASSERT_TRUE(nodes.run_until([&] { return reached(2) && reached(3); }));
  nodes[1].transport->set_nodes(nodes_of({1, 3, 4}));
  EXPECT_TRUE(reached(3));
  EXPECT_FALSE(reached(2));
  EXPECT_FALSE(reached(4));
  ASSERT_TRUE(nodes.run_until([&] { return reached(4); }));
  EXPECT_TRUE(reached(3));
}

TEST(Nodes, OneThatWasAloneLooksForThoseWhoCome) {
  Stations nodes(2, [](std::uint32_t node, UdpConfig& config) {
    config.multicast = MulticastMode::automatic;
    if (node == 1) config.nodes.pop_back();
  });
  EXPECT_FALSE(nodes[1].transport->next_deadline());
  nodes[1].transport->set_nodes(nodes_of({1, 2}));
  ASSERT_TRUE(nodes.run_until([&] { return nodes[1].transport->reach()[0].by_multicast; }));
  nodes[1].transport->set_nodes(nodes_of({1}));
  EXPECT_FALSE(nodes[1].transport->next_deadline());
}

TEST(Nodes, AnAddressMayChangeWithTheList) {
  Stations nodes(2);
  UdpConfig moved = test_config(2, 2);
  moved.nodes[1].at = node_endpoint(9);
  Station elsewhere(moved);
  auto list = nodes_of({1, 2});
  list[1].at = node_endpoint(9);
  nodes[1].transport->set_nodes(list);
  nodes[1].send(2, Lane::token, "moved");
  nodes[2].send(1, Lane::token, "from the old place");
  ASSERT_TRUE(nodes.run_until([&] {
    elsewhere.turn();
    return elsewhere.received.size() == 1 && nodes[1].counters().drop_unknown_source == 1;
  }));
}

TEST(Nodes, ThePeersSayWhereTheyWent) {
  PeerTable peers(test_config(2, 4));
  ASSERT_EQ(peers.size(), 3U);
  const PeerMap map = peers.set_nodes(nodes_of({2, 3, 4, 7}));
  ASSERT_EQ(map.size(), 3U);
  EXPECT_FALSE(map[0]);
  EXPECT_EQ(map[1], PeerIndex{0});
  EXPECT_EQ(map[2], PeerIndex{1});
  EXPECT_EQ(peers[2].node, NodeId{7});
  EXPECT_FALSE(peers.find(node_endpoint(1)));
  EXPECT_EQ(peers.find(node_endpoint(7)), PeerIndex{2});
}

TEST(Nodes, ListsThatCannotBeAreRefused) {
  EXPECT_TRUE(check_peers({1}, nodes_of({1, 2, 65'535})));
  EXPECT_FALSE(check_peers({1}, nodes_of({2})));
  EXPECT_FALSE(check_peers({1}, nodes_of({1, 2, 2})));
  auto list = nodes_of({1, 2});
  list.push_back({{3}, list[1].at});
  EXPECT_FALSE(check_peers({1}, list)) << "an address of another node";
  list.back().at = *parse_endpoint("[fd00::1]:4800", 0);
  EXPECT_FALSE(check_peers({1}, list)) << "another family";
}

}  // namespace
}  // namespace peal::io
