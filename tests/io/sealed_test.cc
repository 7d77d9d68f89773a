// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attacker.h"
#include "base/random.h"
#include "io/multicast_probe.h"
#include "io/udp_sockets.h"
#include "seal/sealer.h"

// Transports with sealed packets, and attackers without the key. The attackers can only increase
// counters.

namespace peal::io {
namespace {

using seal::Refusal;
using Bytes = std::vector<std::byte>;

/// The transport of node 1 of two nodes. Most tests make the packets of node 2 themselves.
Station sealed_station() { return Station(sealed_config(test_config(1, 2))); }

seal::Salt salt_of(std::uint8_t number) {
  seal::Salt salt;
  salt.fill(std::byte{number});
  return salt;
}
seal::Sealer peer_sealer(const seal::Keys& keys = keys_of({1}), std::uint64_t epoch = 7,
                         std::uint8_t salt = 1) {
  return {keys, test_cluster(), {{{2}, epoch}, salt_of(salt)}};
}
Bytes sealed(seal::Sealer& by, Lane lane, std::string_view text, std::uint32_t to = 0) {
  Bytes packet(text.size() + seal::overhead(lane));
  EXPECT_TRUE(by.seal(lane, {to}, as_bytes_view(text), packet));
  return packet;
}

std::uint64_t refusals(const Station& station) {
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < seal::kRefusals; ++i) {
    sum += station.transport->count(static_cast<Refusal>(i));
  }
  return sum;
}

TEST(Sealed, CarriesEveryLaneAndFindsWhomMulticastReaches) {
  Stations nodes(3, [](std::uint32_t, UdpConfig& config) {
    config.multicast = MulticastMode::automatic;
    config = sealed_config(config);
  });
  ASSERT_TRUE(nodes.run_until([&] {
    for (std::uint32_t node = 1; node <= 3; ++node) {
      for (const PeerReach& peer : nodes[node].transport->reach()) {
        if (!peer.by_multicast) return false;
      }
    }
    return true;
  }));
  const std::string large(60'000, 'l');
  nodes[1].multicast(Lane::control, large);
  nodes[1].send(2, Lane::token, "token");
  for (int i = 0; i < 200; ++i) nodes[1].multicast(Lane::data, std::string(1'000, 'd'));
  nodes[1].multicast(Lane::data, "");
  ASSERT_TRUE(nodes.run_until(
      [&] { return nodes[2].received.size() == 203 && nodes[3].received.size() == 202; }));
  for (const std::uint32_t node : {2U, 3U}) {
    EXPECT_EQ(nodes[node].count(Lane::data), 201U);
    for (const Station::Received& one : nodes[node].received) {
      EXPECT_EQ(one.from, NodeId{1});
      const std::string_view text = one.text();
      EXPECT_TRUE(text == large || text == "token" || text.empty() ||
                  text == std::string(1'000, 'd'));
    }
    EXPECT_EQ(refusals(nodes[node]), 0U);
    EXPECT_EQ(nodes[node].counters().data_multicast_in, 201U);
  }
  EXPECT_GT(nodes[1].counters().segmented_packets, 0U) << "sealed packets are of one size still";
}

TEST(Sealed, AChangedPacketIsRefusedWhicheverByteItIs) {
  Station node = sealed_station();
  Attacker peer(node_endpoint(2));
  seal::Sealer by = peer_sealer();
  const Bytes good = sealed(by, Lane::token, "all bytes of this count", 1);
  for (std::size_t at = 0; at < good.size(); ++at) {
    Bytes changed = good;
    changed[at] ^= std::byte{0x10};
    peer.send(node_endpoint(1), changed);
    drain(node);
  }
  EXPECT_TRUE(node.received.empty());
  EXPECT_EQ(refusals(node), good.size());
  peer.send(node_endpoint(1), good);
  drain(node);
  ASSERT_EQ(node.received.size(), 1U) << "what was tried before does no harm to the real one";
  EXPECT_EQ(node.received[0].text(), "all bytes of this count");
}

TEST(Sealed, ATruncatedOrLengthenedPacketIsRefused) {
  Station node = sealed_station();
  Attacker peer(node_endpoint(2));
  seal::Sealer by = peer_sealer();
  const Bytes good = sealed(by, Lane::control, "0123456789");
  for (std::size_t size = 0; size < good.size(); ++size) {
    peer.send(node_endpoint(1), ByteView(good).first(size));
    drain(node);
  }
  Bytes longer = good;
  longer.push_back(std::byte{0});
  peer.send(node_endpoint(1), longer);
  drain(node);
  EXPECT_TRUE(node.received.empty());
  EXPECT_EQ(refusals(node), good.size() + 1);
}

TEST(Sealed, AReplayIsRefusedFromWhereverItComes) {
  Station node = sealed_station();
  Attacker token_port(node_endpoint(2));
  Attacker peer_data(data_port(2));
  seal::Sealer by = peer_sealer();
  const Bytes control = sealed(by, Lane::control, "hello");
  const Bytes data = sealed(by, Lane::data, "data");
  for (int i = 0; i < 10; ++i) {
    token_port.send(node_endpoint(1), control);
    drain(node);
    peer_data.send(data_port(1), data);
    drain(node);
  }
  EXPECT_EQ(node.received.size(), 2U);
  EXPECT_EQ(node.transport->count(Refusal::replayed), 18U);
}

TEST(Sealed, ForeignKeysAndOtherReceiversAreRefused) {
  Station node = sealed_station();
  Attacker peer(node_endpoint(2));
  seal::Sealer foreign = peer_sealer(keys_of({9}));
  seal::Sealer good = peer_sealer();
  seal::Sealer other_cluster(keys_of({1}), test_cluster() + 1, {{{2}, 7}, salt_of(1)});
  peer.send(node_endpoint(1), sealed(foreign, Lane::control, "foreign"));
  peer.send(node_endpoint(1), sealed(good, Lane::token, "for another", 3));
  peer.send(node_endpoint(1), sealed(other_cluster, Lane::control, "of another cluster"));
  peer.send(node_endpoint(1), sealed(good, Lane::data, "unknown"));
  drain(node);
  EXPECT_TRUE(node.received.empty());
  EXPECT_EQ(node.transport->count(Refusal::unknown_key), 1U);
  EXPECT_EQ(node.transport->count(Refusal::other_receiver), 1U);
  EXPECT_EQ(node.transport->count(Refusal::bad_badge), 1U);
  EXPECT_EQ(node.transport->count(Refusal::unknown_incarnation), 1U);
  ASSERT_EQ(node.refused.size(), 4U);
  EXPECT_EQ(node.refused[0].from, NodeId{2});
  EXPECT_EQ(node.refused[0].reason, Refusal::unknown_key);
}

TEST(Sealed, PlainPacketsAreRefusedProbesIncluded) {
  Station node = sealed_station();
  Attacker token_port(node_endpoint(2));
  Attacker peer_data(data_port(2));
  const std::string plain(200, 'p');
  token_port.send(node_endpoint(1), as_bytes_view(plain));
  peer_data.send(data_port(1), as_bytes_view(plain));
  peer_data.send(data_port(1),
                 encode_probe({ProbeMessage::Kind::ack, test_cluster(), NodeId{2}, 1}));
  drain(node);
  EXPECT_TRUE(node.received.empty());
  // A plain probe is shorter than the header and the tag of a sealed packet.
  EXPECT_EQ(node.transport->count(Refusal::unknown_version), 2U);
  EXPECT_EQ(node.transport->count(Refusal::too_short), 1U);
  EXPECT_EQ(node.counters().probe_bad, 0U) << "nobody looked into it";
}

TEST(Sealed, ANodeWithoutAKeySeesRubbish) {
  Station node(test_config(1, 2));
  Attacker peer(node_endpoint(2));
  seal::Sealer by = peer_sealer();
  const Bytes packet = sealed(by, Lane::control, "secret text");
  peer.send(node_endpoint(1), packet);
  drain(node);
  ASSERT_EQ(node.received.size(), 1U);
  EXPECT_EQ(node.received[0].text(), as_text(packet));
  EXPECT_EQ(node.received[0].text().find("secret"), std::string_view::npos);
}

TEST(Sealed, APacketCountsOnTheSocketOfItsLaneOnly) {
  Station node = sealed_station();
  Attacker token_port(node_endpoint(2));
  Attacker peer_data(data_port(2));
  seal::Sealer by = peer_sealer();
  token_port.send(node_endpoint(1), sealed(by, Lane::control, "hello"));
  token_port.send(node_endpoint(1), sealed(by, Lane::data, "data"));
  peer_data.send(data_port(1), sealed(by, Lane::token, "token", 1));
  peer_data.send(data_port(1), sealed(by, Lane::control, "no probe"));
  drain(node);
  ASSERT_EQ(node.received.size(), 1U);
  EXPECT_EQ(node.received[0].text(), "hello");
  EXPECT_EQ(node.counters().drop_wrong_lane, 2U);
  EXPECT_EQ(node.counters().probe_bad, 1U);
}

TEST(Sealed, ARestartedNodeIsHeardAtOnceAndItsFormerPacketsAreNot) {
  Station node = sealed_station();
  Attacker peer(node_endpoint(2));
  seal::Sealer before = peer_sealer(keys_of({1}), 7, 1);
  peer.send(node_endpoint(1), sealed(before, Lane::control, "before"));
  const Bytes delayed = sealed(before, Lane::control, "delayed");
  seal::Sealer after = peer_sealer(keys_of({1}), 8, 2);
  peer.send(node_endpoint(1), sealed(after, Lane::control, "after"));
  peer.send(node_endpoint(1), delayed);
  drain(node);
  ASSERT_EQ(node.received.size(), 2U);
  EXPECT_EQ(node.received[1].text(), "after");
  ASSERT_EQ(node.refused.size(), 1U);
  EXPECT_EQ(node.refused[0].reason, Refusal::old_incarnation);
  EXPECT_EQ(node.refused[0].newest, (MemberId{{2}, 8})) << "so that it can be told, if it is alive";
}

TEST(Sealed, ATransportBeginsANewIncarnationWithoutBeingMadeAnew) {
  Stations nodes(2, [](std::uint32_t, UdpConfig& config) { config = sealed_config(config); });
  nodes[1].multicast(Lane::control, "first");
  nodes[1].transport->set_epoch(6);
  nodes[1].multicast(Lane::control, "second");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() == 2; }));
  EXPECT_EQ(nodes[2].received[0].text(), "first");
  nodes[1].transport->set_epoch(4);  // as if the clock was set back
  nodes[1].multicast(Lane::control, "third");
  ASSERT_TRUE(nodes.run_until([&] { return !nodes[2].refused.empty(); }));
  EXPECT_EQ(nodes[2].refused[0].reason, Refusal::old_incarnation);
  EXPECT_EQ(nodes[2].refused[0].newest, (MemberId{{1}, 6}));
}

TEST(Sealed, KeysChangeInThreeStepsAndNothingIsLost) {
  Stations nodes(2, [](std::uint32_t, UdpConfig& config) { config = sealed_config(config); });
  std::size_t sent = 0;
  const auto all_hear_all = [&] {
    nodes[1].send(2, Lane::token, "to two");
    nodes[2].send(1, Lane::token, "to one");
    ++sent;
    return nodes.run_until(
        [&] { return nodes[1].received.size() == sent && nodes[2].received.size() == sent; });
  };
  ASSERT_TRUE(all_hear_all());
  for (const seal::Keys& step : {keys_of({1, 2}), keys_of({2, 1}), keys_of({2})}) {
    for (const std::uint32_t node : {1U, 2U}) {
      nodes[node].transport->set_keys(step);
      ASSERT_TRUE(all_hear_all());
    }
  }
  EXPECT_EQ(refusals(nodes[1]) + refusals(nodes[2]), 0U);
}

// An attacker has seen real packets. Through real sockets, it replays, changes and truncates them.
TEST(Sealed, AFloodOfHostilePacketsChangesNothingButCounters) {
  Station node = sealed_station();
  Attacker token_port(node_endpoint(2));
  Attacker peer_data(data_port(2));
  seal::Sealer by = peer_sealer();
  seal::Sealer foreign = peer_sealer(keys_of({9}));
  std::vector<Bytes> seen;
  seen.push_back(sealed(by, Lane::control, "hello"));
  for (int i = 0; i < 50; ++i) seen.push_back(sealed(by, Lane::data, std::string(100, 'd')));
  token_port.send(node_endpoint(1), seen[0]);
  drain(node);
  for (std::size_t i = 1; i < seen.size(); ++i) peer_data.send(data_port(1), seen[i]);
  drain(node);
  const std::size_t honest = seen.size();
  ASSERT_EQ(node.received.size(), honest);

  Random random(11);
  constexpr std::size_t kHostile = 20'000;
  for (std::size_t i = 0; i < kHostile; ++i) {
    Bytes packet = seen[random.below(seen.size())];
    switch (random.below(4)) {
      case 0: break;  // a replay
      case 1: packet[random.below(packet.size())] ^= std::byte{1}; break;
      case 2: packet.resize(random.below(packet.size())); break;
      default: packet = sealed(foreign, Lane::control, "foreign"); break;
    }
    const bool to_token = random.chance(0.5);
    (to_token ? token_port : peer_data).send(to_token ? node_endpoint(1) : data_port(1), packet);
    if (i % 64 == 63) drain(node);
  }
  drain(node);
  EXPECT_EQ(node.received.size(), honest);
  EXPECT_EQ(refusals(node), kHostile);
  peer_data.send(data_port(1), sealed(by, Lane::data, "still heard"));
  drain(node);
  ASSERT_EQ(node.received.size(), honest + 1);
  EXPECT_EQ(node.received.back().text(), "still heard");
}

}  // namespace
}  // namespace peal::io
