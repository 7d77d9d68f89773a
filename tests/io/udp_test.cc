// SPDX-License-Identifier: Apache-2.0
#include "io/udp.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "io/loop.h"
#include "io/resolve.h"
#include "stations.h"

namespace peal::io {
namespace {

TEST(Udp, CarriesTokensToOneNode) {
  Stations nodes(3);
  nodes[1].send(3, Lane::token, "token");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[3].received.size() == 1; }));
  EXPECT_EQ(nodes[3].received[0].text(), "token");
  EXPECT_EQ(nodes[3].received[0].lane, Lane::token);
  EXPECT_EQ(nodes[3].received[0].from, NodeId{1});
  EXPECT_TRUE(nodes[2].received.empty());
  EXPECT_EQ(nodes[1].counters().token_packets_out, 1U);
  EXPECT_EQ(nodes[1].counters().token_bytes_out, 5U);
  EXPECT_EQ(nodes[3].counters().token_packets_in, 1U);
  EXPECT_EQ(nodes[3].counters().token_bytes_in, 5U);
}

TEST(Udp, CarriesControlToAllOrToOne) {
  Stations nodes(3);
  nodes[1].multicast(Lane::control, "all");
  nodes[1].send(2, Lane::control, "one");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() == 2; }));
  EXPECT_EQ(nodes[2].received[0].text(), "all");
  EXPECT_EQ(nodes[2].received[1].text(), "one");
  EXPECT_EQ(nodes[3].received.size(), 1U);
  EXPECT_TRUE(nodes[1].received.empty());
  EXPECT_EQ(nodes[1].counters().control_packets_out, 3U);
}

TEST(Udp, CarriesControlLargerThanAnyPacket) {
  Stations nodes(2);
  std::string large;
  while (large.size() < 60'000) large += std::to_string(large.size()) + ",";
  nodes[1].multicast(Lane::control, large);
  ASSERT_TRUE(nodes.run_until([&] { return !nodes[2].received.empty(); }));
  EXPECT_EQ(nodes[2].received[0].text(), large);
}

TEST(Udp, CarriesDataToTheAudience) {
  Stations nodes(4);
  nodes[1].multicast(Lane::data, "to all");
  ASSERT_TRUE(nodes.run_until([&] {
    return nodes[2].received.size() + nodes[3].received.size() + nodes[4].received.size() == 3;
  }));
  const std::array<MemberId, 3> members{{{NodeId{1}, 7}, {NodeId{3}, 1}, {NodeId{99}, 1}}};
  nodes[1].transport->set_audience(members);
  nodes[1].multicast(Lane::data, "to three");
  nodes[1].send(2, Lane::data, "to two");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[3].received.size() == 2; }));
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() == 2; }));
  EXPECT_EQ(nodes[3].received[1].text(), "to three");
  EXPECT_EQ(nodes[2].received[1].text(), "to two");
  EXPECT_EQ(nodes[4].received.size(), 1U);
  EXPECT_EQ(nodes[1].counters().data_packets_out, 5U);
}

TEST(Udp, CountsPacketsToUnknownNodes) {
  Stations nodes(2);
  nodes[1].send(3, Lane::token, "x");
  EXPECT_EQ(nodes[1].counters().drop_unknown_peer, 1U);
}

