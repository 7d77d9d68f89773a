// SPDX-License-Identifier: Apache-2.0
// Packets of members that contradict themselves or others: whole engines drop and count these
// packets and report them once, and the view continues. And packets with random content, which
// must stop no engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "hostile_packets.h"
#include "order/toto/vocabulary.h"
#include "toto_cluster.h"

namespace peal::order::toto::test {
namespace {

using order::test::Cluster;
using order::test::Flight;
using order::test::Log;

constexpr std::uint32_t kA = 0, kB = 1, kC = 2;

/// A view of the members a, b and c, in which a gets false packets of b and c.
class Three {
 public:
  Three() : cluster(maker({}), 3) {
    cluster.on_sent = [this](const Flight& flight) {
      if (flight.to != kA) return;
      if (is(flight, wire::TotoKind::node)) nodes[flight.from] = flight.bytes;
      if (is(flight, wire::TotoKind::status)) statuses[flight.from] = flight.bytes;
    };
    cluster.start_all();
    EXPECT_TRUE(cluster.run_until([this] { return cluster.in_view_of(3); }, seconds(5)));
    order("first");
  }

  /// All members order a message of a, and acknowledge it.
  void order(const std::string& text) {
    cluster.submit(kA, text);
    cluster.run(milliseconds(20));
  }
  /// The node that `member` would make next, as far as a knows: a control node without advances.
  wire::Node next_of(std::uint32_t member) const {
    wire::Node node = node_of(nodes.at(member));
    ++node.seq;
    node.kind = wire::NodeKind::control;
    node.advances.clear();
    return node;
  }
  void inject(std::uint32_t from, const wire::Node& node, std::string_view unit = {}) {
    cluster.inject(kA, packet_of(node, nodes.at(from), unit));
  }
  std::uint64_t dropped(std::string_view reason) const { return cluster.counter(kA, reason); }
  std::uint64_t told() const { return cluster.events(kA, &event::node_refused); }

  /// All members are in their view, and deliver a new message of each in one order.
  void expect_continues() {
    for (const std::uint32_t member : {kA, kB, kC}) {
      cluster.submit(member, "of " + std::to_string(member));
    }
    cluster.run(milliseconds(50));
    EXPECT_TRUE(cluster.in_view_of(3));
    EXPECT_EQ(last_units(kA, 3), last_units(kB, 3));
    EXPECT_EQ(last_units(kA, 3), last_units(kC, 3));
    for (const std::uint32_t member : {kA, kB, kC}) {
      const Log units = last_units(kA, 3);
      EXPECT_TRUE(std::ranges::any_of(units, [&](const std::string& line) {
        return line.ends_with(":of " + std::to_string(member));
      }));
    }
  }
  Log last_units(std::uint32_t member, std::size_t count) const {
    const Log& log = cluster.log(member);
    return {log.end() - static_cast<std::ptrdiff_t>(std::min(count, log.size())), log.end()};
  }

