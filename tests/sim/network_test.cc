// SPDX-License-Identifier: Apache-2.0
#include "sim/world/network.h"

#include <gtest/gtest.h>

#include <vector>

namespace peal::sim {
namespace {

constexpr NodeId kA{1};
constexpr NodeId kB{2};
constexpr NodeId kC{3};

class NetworkTest : public testing::Test {
 protected:
  Packet packet(PacketKind kind, NodeId from, std::size_t bytes = 100) {
    Packet made;
    made.bytes.resize(bytes);
    made.kind = kind;
    made.from = from;
    made.lane = kind == PacketKind::data ? Lane::data : Lane::token;
    return made;
  }
  std::uint32_t copies(NodeId from, NodeId to, PacketKind kind = PacketKind::data) {
    return network_.fate(packet(kind, from), to, false).count;
  }
  /// How many of a thousand packets arrive.
  std::uint32_t arrived(PacketKind kind = PacketKind::data) {
    std::uint32_t sum = 0;
    for (int i = 0; i < 1'000; ++i) sum += copies(kA, kB, kind);
    return sum;
  }

  FaultCounts faults_;
  Network network_{3, 7, faults_};
};

TEST_F(NetworkTest, DeliversEverythingWhenCalm) { EXPECT_EQ(arrived(), 1'000U); }

TEST_F(NetworkTest, DelaysByItsConditions) {
  network_.conditions().delay = microseconds(70);
  network_.conditions().tail = {};
  EXPECT_EQ(network_.fate(packet(PacketKind::data, kA), kB, false).copies[0].after,
            microseconds(70));
  network_.conditions().per_kilobyte = microseconds(8);
  EXPECT_EQ(network_.fate(packet(PacketKind::data, kA, 500), kB, false).copies[0].after,
            microseconds(74));
  network_.conditions().large = 400;
  network_.conditions().large_by = milliseconds(900);
  EXPECT_EQ(network_.fate(packet(PacketKind::data, kA, 500), kB, false).copies[0].after,
            microseconds(900'074));
  EXPECT_EQ(faults_.of(Fault::size_delay), 1U);
}

TEST_F(NetworkTest, LosesTheShareThatItShould) {
  network_.conditions().loss = 0.3;
  const std::uint32_t kept = arrived();
  EXPECT_GT(kept, 630U);
  EXPECT_LT(kept, 770U);
  EXPECT_EQ(faults_.of(Fault::loss), 1'000U - kept);
}

TEST_F(NetworkTest, LosesBurstsOnOneLink) {
  network_.conditions().burst = 1;
  network_.conditions().burst_packets = 1'000;
  EXPECT_EQ(copies(kA, kB), 0U);
  network_.conditions().burst = 0;
  EXPECT_EQ(copies(kA, kC), 1U);
  std::uint32_t lost = 0;
  while (copies(kA, kB) == 0) ++lost;
  EXPECT_GT(lost, 0U);
  EXPECT_EQ(faults_.of(Fault::burst_loss), lost + 1);
}

TEST_F(NetworkTest, DuplicatesAndDamages) {
  network_.conditions().duplicate = 1;
  network_.conditions().flip = 1;
  const Fate fate = network_.fate(packet(PacketKind::data, kA), kB, false);
  EXPECT_EQ(fate.count, 2U);
  EXPECT_TRUE(fate.copies[0].damaged);
  EXPECT_EQ(faults_.of(Fault::duplicate), 1U);
  EXPECT_EQ(faults_.of(Fault::bit_flip), 1U);
}

TEST_F(NetworkTest, AppliesTheMtuToDataAlone) {
  network_.conditions().mtu = 500;
  EXPECT_EQ(network_.fate(packet(PacketKind::data, kA, 500), kB, false).count, 1U);
  EXPECT_EQ(network_.fate(packet(PacketKind::data, kA, 501), kB, false).count, 0U);
  EXPECT_EQ(network_.fate(packet(PacketKind::commit, kA, 5'000), kB, false).count, 1U);
}

TEST_F(NetworkTest, LosesOneKindAlone) {
  network_.conditions().bad_kind = PacketKind::token;
  network_.conditions().bad_kind_loss = 1;
  EXPECT_EQ(arrived(PacketKind::token), 0U);
  EXPECT_EQ(arrived(PacketKind::data), 1'000U);
}

TEST_F(NetworkTest, CutsOneDirection) {
  network_.cut(kA, kB);
  EXPECT_EQ(copies(kA, kB), 0U);
  EXPECT_EQ(copies(kB, kA), 1U);
  network_.heal(kA, kB);
  EXPECT_EQ(copies(kA, kB), 1U);
}

TEST_F(NetworkTest, SplitsWithABridge) {
  const std::vector<std::vector<NodeId>> parts{{kA, kB}, {kB, kC}};
  network_.split(parts);
  EXPECT_EQ(copies(kA, kB), 1U);
  EXPECT_EQ(copies(kB, kC), 1U);
  EXPECT_EQ(copies(kA, kC), 0U);
  EXPECT_EQ(copies(kC, kA), 0U);
  network_.heal_all();
  EXPECT_EQ(copies(kA, kC), 1U);
}

TEST_F(NetworkTest, GivesALinkItsOwnConditions) {
  Conditions bad;
  bad.loss = 1;
  network_.set_link(kA, kB, bad);
  EXPECT_EQ(copies(kA, kB), 0U);
  EXPECT_EQ(copies(kB, kA), 1U);
  network_.clear_links();
  EXPECT_EQ(copies(kA, kB), 1U);
}

TEST_F(NetworkTest, RulesMatchKindAndEndsAndCount) {
  Rule rule;
  rule.kind = PacketKind::token;
  rule.from = {kA};
  rule.to = {kB};
  rule.count = 2;
  network_.add_rule(rule);
  EXPECT_EQ(copies(kA, kB, PacketKind::data), 1U);
  EXPECT_EQ(copies(kB, kA, PacketKind::token), 1U);
  EXPECT_EQ(copies(kA, kC, PacketKind::token), 1U);
  EXPECT_EQ(copies(kA, kB, PacketKind::token), 0U);
  EXPECT_EQ(copies(kA, kB, PacketKind::token), 0U);
  EXPECT_EQ(copies(kA, kB, PacketKind::token), 1U);
  EXPECT_EQ(faults_.of(Fault::filtered), 2U);
}

TEST_F(NetworkTest, RulesDelayDuplicateAndHold) {
  network_.conditions().tail = {};
  Rule rule;
  rule.act = Rule::Act::delay;
  rule.low = rule.high = milliseconds(3);
  const std::uint32_t delay = network_.add_rule(rule);
  Fate fate = network_.fate(packet(PacketKind::data, kA), kB, false);
  EXPECT_EQ(fate.copies[0].after, network_.conditions().delay + milliseconds(3));
  network_.remove_rule(delay);
  rule.act = Rule::Act::duplicate;
  const std::uint32_t duplicate = network_.add_rule(rule);
  fate = network_.fate(packet(PacketKind::data, kA), kB, false);
  EXPECT_EQ(fate.count, 2U);
  EXPECT_EQ(fate.copies[1].after, network_.conditions().delay + milliseconds(3));
  network_.remove_rule(duplicate);
  rule.act = Rule::Act::hold;
  network_.add_rule(rule);
  EXPECT_TRUE(network_.fate(packet(PacketKind::data, kA), kB, false).held);
}

TEST_F(NetworkTest, SomeRulesWaitForARecovery) {
  Rule rule;
  rule.recovering = true;
  network_.add_rule(rule);
  EXPECT_EQ(network_.fate(packet(PacketKind::token, kA), kB, false).count, 1U);
  EXPECT_EQ(network_.fate(packet(PacketKind::token, kA), kB, true).count, 0U);
}

TEST(PacketKinds, AreReadFromTheHeader) {
  for (std::size_t i = 0; i < kPacketKinds; ++i) {
    const auto kind = static_cast<PacketKind>(i);
    if (packet_kind_name(kind) == "other") continue;
    EXPECT_EQ(packet_kind_of_name(packet_kind_name(kind)), kind);
  }
  EXPECT_EQ(packet_kind_of_name("other"), PacketKind::other);
  EXPECT_EQ(packet_kind_of_name("letter"), std::nullopt);
  const std::vector<std::byte> token{std::byte{0x50}, std::byte{0x4c}, std::byte{1}, std::byte{1}};
  EXPECT_EQ(packet_kind_of(token), PacketKind::token);
  EXPECT_EQ(packet_kind_of(ByteView(token).first(3)), PacketKind::other);
  const std::vector<std::byte> strange{std::byte{}, std::byte{}, std::byte{}, std::byte{200}};
  EXPECT_EQ(packet_kind_of(strange), PacketKind::other);
}

TEST(PacketStore, UsesMemoryAgain) {
  PacketStore store;
  const std::vector<std::byte> bytes(10);
  const PacketIndex first = store.add(bytes, kA, kB, Lane::data);
  store.hold(first);
  store.release(first);
  EXPECT_EQ(store.in_use(), 1U);
  store.release(first);
  EXPECT_EQ(store.in_use(), 0U);
  EXPECT_EQ(store.add(bytes, kA, kB, Lane::data), first);
}

}  // namespace
}  // namespace peal::sim