TEST(Udp, ANodeIsWhereItWasFoundLast) {
  Stations nodes(3, [](std::uint32_t node, UdpConfig& config) {
    if (node == 1) config.nodes[1].at = {};  // node 2 has no known address yet
  });
  nodes[1].send(2, Lane::token, "nowhere");
  nodes[1].multicast(Lane::data, "to three");
  nodes[2].send(1, Lane::token, "from a stranger");
  nodes[3].send(1, Lane::token, "from three");
  ASSERT_TRUE(nodes.run_until([&] {
    return !nodes[3].received.empty() && !nodes[1].received.empty() &&
           nodes[1].counters().drop_unknown_source == 1;
  }));
  EXPECT_EQ(nodes[1].counters().drop_no_address, 2U);
  EXPECT_EQ(nodes[1].received[0].text(), "from three");

  nodes[1].transport->set_address(NodeId{2}, node_endpoint(2));
  nodes[1].send(2, Lane::token, "found");
  nodes[2].send(1, Lane::data, "known");
  ASSERT_TRUE(nodes.run_until(
      [&] { return nodes[2].received.size() == 1 && nodes[1].received.size() == 2; }));
  EXPECT_EQ(nodes[2].received[0].text(), "found");
  EXPECT_EQ(nodes[1].received[1].from, NodeId{2});

  // Node 2 moves to the address that node 4 would have. Packets from its old address now belong to
  // no node.
  UdpConfig moved = test_config(2, 3);
  moved.nodes[1].at = node_endpoint(4);
  Station elsewhere(moved);
  nodes[1].transport->set_address(NodeId{2}, node_endpoint(4));
  nodes[1].send(2, Lane::token, "moved");
  nodes[1].multicast(Lane::data, "to both");
  nodes[2].send(1, Lane::token, "from the old place");
  elsewhere.send(1, Lane::token, "from the new place");
  ASSERT_TRUE(nodes.run_until([&] {
    elsewhere.turn();
    return elsewhere.received.size() == 2 && nodes[1].received.size() == 3 &&
           nodes[1].counters().drop_unknown_source == 2;
  }));
  EXPECT_EQ(elsewhere.received[0].text(), "moved");
  EXPECT_EQ(nodes[1].received[2].text(), "from the new place");
  EXPECT_EQ(nodes[2].received.size(), 1U);
}

TEST(Udp, CarriesEmptyPackets) {
  Stations nodes(2);
  nodes[1].send(2, Lane::token, "");
  nodes[1].multicast(Lane::data, "");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() == 2; }));
  EXPECT_EQ(nodes[2].received[0].text(), "");
  EXPECT_EQ(nodes[2].received[1].text(), "");
}

TEST(Udp, RunsAlone) {
  Stations nodes(1);
  nodes[1].multicast(Lane::data, "x");
  nodes[1].multicast(Lane::control, "x");
  nodes.turn();
  EXPECT_TRUE(nodes[1].received.empty());
  EXPECT_EQ(nodes[1].counters().send_calls, 0U);
}

TEST(Udp, WorksOverIpv6) {
  if (!is_local(*parse_endpoint("[::1]:1", 0))) GTEST_SKIP() << "this machine has no IPv6";
  const auto base = static_cast<std::uint16_t>(10'000 + ::getpid() % 20'000 * 2);
  Stations nodes(2, [&](std::uint32_t, UdpConfig& config) {
    for (Peer& peer : config.nodes) {
      peer.at =
          parse_endpoint("[::1]", static_cast<std::uint16_t>(base + 2 * peer.node.value)).value();
    }
    config.multicast = MulticastMode::automatic;
  });
  ASSERT_NE(nodes[1].transport, nullptr);
  nodes[1].send(2, Lane::token, "t");
  nodes[1].multicast(Lane::data, "d1");
  nodes[1].multicast(Lane::data, "d2");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() == 3; }));
  EXPECT_EQ(nodes[2].counters().data_packets_in, 2U);
  EXPECT_EQ(nodes[1].transport->multicast_status(), "off: needs IPv4");
}

TEST(Udp, NamesEveryCounterOnce) {
  std::set<std::string_view> names;
  UdpCounters counters;
  for (const CounterField& field : udp_counter_fields()) {
    names.insert(field.name);
    EXPECT_EQ(counters.*field.value, 0U);
    counters.*field.value = 1;  // a second field for this counter would find 1, not 0
  }
  EXPECT_EQ(names.size(), udp_counter_fields().size());
}

// All combinations of segmentation at the sender and coalescing at the receiver.
class UdpOffload : public testing::TestWithParam<std::tuple<Offload, Offload>> {};

