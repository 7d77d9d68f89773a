// SPDX-License-Identifier: Apache-2.0
#include "io/peer_streams.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stations.h"

// Data over TCP between whole transports. Other programs connect to the transports' ports too.

namespace peal::io {
namespace {

Stations::Adjust with_streams(bool seals, OutgoingLimits limits = {}) {
  return [=](std::uint32_t, UdpConfig& config) {
    config.streams = limits;
    if (seals) config = sealed_config(config);
  };
}

bool all_open(const UdpTransport& transport) {
  for (const StreamState& each : transport.streams()) {
    if (!each.open) return false;
  }
  return true;
}

bool connect_all(Stations& nodes, std::uint32_t count) {
  return nodes.run_until([&] {
    for (std::uint32_t node = 1; node <= count; ++node) {
      if (!all_open(*nodes[node].transport)) return false;
    }
    return true;
  });
}

const PeerStreamCounters& streams_of(Station& station) {
  return *station.transport->stream_counters();
}

/// A connection to the data port of a node, from a program that is not a node.
class Stranger {
 public:
  explicit Stranger(std::uint32_t node, const Endpoint& from = test_endpoint(0)) {
    const Endpoint at = node_endpoint(node);
    auto fd = connect_tcp(at.with_port(static_cast<std::uint16_t>(at.port + 1)), from);
    if (!fd) ADD_FAILURE() << fd.error().message;
    if (fd) fd_ = std::move(*fd);
    pollfd wait{fd_.get(), POLLOUT, 0};
    EXPECT_EQ(::poll(&wait, 1, 20'000), 1);
  }
  void say(std::string_view bytes) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    EXPECT_EQ(sent, static_cast<ssize_t>(bytes.size()));
  }
  bool is_cut_off() {
    char byte = 0;
    const ssize_t got = ::recv(fd_.get(), &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  }

 private:
  Fd fd_;
};

std::string with_length(std::string_view packet) {
  std::vector<std::byte> length(kLengthBytes);
  write_length(static_cast<std::uint32_t>(packet.size()), length);
  return std::string(as_text(length)) + std::string(packet);
}

/// A fake node that records the packets that it receives over TCP and as datagrams.
struct Ears {
  explicit Ears(std::uint32_t node) {
    const Endpoint at = node_endpoint(node);
    auto made = StreamListener::tcp(at.with_port(static_cast<std::uint16_t>(at.port + 1)),
                                    make_plain_stream);
    if (made) listener = std::move(*made);
    sockaddr_storage address{};
    const socklen_t size = to_sockaddr(at, address);
    datagrams = Fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    EXPECT_EQ(::bind(datagrams.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  }
  void hear() {
    std::vector<std::byte> bytes(70'000);
    if (stream == nullptr) stream = listener->accept().stream;
    if (stream != nullptr) {
      const Transfer got = stream->read(bytes);
      came.insert(came.end(), bytes.begin(), bytes.begin() + static_cast<long>(got.bytes));
    }
    while (true) {
      const ssize_t got = ::recv(datagrams.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got < 0) break;
      packets.emplace_back(bytes.begin(), bytes.begin() + got);
    }
    while (came.size() >= kLengthBytes) {
      std::uint32_t length = 0;
      for (std::uint32_t i = 0; i < kLengthBytes; ++i) {
        length |= std::to_integer<std::uint32_t>(came[i]) << (8 * i);
      }
      if (came.size() < kLengthBytes + length) break;
      const auto begin = came.begin() + kLengthBytes;
      packets.emplace_back(begin, begin + length);
      ++framed_packets;
      came.erase(came.begin(), begin + length);
    }
  }
  std::unique_ptr<StreamListener> listener;
  std::unique_ptr<Stream> stream;
  Fd datagrams;
  std::vector<std::byte> came;
  std::vector<std::vector<std::byte>> packets;
  std::size_t framed_packets = 0;
};

TEST(PeerStreams, DataGoesOverStreamsAndIsSealedOnce) {
  for (const bool seals : {false, true}) {
    Stations nodes(3, with_streams(seals));
    ASSERT_TRUE(connect_all(nodes, 3));
    // Nodes 2 and 3 must learn node 1's incarnation to open packets with short headers.
    nodes[1].multicast(Lane::control, "hello");
    ASSERT_TRUE(nodes.run_until(
        [&] { return nodes[2].received.size() == 1 && nodes[3].received.size() == 1; }));
    const std::string large(60'000, 'x');
    nodes[1].multicast(Lane::data, large);
    nodes[1].send(3, Lane::data, "for three");
    ASSERT_TRUE(nodes.run_until(
        [&] { return nodes[2].received.size() == 2 && nodes[3].received.size() == 3; }));
    EXPECT_EQ(nodes[2].received[1].text(), large);
    EXPECT_EQ(nodes[3].received[1].text(), large);
    EXPECT_EQ(nodes[3].received[2].text(), "for three");
    EXPECT_EQ(nodes[3].received[2].lane, Lane::data);
    if (seals) {
      EXPECT_EQ(nodes[3].received[2].from, NodeId{1});
    }
    EXPECT_EQ(nodes[1].counters().data_packets_out, 0U);
    EXPECT_EQ(streams_of(nodes[1]).packets_out, 3U);
    EXPECT_EQ(streams_of(nodes[1]).sealed, 2U);
    EXPECT_EQ(streams_of(nodes[3]).packets_in, 2U);
  }
}

TEST(PeerStreams, OnlyTheViewIsSentData) {
  Stations nodes(3, with_streams(false));
  ASSERT_TRUE(connect_all(nodes, 3));
  const std::vector<MemberId> view{{{1}, 5}, {{3}, 5}};
  nodes[1].transport->set_audience(view);
  nodes[1].multicast(Lane::data, "for three");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[3].received.size() == 1; }));
  EXPECT_EQ(streams_of(nodes[1]).packets_out, 1U);
}

TEST(PeerStreams, WhatFitsNoDatagramGoesOverThem) {
  for (const bool seals : {false, true}) {
    Stations nodes(3, [&](std::uint32_t node, UdpConfig& config) {
      with_streams(seals)(node, config);
      config.datagram_bytes_max = 1'472;
    });
    ASSERT_TRUE(connect_all(nodes, 3));
    const std::size_t most = 1'472 - (seals ? seal::overhead(Lane::control) : 0);
    nodes[1].multicast(Lane::control, std::string(most + 1, 'l'));
    nodes[1].multicast(Lane::control, std::string(most, 's'));
    nodes[1].send(2, Lane::control, std::string(60'000, 'h'));
    ASSERT_TRUE(nodes.run_until(
        [&] { return nodes[2].received.size() == 3 && nodes[3].received.size() == 2; }));
    EXPECT_EQ(streams_of(nodes[1]).packets_out, 3U);
    EXPECT_EQ(nodes[1].counters().control_packets_out, 2U);
    if (seals) {
      EXPECT_EQ(nodes[2].count(Lane::token), 3U);
    }
  }
}

TEST(PeerStreams, WithoutAConnectionLargeControlGoesInDatagrams) {
  UdpConfig config = sealed_config(test_config(1, 2));
  config.streams.emplace();
  config.datagram_bytes_max = 1'472;
  Station one(config);
  Ears two(2);
  one.send(2, Lane::control, std::string(20'000, 'l'));
  one.transport->flush();
  const Instant end = Clock::now() + seconds(20);
  while (two.packets.empty() && Clock::now() < end) two.hear();
  ASSERT_EQ(two.packets.size(), 1U);
  EXPECT_EQ(two.framed_packets, 0U);
}

/// With AES-GCM, two packets with the same nonce reveal both texts and the key of the tags.
TEST(PeerStreams, NoNonceIsUsedTwiceWhateverTheWay) {
  Ears two(2), three(3);
  UdpConfig config = sealed_config(test_config(1, 3));
  config.streams.emplace();
  config.datagram_bytes_max = 1'472;
  Station one(config);
  const auto run_until = [&](const auto& done) {
    const Instant end = Clock::now() + seconds(20);
    while (!done() && Clock::now() < end) {
      one.turn();
      two.hear();
      three.hear();
    }
    return done();
  };
  ASSERT_TRUE(run_until([&] { return all_open(*one.transport); }));
  const std::string no_datagram(5'000, 'l');
  for (int i = 0; i < 50; ++i) {
    one.multicast(Lane::data, "to all " + std::to_string(i));
    one.send(2, Lane::data, "data " + std::to_string(i));
    one.send(3, Lane::control, "control " + std::to_string(i));
    one.send(2, Lane::control, no_datagram + std::to_string(i));
    if (i % 10 == 0) one.transport->set_keys(keys_of({static_cast<std::uint8_t>(1 + i % 20)}));
    one.transport->flush();
  }
  ASSERT_TRUE(run_until([&] { return two.packets.size() == 150 && three.packets.size() == 100; }));
  EXPECT_EQ(two.framed_packets, 150U);
  EXPECT_EQ(three.framed_packets, 50U);
  // A lane and a counter of one incarnation must identify one packet, for all receivers.
  std::map<std::pair<Lane, std::uint64_t>, std::vector<std::byte>> seen;
  for (const Ears* ears : {&two, &three}) {
    for (const auto& packet : ears->packets) {
      seal::Header header;
      ASSERT_EQ(seal::read_header(packet, header), seal::Refusal::none);
      const auto [known, fresh] = seen.emplace(std::pair(header.lane, header.counter), packet);
      if (!fresh) {
        EXPECT_EQ(known->second, packet) << "counter " << header.counter;
      }
    }
  }
  EXPECT_EQ(seen.size(), 200U);
}

/// Node 2 sends data to node 1, so that node 1 knows that the connection belongs to node 2.
void show_itself(Stations& nodes) {
  nodes[2].send(1, Lane::control, "hello");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[1].received.size() == 1; }));
  nodes[2].send(1, Lane::data, "here");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[1].received.size() == 2; }));
}

TEST(PeerStreams, BadLengthsEndAConnectionAndNoOther) {
  Stations nodes(2, with_streams(true));
  show_itself(nodes);
  const std::string none(4, '\0');
  for (const std::string& length :
       {none, std::string("\xff\xff\xff\xff"), std::string(2, char{}) + "\x01\x01"}) {
    Stranger stranger(1);
    stranger.say(length);
    ASSERT_TRUE(nodes.run_until([&] { return stranger.is_cut_off(); }));
  }
  EXPECT_EQ(streams_of(nodes[1]).close_bad_length, 3U);
  nodes[2].send(1, Lane::data, "still here");
  ASSERT_TRUE(nodes.run_until([&] { return streams_of(nodes[1]).packets_in == 2; }));
  EXPECT_EQ(streams_of(nodes[2]).broken, 0U);
}

TEST(PeerStreams, WhoDoesNotHaveTheKeyIsCutOff) {
  Stations nodes(2, with_streams(true));
  ASSERT_TRUE(connect_all(nodes, 2));
  show_itself(nodes);
  for (const std::string_view rubbish :
       {std::string_view("x"), std::string_view("GET / HTTP/1.1\r\nHost: a\r\n\r\n and more"),
        std::string_view("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a")}) {
    const std::uint64_t before = streams_of(nodes[1]).close_forged;
    Stranger stranger(1);
    stranger.say(with_length(rubbish));
    ASSERT_TRUE(nodes.run_until([&] { return stranger.is_cut_off(); }));
    EXPECT_EQ(streams_of(nodes[1]).close_forged, before + 1);
  }
  // The connection of the real node 2 continues.
  nodes[2].send(1, Lane::data, "real");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[1].received.size() == 3; }));
  EXPECT_EQ(streams_of(nodes[2]).broken, 0U);
}

TEST(PeerStreams, NobodyComesInFromElsewhere) {
  Stations nodes(2, with_streams(false));
  ASSERT_TRUE(connect_all(nodes, 2));
  Endpoint elsewhere = test_endpoint(0);
  elsewhere.ip[13] = 253;
  Stranger stranger(1, elsewhere);
  ASSERT_TRUE(nodes.run_until([&] { return stranger.is_cut_off(); }));
  EXPECT_EQ(streams_of(nodes[1]).close_unknown_source, 1U);
  EXPECT_EQ(streams_of(nodes[1]).accepted, 1U);
}

TEST(PeerStreams, SilentConnectionsAreFewAndPushNoNodeOut) {
  Stations nodes(2, with_streams(true));
  ASSERT_TRUE(connect_all(nodes, 2));
  show_itself(nodes);
  std::vector<std::unique_ptr<Stranger>> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(std::make_unique<Stranger>(1));
  ASSERT_TRUE(nodes.run_until([&] { return streams_of(nodes[1]).accepted == 101; }));
  // Two connections are left: that of node 2, and the newest of the 100 others.
  EXPECT_EQ(streams_of(nodes[1]).close_replaced, 99U);
  const std::uint64_t before = streams_of(nodes[1]).packets_in;
  nodes[2].send(1, Lane::data, "still here");
  ASSERT_TRUE(nodes.run_until([&] { return streams_of(nodes[1]).packets_in == before + 1; }));
  EXPECT_EQ(streams_of(nodes[2]).broken, 0U);
}

TEST(PeerStreams, BytesOfAnEarlierConnectionAreWorthNothing) {
  std::string recorded;
  {
    // A fake node 2 records all packets that node 1 sends.
    Ears two(2);
    UdpConfig config = sealed_config(test_config(1, 2));
    config.streams.emplace();
    Station one(config);
    const Instant end = Clock::now() + seconds(20);
    while (!all_open(*one.transport) && Clock::now() < end) one.turn();
    ASSERT_TRUE(all_open(*one.transport));
    one.send(2, Lane::control, "hello");
    one.send(2, Lane::data, "once");
    while (two.packets.size() < 2 && Clock::now() < end) {
      one.turn();
      two.hear();
    }
    ASSERT_EQ(two.packets.size(), 2U);
    for (const auto& each : two.packets) recorded += with_length(as_text(each));
  }
  UdpConfig config = sealed_config(test_config(2, 2));
  config.streams.emplace();
  Station real(config);
  const auto turn_until = [&](const auto& done) {
    const Instant end = Clock::now() + seconds(20);
    while (!done() && Clock::now() < end) real.turn();
    return done();
  };
  {
    Stranger first(2);
    first.say(recorded);
    // The control packet was recorded from a datagram. It makes node 1's incarnation known, but is
    // dropped, because its lane uses datagrams.
    ASSERT_TRUE(turn_until([&] { return streams_of(real).drop_wrong_lane == 1; }));
    ASSERT_TRUE(turn_until([&] { return real.received.size() == 1; }));
  }
  Stranger again(2);
  again.say(recorded);
  ASSERT_TRUE(turn_until([&] { return streams_of(real).drop_refused == 2; }));
  EXPECT_EQ(real.received.size(), 1U);
  ASSERT_EQ(real.refused.size(), 2U);
  EXPECT_EQ(real.refused[1].reason, seal::Refusal::replayed);
  EXPECT_FALSE(again.is_cut_off());
}

TEST(PeerStreams, KeysChangeWhileDataFlows) {
  Stations nodes(2, with_streams(true));
  ASSERT_TRUE(connect_all(nodes, 2));
  nodes[1].send(2, Lane::control, "hello");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() == 1; }));
  seal::Keys next = keys_of({2, 1});
  nodes[1].send(2, Lane::data, "old key");
  nodes[1].transport->set_keys(next);
  // Node 2 does not have the new key yet. It drops the packet and keeps the connection open.
  nodes[1].send(2, Lane::data, "too early");
  ASSERT_TRUE(nodes.run_until([&] { return streams_of(nodes[2]).drop_refused == 1; }));
  nodes[2].transport->set_keys(keys_of({1, 2}));
  nodes[1].send(2, Lane::data, "new key");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() == 3; }));
  EXPECT_EQ(nodes[2].received[1].text(), "old key");
  EXPECT_EQ(nodes[2].received[2].text(), "new key");
  EXPECT_EQ(streams_of(nodes[2]).close_forged, 0U);
  EXPECT_EQ(streams_of(nodes[1]).broken, 0U);
}

