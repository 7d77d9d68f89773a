// SPDX-License-Identifier: Apache-2.0
#include "io/frame_header.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attacker.h"
#include "seal/sealer.h"

// Sealing removes the header of a data frame, and opening restores it. The frame must have the same
// bytes as before, whatever lies beside it in memory.

namespace peal::io {
namespace {

using seal::Refusal;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kEpoch = 5;

/// Writes a header like that of a real frame: all variable fields, with constants between them.
void write_test_header(std::uint64_t cluster, const MemberId& sender, std::uint32_t frame_bytes,
                       ByteSpan out) {
  store(out, std::uint32_t{0xfeed'0001});
  store(out.subspan(4), frame_bytes);
  store(out.subspan(8), cluster);
  store(out.subspan(16), sender.node.value);
  store(out.subspan(20), sender.epoch);
  store(out.subspan(28), std::uint32_t{0xfeed'0002});
}

std::string frame(std::string_view rest, std::uint32_t node = 1, std::uint64_t epoch = kEpoch,
                  std::uint64_t cluster = test_cluster()) {
  std::string text(FrameHeader::kBytes, '\0');
  text += rest;
  write_test_header(cluster, {{node}, epoch}, static_cast<std::uint32_t>(text.size()),
                    std::as_writable_bytes(std::span(text)).first(FrameHeader::kBytes));
  return text;
}

UdpConfig frames_config(UdpConfig config) {
  config = sealed_config(config, kEpoch);
  config.seal->header = write_test_header;
  return config;
}

/// Node 1 is a real transport, which reads packets. The test itself makes the packets of node 2.
struct OneReader : testing::Test {
  Station node{frames_config(test_config(1, 2))};
  Attacker token_port{node_endpoint(2)};
  Attacker peer_data{data_port(2)};
  seal::Sealer by{keys_of({1}), test_cluster(), {{{2}, 7}, {}}};

  Bytes sealed(Lane lane, std::string_view text) {
    Bytes packet(text.size() + seal::overhead(lane));
    EXPECT_TRUE(by.seal(lane, {}, as_bytes_view(text), packet));
    return packet;
  }
  void SetUp() override {
    by.set_mark(FrameHeader(write_test_header, test_cluster()).mark());
    token_port.send(node_endpoint(1), sealed(Lane::control, "hello"));
    drain(node);
    ASSERT_EQ(node.received.size(), 1U);
    node.received.clear();
  }
  std::string_view received() const {
    return node.received.empty() ? "nothing" : node.received.back().text();
  }
};

TEST(FrameHeaders, AreNotSentAndStandInFrontOfWhatArrives) {
  Stations nodes(2, [](std::uint32_t, UdpConfig& config) { config = frames_config(config); });
  nodes[1].multicast(Lane::control, "hello");
  const std::string one = frame(std::string(1'000, 'd'));
  nodes[1].multicast(Lane::data, one);
  nodes[1].send(2, Lane::data, frame(""));
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() == 3; }));
  EXPECT_EQ(nodes[2].received[0].text(), "hello");
  EXPECT_EQ(nodes[2].received[1].text(), one);
  EXPECT_EQ(nodes[2].received[2].text(), frame(""));
  EXPECT_EQ(nodes[1].counters().data_bytes_out, 1'000 + 2 * seal::overhead(Lane::data));
}

// The test keeps all frames. A header written in the wrong place would change one of them.
TEST(FrameHeaders, NeverReachIntoTheFramesBesideThem) {
  for (const Offload coalescing : {Offload::automatic, Offload::off}) {
    for (const std::uint32_t largest : {1'472U, 2'048U}) {
      Stations nodes(2, [&](std::uint32_t, UdpConfig& config) {
        config = frames_config(config);
        config.coalescing = coalescing;
        config.packet_bytes_max = largest;
      });
      nodes[1].multicast(Lane::control, "hello");
      ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() == 1; }));
      std::vector<std::string> sent;
      for (std::size_t i = 0; i < 400; ++i) {
        // Most datagrams fill their buffers. Some small datagrams are between them.
        const std::size_t bytes = i % 40 < 30 ? largest - seal::overhead(Lane::data) : i % 7;
        sent.push_back(frame(std::string(bytes, static_cast<char>('a' + i % 26))));
        nodes[1].multicast(Lane::data, sent.back());
        if (i % 50 == 49) nodes.turn();
      }
      ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() == 401; }));
      for (std::size_t i = 0; i < sent.size(); ++i) {
        ASSERT_EQ(nodes[2].received[i + 1].text(), sent[i]) << i;
      }
      const bool several = nodes[2].counters().coalesced_packets > 100;
      EXPECT_EQ(several, nodes[2].transport->coalescing());
    }
  }
}