TEST_P(UdpOffload, KeepsBytesAndOrder) {
  const auto [segmentation, coalescing] = GetParam();
  Stations nodes(
      2, [&, segments = segmentation, coalesces = coalescing](std::uint32_t, UdpConfig& config) {
        config.segmentation = segments;
        config.coalescing = coalesces;
      });
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 1'000; ++i) {
    // Most packets have one size. Some shorter and longer packets are between them.
    const std::size_t size = i % 37 == 0 ? 10 + i % 1'400 : 1'200;
    std::string packet = std::to_string(i) + ":";
    packet.resize(std::max(size, packet.size()), static_cast<char>('a' + i % 26));
    nodes[1].multicast(Lane::data, packet);
    expected.push_back(std::move(packet));
    if (i % 50 == 49) nodes.turn();
  }
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() >= expected.size(); }));
  ASSERT_EQ(nodes[2].received.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(nodes[2].received[i].text(), expected[i]);
  }
  const UdpCounters& out = nodes[1].counters();
  const UdpCounters& in = nodes[2].counters();
  EXPECT_EQ(out.data_packets_out, 1'000U);
  EXPECT_EQ(in.data_packets_in, 1'000U);
  EXPECT_EQ(out.data_bytes_out, in.data_bytes_in);
  EXPECT_EQ(nodes[1].transport->segmentation(), out.segmented_messages > 0);
  if (segmentation == Offload::off) {
    EXPECT_EQ(out.segmented_messages, 0U);
    EXPECT_EQ(out.send_messages, 1'000U);
    EXPECT_LT(out.send_calls, 100U);
  } else {
    EXPECT_LT(out.send_messages, 200U);
  }
  if (coalescing == Offload::off) {
    EXPECT_FALSE(nodes[2].transport->coalescing());
    EXPECT_EQ(in.coalesced_messages, 0U);
    EXPECT_LT(in.receive_calls, 400U);
  } else if (segmentation != Offload::off) {
    EXPECT_EQ(in.coalesced_packets, out.segmented_packets);
  }
}

INSTANTIATE_TEST_SUITE_P(All, UdpOffload,
                         testing::Combine(testing::Values(Offload::automatic, Offload::off),
                                          testing::Values(Offload::automatic, Offload::off)));

// A node in a loop that sleeps. If the loop misses an event of a descriptor, the test hangs.
class LoopedStation : public LoopHost {
 public:
  explicit LoopedStation(const UdpConfig& config) : station(config) {
    loop = std::move(*Loop::open({}));
    EXPECT_TRUE(station.transport->attach(*loop).has_value());
  }
  void on_pause(Instant, Duration) override {}
  Progress on_sockets(const Turn& turn) override {
    return station.transport->receive(turn, station);
  }
  void on_drained(Instant) override {}
  void on_wake(Instant) override {}
  void on_timer(Instant now) override { station.transport->on_timer(now); }
  void on_turn_end(Instant) override { station.transport->flush(); }
  std::optional<Instant> next_deadline() const override {
    return station.transport->next_deadline();
  }

  std::unique_ptr<Loop> loop;
  Station station;
};

TEST(Udp, WakesALoopForEveryPacket) {
  LoopedStation one(test_config(1, 2));
  LoopedStation two(test_config(2, 2));
  constexpr std::size_t kRounds = 500;
  two.station.on_received = [&](const Station::Received& got) {
    two.station.send(1, Lane::token, got.text());
  };
  for (std::size_t i = 0; i < kRounds; ++i) {
    one.station.send(2, Lane::token, std::to_string(i));
    // The turn may sleep. Only the arrival of the packet ends the sleep.
    two.loop->turn(two, seconds(20));
    ASSERT_EQ(two.station.received.size(), i + 1);
    one.loop->turn(one, seconds(20));
    ASSERT_EQ(one.station.received.size(), i + 1);
  }
  EXPECT_EQ(one.station.received.back().text(), std::to_string(kRounds - 1));
}

TEST(Udp, ComesBackForWhatTheBudgetLeft) {
  UdpConfig config = test_config(2, 2);
  config.receive_budget = 1;
  Station one(test_config(1, 2));
  LoopedStation two(config);
  for (int i = 0; i < 20; ++i) one.multicast(Lane::data, std::to_string(i));
  one.transport->flush();
  for (std::size_t i = 0; i < 20; ++i) two.loop->turn(two, seconds(20));
  EXPECT_EQ(two.station.received.size(), 20U);
}

}  // namespace
}  // namespace peal::io