  Cluster cluster;
  std::map<std::uint32_t, Bytes> nodes, statuses;  ///< by member: the last packet sent to a
};

// ---- what a node follows ----

TEST(TotoHostile, ANodeThatFollowsWhatThisMemberHasNotMadeIsDroppedAndSaidOnce) {
  Three three;
  for (std::uint64_t times = 1; times <= 3; ++times) {
    wire::Node node = three.next_of(kC);
    node.advances.push_back({kA, 1});
    three.inject(kC, node);
    EXPECT_EQ(three.dropped("bad_value"), times);
    EXPECT_EQ(three.dropped("refused"), times);
    EXPECT_EQ(three.told(), 1U);
  }
  wire::Node node = three.next_of(kB);
  node.advances.push_back({kA, 7});
  three.inject(kB, node);
  EXPECT_EQ(three.dropped("bad_value"), 4U);
  EXPECT_EQ(three.told(), 2U);  // once for each member
  three.expect_continues();
}

TEST(TotoHostile, ANodeThatFollowsANodeBeyondAllWindowsIsDropped) {
  Three three;
  wire::Node node = three.next_of(kC);
  node.advances.push_back({kB, 0xffff});
  three.inject(kC, node);
  EXPECT_EQ(three.dropped("bad_value"), 1U);
  EXPECT_EQ(three.told(), 1U);
  three.expect_continues();
}

TEST(TotoHostile, ANodeThatFollowsAMemberBeyondTheViewIsDropped) {
  Three three;
  wire::Node node = three.next_of(kC);
  node.advances.push_back({3, 1});
  three.inject(kC, node);
  node = three.next_of(kC);
  node.origin = 100;
  node.retransmission = true;
  three.inject(kC, node);
  EXPECT_EQ(three.dropped("bad_value"), 2U);
  EXPECT_EQ(three.told(), 1U);
  three.expect_continues();
}

// c's node follows a node of b that a has not received yet. In place of this node, a receives a
// false node of b, which follows c's node.
TEST(TotoHostile, OfNodesThatFollowEachOtherOneIsDropped) {
  Three three;
  Bytes held;
  three.cluster.filter = [&](const Flight& flight) {
    if (flight.from != kB || flight.to != kA || !is(flight, wire::TotoKind::node)) return true;
    held = flight.bytes;
    return false;
  };
  three.cluster.submit(kB, "late");
  three.cluster.run(microseconds(200));
  ASSERT_FALSE(held.empty());
  wire::Node node = node_of(held);
  const wire::Node waiting = node_of(three.nodes.at(kC));
  ASSERT_EQ(waiting.advances.size(), 1U);
  ASSERT_EQ(waiting.advances[0].index, kB);
  node.advances.clear();
  node.advances.push_back({kC, static_cast<std::uint16_t>(waiting.seq)});
  three.cluster.inject(kA, packet_of(node, held, "false"));
  EXPECT_EQ(three.dropped("refused"), 1U);
  EXPECT_EQ(three.dropped("bad_value"), 1U);
  EXPECT_EQ(three.told(), 1U);
  three.cluster.filter = [](const Flight&) { return true; };
  three.cluster.inject(kA, held);
  three.cluster.run(milliseconds(20));
  EXPECT_TRUE(three.cluster.log(kA).back().ends_with(":late"));
  three.expect_continues();
}

// ---- numbers ----

TEST(TotoHostile, OfTwoNodesWithOneNumberTheFirstStays) {
  Three three;
  three.cluster.submit(kB, "true");
  three.cluster.run(microseconds(30));  // a has it, but does not know yet that all have it
  wire::Node node = node_of(three.nodes.at(kB));
  const Bytes same = three.nodes.at(kB);
  const std::uint64_t duplicates = three.dropped("duplicate");
  three.cluster.inject(kA, same);
  EXPECT_EQ(three.dropped("duplicate"), duplicates + 1);
  EXPECT_EQ(three.told(), 0U);

  three.inject(kB, node, "evil");
  EXPECT_EQ(three.dropped("bad_value"), 1U);
  node.kind = wire::NodeKind::causal;
  three.inject(kB, node, "true");
  node = node_of(same);
  ++node.decided;
  three.inject(kB, node, "true");
  node = node_of(same);
  node.advances.clear();
  node.advances.push_back({kC, 2});
  three.inject(kB, node, "true");
  EXPECT_EQ(three.dropped("bad_value"), 4U);
  EXPECT_EQ(three.dropped("duplicate"), duplicates + 1);
  EXPECT_EQ(three.told(), 1U);
  three.cluster.run(milliseconds(20));
  for (const std::uint32_t member : {kA, kB, kC}) {
    EXPECT_TRUE(three.cluster.log(member).back().ends_with(":true"));
  }
  three.expect_continues();
}

TEST(TotoHostile, NodesThatWaitAreBounded) {
  Three three;
  const std::uint32_t before = three.cluster.buffers_held();
  wire::Node node = three.next_of(kC);
  constexpr std::uint64_t kNodes = 5'000;
  for (std::uint64_t i = 0; i < kNodes; ++i) {
    ++node.seq;
    three.inject(kC, node);
  }
  const std::uint64_t stored = kNodes - three.dropped("out_of_window");
  EXPECT_LE(stored, 512U);  // twice the window and 64, as a power of two
  EXPECT_GE(stored, 2U * Options{}.window);
  EXPECT_LE(three.cluster.buffers_held(), before + stored);
  // The missing node does not exist. The pauses between its requests grow.
  three.cluster.run(seconds(1));
  EXPECT_LE(three.cluster.counter(kA, "requested"), 100U);
  EXPECT_TRUE(three.cluster.in_view_of(3));
  // No other member has these nodes, so they are dropped at the end of the view.
  three.cluster.crash(kC);
  ASSERT_TRUE(three.cluster.run_until([&] { return three.cluster.in_view_of(2); }, seconds(2)));
  three.order("without c");
  EXPECT_TRUE(three.cluster.log(kA).back().ends_with(":without c"));
  EXPECT_EQ(three.last_units(kA, 1), three.last_units(kB, 1));
  EXPECT_LT(three.cluster.buffers_held(), before + 64);
}

// ---- STATUS ----

TEST(TotoHostile, AStatusForAnotherNumberOfMembersIsDroppedAndSaidOnce) {
  Three three;
  three.cluster.run(milliseconds(100));
  const Bytes& packet = three.statuses.at(kB);
  wire::TotoStatus status;
  ASSERT_EQ(wire::decode_toto_status(packet, status), wire::Drop::none);
  ASSERT_EQ(status.have.size(), 3U);
  const auto inject = [&](const wire::TotoStatus& changed) {
    Bytes bytes(1'000);
    bytes.resize(wire::encode_toto_status(header_of(packet), changed, bytes));
    three.cluster.inject(kA, bytes);
  };
  wire::TotoStatus longer = status, shorter = status, ahead = status;
  longer.have.push_back(1);
  shorter.have.clear();
  for (const std::uint32_t member : {kA, kB}) shorter.have.push_back(status.have[member]);
  ahead.have[kA] += 1;  // b cannot have a node that a has not made
  std::uint64_t times = 0;
  for (const wire::TotoStatus& changed : {longer, shorter, ahead, longer}) {
    inject(changed);
    EXPECT_EQ(three.dropped("bad_value"), ++times);
    EXPECT_EQ(three.told(), 1U);
  }
  inject(status);
  EXPECT_EQ(three.dropped("bad_value"), times);
  three.expect_continues();
}

// ---- anything ----

TEST(TotoHostile, NoSealedPacketCanStopAMember) {
  constexpr Service kServices[] = {Service::safe, Service::agreed, Service::causal};
  Random random(1);
  std::uint64_t injected = 0, delivered = 0;
  for (int round = 0; round < 40; ++round) {
    Options options;
    options.window = 16;
    Cluster cluster(maker(options), 3);
    std::vector<Bytes> seen;
    cluster.on_sent = [&](const Flight& flight) {
      if (seen.size() < 4'000) seen.push_back(flight.bytes);
    };
    cluster.start_all();
    std::uint64_t number = 0;
    for (int turn = 0; turn < 60; ++turn) {
      cluster.submit(static_cast<std::uint32_t>(random.below(3)), std::to_string(++number),
                     kServices[random.below(3)]);
      cluster.run(milliseconds(random.between(1, 20)));
      for (int i = 0; i < 40; ++i) {
        Bytes packet = seen[random.below(seen.size())];
        order::test::mutate(packet, random);
        cluster.inject(static_cast<std::uint32_t>(random.below(3)), packet);
        ++injected;
      }
    }
    for (const std::uint32_t member : {kA, kB, kC}) delivered += cluster.log(member).size();
  }
  EXPECT_GT(delivered, 1'000U) << "they had worked";
  std::printf("sealed hostile packets injected: %llu\n", static_cast<unsigned long long>(injected));
}

}  // namespace
}  // namespace peal::order::toto::test