TEST(PeerStreams, APeerThatComesBackIsConnectedToAgain) {
  UdpConfig config = sealed_config(test_config(1, 2));
  config.streams.emplace();
  Station one(config);
  UdpConfig other = sealed_config(test_config(2, 2));
  other.streams.emplace();
  auto two = std::make_unique<Station>(other);
  const auto turn_until = [&](const auto& done) {
    const Instant end = Clock::now() + seconds(20);
    while (!done() && Clock::now() < end) {
      one.turn();
      if (two) two->turn();
    }
    return done();
  };
  ASSERT_TRUE(turn_until([&] { return all_open(*one.transport); }));
  two.reset();
  ASSERT_TRUE(turn_until([&] { return !all_open(*one.transport); }));
  EXPECT_EQ(streams_of(one).broken, 1U);
  EXPECT_FALSE(one.transport->streams()[0].problem.empty());
  one.send(2, Lane::data, "to nobody");
  EXPECT_EQ(streams_of(one).drop_not_connected, 1U);

  other.seal->epoch = 6;
  two = std::make_unique<Station>(other);
  ASSERT_TRUE(turn_until([&] { return all_open(*one.transport); }));
  one.send(2, Lane::control, "hello");
  ASSERT_TRUE(turn_until([&] { return two->received.size() == 1; }));
  one.send(2, Lane::data, "again");
  ASSERT_TRUE(turn_until([&] { return two->received.size() == 2; }));
}

