// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "attacker.h"
#include "base/random.h"
#include "io/multicast_probe.h"
#include "io/udp_sockets.h"

// A transport limits and counts what it receives. It passes on only packets of configured nodes.

namespace peal::io {
namespace {

TEST(Hostile, UnknownSourcesAreDropped) {
  Station node(test_config(1, 2));
  Attacker stranger(test_endpoint(4'000));
  stranger.send(node_endpoint(1), as_bytes_view("token"));
  stranger.send(data_port(1), as_bytes_view("data"));
  // The IP address of a configured node, but a port that no configured node has.
  Attacker neighbour(data_port(3));
  neighbour.send(data_port(1), as_bytes_view("data"));
  drain(node);
  EXPECT_TRUE(node.received.empty());
  EXPECT_EQ(node.counters().drop_unknown_source, 3U);
}

TEST(Hostile, RandomBytesAreHandedOverOrCounted) {
  Station node(test_config(1, 2));
  Attacker peer(data_port(2));
  Random random(7);
  std::size_t probes = 0;
  constexpr std::size_t kCount = 2'000;
  for (std::size_t i = 0; i < kCount; ++i) {
    std::string bytes(static_cast<std::size_t>(random.below(200)), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    if (i % 3 == 0 && bytes.size() >= 2) bytes[0] = 'P', bytes[1] = 'M';
    if (looks_like_probe(as_bytes_view(bytes))) ++probes;
    const bool token = random.chance(0.5) && !looks_like_probe(as_bytes_view(bytes));
    peer.send(token ? node_endpoint(1) : data_port(1), as_bytes_view(bytes));
    if (i % 50 == 0) drain(node);
  }
  drain(node);
  EXPECT_GT(probes, kCount / 4);
  EXPECT_EQ(node.received.size() + probes, kCount);
  EXPECT_EQ(node.counters().probe_bad, probes);
  EXPECT_EQ(node.counters().probe_ack_out, 0U);
}

TEST(Hostile, AProbeOnTheTokenSocketIsJustBytes) {
  Station node(test_config(1, 2));
  Attacker peer(node_endpoint(2));
  const ProbeBytes hello = encode_probe({ProbeMessage::Kind::hello, test_cluster(), NodeId{2}, 1});
  peer.send(node_endpoint(1), hello);
  drain(node);
  EXPECT_EQ(node.received.size(), 1U);
  EXPECT_EQ(node.counters().probe_ack_out, 0U);
}

TEST(Hostile, AnswersToAFloodOfHellosAreLimited) {
  UdpConfig config = test_config(1, 3);
  config.multicast = MulticastMode::automatic;
  Station node(config);
  Attacker peer(data_port(2));
  const Interface loopback = *interface_of(node_endpoint(1));
  ip_mreqn out{};
  out.imr_ifindex = loopback.index;
  ASSERT_EQ(::setsockopt(peer.fd(), IPPROTO_IP, IP_MULTICAST_IF, &out, sizeof out), 0);
  const ProbeBytes hello = encode_probe({ProbeMessage::Kind::hello, test_cluster(), NodeId{2}, 1});
  const ProbeBytes forged = encode_probe({ProbeMessage::Kind::hello, test_cluster(), NodeId{3}, 1});
  const ProbeBytes unasked = encode_probe({ProbeMessage::Kind::ack, test_cluster(), NodeId{2}, 1});
  const Instant begin = Clock::now();
  for (int i = 0; i < 300; ++i) {
    peer.send(derived_group(test_cluster()), hello);
    peer.send(derived_group(test_cluster()), forged);
    peer.send(data_port(1), unasked);
    peer.send(data_port(1), hello);  // a hello by unicast is refused
    drain(node);
  }
  const Duration taken = Clock::now() - begin;
  const UdpCounters& counters = node.counters();
  EXPECT_LE(static_cast<std::int64_t>(counters.probe_ack_out), 1 + taken.ns / 50'000'000);
  EXPECT_EQ(counters.probe_ack_out + counters.probe_limited, 300U);
  EXPECT_EQ(counters.probe_bad, 900U);
  EXPECT_TRUE(node.received.empty());
  EXPECT_FALSE(node.transport->reach()[0].by_multicast);
}

TEST(Hostile, DatagramsLargerThanAPacketAreDroppedWhole) {
  UdpConfig config = test_config(1, 2);
  config.coalescing = Offload::off;
  Station node(config);
  Attacker peer(data_port(2));
  peer.send(data_port(1), as_bytes_view(std::string(9'000, 'x')));
  peer.send(data_port(1), as_bytes_view("fine"));
  drain(node);
  ASSERT_EQ(node.received.size(), 1U);
  EXPECT_EQ(node.received[0].text(), "fine");
  EXPECT_EQ(node.counters().drop_truncated, 1U);
}

}  // namespace
}  // namespace peal::io