TEST(FrameHeaders, OfAPacketThatIsSentAgainAreStillThere) {
  Stations nodes(2, [](std::uint32_t, UdpConfig& config) { config = frames_config(config); });
  nodes[1].multicast(Lane::control, "hello");
  const BufferRef kept = nodes[1].make(frame("kept"));
  for (int i = 0; i < 3; ++i) {
    nodes[1].transport->multicast(Lane::data, kept);
    nodes[1].transport->flush();
  }
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].count(Lane::data) == 3; }));
  EXPECT_EQ(nodes[2].received.back().text(), frame("kept"));
  EXPECT_EQ(as_text(kept.view()), frame("kept"));
}

TEST(FrameHeaders, AreOfTheIncarnationThatSends) {
  Stations nodes(2, [](std::uint32_t, UdpConfig& config) { config = frames_config(config); });
  nodes[1].transport->set_epoch(9);
  nodes[1].multicast(Lane::control, "hello");
  nodes[1].multicast(Lane::data, frame("new", 1, 9));
  ASSERT_TRUE(nodes.run_until([&] { return nodes[2].received.size() == 2; }));
  EXPECT_EQ(nodes[2].received[1].text(), frame("new", 1, 9));
}

TEST(FrameHeaders, ThatNobodyCouldRestoreAreAMistakeOfThisNode) {
  Station node(frames_config(test_config(1, 2)));
  EXPECT_DEATH(node.multicast(Lane::data, frame("of another node", 2)), "assertion failed");
  EXPECT_DEATH(node.multicast(Lane::data, frame("of another life", 1, 6)), "assertion failed");
  EXPECT_DEATH(node.multicast(Lane::data, frame("other settings", 1, kEpoch, test_cluster() + 1)),
               "assertion failed");
  EXPECT_DEATH(node.multicast(Lane::data, frame("").substr(1)), "assertion failed");
}

TEST_F(OneReader, SeesWhoSealedAFrameAndWithWhichSettings) {
  peer_data.send(data_port(1), sealed(Lane::data, "rest"));
  drain(node);
  EXPECT_EQ(received(), frame("rest", 2, 7));
  const std::uint64_t other = (test_cluster() & ~std::uint64_t{0xffff'ffff}) | 0x8765'4321;
  by.set_mark(0x8765'4321);
  peer_data.send(data_port(1), sealed(Lane::data, "rest"));
  drain(node);
  EXPECT_EQ(received(), frame("rest", 2, 7, other)) << "the engine tells them apart";
}

TEST_F(OneReader, SeesTheShortestAndTheLongestFrames) {
  for (const std::size_t bytes : {std::size_t{0}, 65'507 - seal::overhead(Lane::data)}) {
    const std::string rest(bytes, 'r');
    peer_data.send(data_port(1), sealed(Lane::data, rest));
    drain(node);
    EXPECT_EQ(received(), frame(rest, 2, 7));
  }
}

TEST_F(OneReader, DropsEveryTruncationAndEveryChangedByteByReason) {
  const Bytes good = sealed(Lane::data, "whole");
  for (std::size_t size = 0; size < good.size(); ++size) {
    peer_data.send(data_port(1), ByteView(good).first(size));
    drain(node);
    const Refusal reason =
        size < seal::overhead(Lane::data) ? Refusal::too_short : Refusal::bad_tag;
    EXPECT_EQ(node.refused.back().reason, reason) << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    Bytes changed = good;
    changed[at] ^= std::byte{0x10};
    peer_data.send(data_port(1), changed);
    drain(node);
    const Refusal reason = at == 0  ? Refusal::unknown_version
                           : at < 3 ? Refusal::unknown_sender
                           : at < 7 ? Refusal::unknown_incarnation
                                    : Refusal::bad_tag;
    EXPECT_EQ(node.refused.back().reason, reason) << at;
  }
  EXPECT_EQ(node.refused.size(), 2 * good.size());
  EXPECT_TRUE(node.received.empty());
  peer_data.send(data_port(1), good);
  drain(node);
  EXPECT_EQ(received(), frame("whole", 2, 7));
}

// A node with the key may seal bytes that are not a frame. Then only the length and the sender in
// the restored header are right.
TEST_F(OneReader, HandsOverWhateverSomebodyWithTheKeySealed) {
  const std::string within = frame("a frame with its header", 3, 9);
  peer_data.send(data_port(1), sealed(Lane::data, within));
  drain(node);
  EXPECT_EQ(received(), frame(within, 2, 7));
  token_port.send(node_endpoint(1), sealed(Lane::data, "on the wrong socket"));
  drain(node);
  EXPECT_EQ(node.received.size(), 1U);
  EXPECT_EQ(node.counters().drop_wrong_lane, 1U);
}

}  // namespace
}  // namespace peal::io