TEST(PeerStreams, WhoDoesNotReadFillsItsQueueAndNoOther) {
  OutgoingLimits limits;
  limits.queue_bytes_max = 1U << 20;
  limits.full_bytes = 256U << 10;
  limits.stalled = seconds(3'600);
  // The kernel must not close the connection of a peer that does not read.
  limits.patience = seconds(60);
  Stations nodes(3, with_streams(true, limits));
  ASSERT_TRUE(connect_all(nodes, 3));
  nodes[1].multicast(Lane::control, "hello");
  ASSERT_TRUE(nodes.run_until(
      [&] { return nodes[2].received.size() == 1 && nodes[3].received.size() == 1; }));
  EXPECT_EQ(nodes[1].transport->congested(), NodeId{});
  // From here on node 2 does not read.
  const std::string packet(30'000, 'x');
  std::size_t sent = 0;
  std::size_t held_at = 0;
  for (; streams_of(nodes[1]).drop_queue_full == 0; ++sent) {
    ASSERT_LT(sent, 10'000U);
    if (held_at == 0 && nodes[1].transport->congested() == NodeId{2}) held_at = sent;
    nodes[1].multicast(Lane::data, packet);
    nodes[1].turn();
    nodes[3].turn();
    ASSERT_LE(nodes[1].transport->streams()[0].queued_bytes, limits.queue_bytes_max);
  }
  // congested() named node 2 before the first packet was dropped.
  EXPECT_GT(held_at, 0U);
  EXPECT_LT(held_at, sent);
  EXPECT_EQ(nodes[1].transport->streams()[0].dropped, 1U);
  EXPECT_EQ(nodes[1].transport->streams()[1].dropped, 0U);
  // A node outside the view does not hold up the other nodes.
  const std::vector<MemberId> view{{{1}, 5}, {{3}, 5}};
  nodes[1].transport->set_audience(view);
  EXPECT_EQ(nodes[1].transport->congested(), NodeId{});
  ASSERT_TRUE(nodes.run_until(
      [&] { return nodes[3].received.size() == 1 + sent && nodes[2].received.size() == sent; }));
  EXPECT_EQ(nodes[1].transport->streams()[0].queued_bytes, 0U);
}

TEST(PeerStreams, WhoTakesNothingForLongHoldsUpNobody) {
  OutgoingLimits limits;
  limits.full_bytes = 256U << 10;
  limits.stalled = Duration{0};
  limits.patience = seconds(60);
  Stations nodes(2, with_streams(false, limits));
  ASSERT_TRUE(connect_all(nodes, 2));
  const std::string packet(30'000, 'x');
  for (int i = 0; nodes[1].transport->streams()[0].queued_bytes < limits.full_bytes; ++i) {
    ASSERT_LT(i, 10'000);
    nodes[1].send(2, Lane::data, packet);
    nodes[1].turn();
  }
  EXPECT_EQ(nodes[1].transport->congested(), NodeId{});
}

TEST(PeerStreams, NodesComeAndGo) {
  Stations nodes(3, [](std::uint32_t node, UdpConfig& config) {
    config.streams.emplace();
    config = sealed_config(config);
    if (node != 3) config.nodes.pop_back();
  });
  const auto list = [](std::uint32_t count) { return test_config(1, count).nodes; };
  ASSERT_TRUE(nodes.run_until([&] { return all_open(*nodes[1].transport); }));
  for (const std::uint32_t node : {1U, 2U}) nodes[node].transport->set_nodes(list(3));
  ASSERT_TRUE(connect_all(nodes, 3));
  nodes[1].multicast(Lane::control, "hello");
  const std::vector<MemberId> all{{{1}, 5}, {{2}, 5}, {{3}, 5}};
  nodes[1].transport->set_audience(all);
  ASSERT_TRUE(nodes.run_until([&] { return nodes[3].received.size() == 1; }));
  nodes[1].multicast(Lane::data, "for all");
  ASSERT_TRUE(nodes.run_until(
      [&] { return nodes[3].received.size() == 2 && nodes[2].received.size() == 2; }));

  std::vector<Peer> without = list(3);
  without.erase(without.begin() + 1);
  nodes[1].transport->set_nodes(without);
  ASSERT_EQ(nodes[1].transport->streams().size(), 1U);
  EXPECT_EQ(nodes[1].transport->streams()[0].node, NodeId{3});
  EXPECT_TRUE(nodes[1].transport->streams()[0].open);
  nodes[1].send(3, Lane::data, "for three");
  ASSERT_TRUE(nodes.run_until([&] { return nodes[3].received.size() == 3; }));
  EXPECT_EQ(streams_of(nodes[1]).broken, 0U);
}

TEST(PeerStreams, TheConfigurationIsChecked) {
  UdpConfig config = test_config(1, 2);
  config.streams.emplace();
  config.multicast = MulticastMode::automatic;
  BufferPool pool(UdpTransport::kSlabBytes, 8);
  const auto opened = UdpTransport::open(config, pool);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::invalid_option);
}

}  // namespace
}  // namespace peal::io
