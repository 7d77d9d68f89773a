// SPDX-License-Identifier: Apache-2.0
// Packets with a correct checksum and hostile content cause no crash and no unbounded work. The
// order of messages is not guaranteed, because the sender may be a faulty member. But an assertion
// that a packet can trigger is a vulnerability.
#include <gtest/gtest.h>

#include "cluster.h"
#include "hostile_packets.h"

namespace peal::order::test {
namespace {

TEST(Hostile, NoSealedPacketCanStopAMember) {
  Random random(1);
  std::uint64_t injected = 0;
  for (int round = 0; round < 40; ++round) {
    ring::Options options;
    options.max_gap = 64;
    Cluster cluster(3, options);
    std::vector<std::vector<std::byte>> seen;
    cluster.on_sent = [&](const Flight& flight) {
      if (seen.size() < 4'000) seen.push_back(flight.bytes);
    };
    cluster.start_all();
    std::uint64_t number = 0;
    for (int turn = 0; turn < 60; ++turn) {
      cluster.submit(static_cast<std::uint32_t>(random.below(3)), std::to_string(++number),
                     random.chance(0.5) ? Service::safe : Service::agreed);
      cluster.run(milliseconds(random.between(1, 20)));
      for (int i = 0; i < 40; ++i) {
        std::vector<std::byte> packet = seen[random.below(seen.size())];
        mutate(packet, random);
        cluster.inject(static_cast<std::uint32_t>(random.below(3)), packet);
        ++injected;
      }
    }
  }
  std::printf("sealed hostile packets injected: %llu\n", static_cast<unsigned long long>(injected));
}

TEST(Hostile, RandomBytesAreCountedAndChangeNothing) {
  const auto made = formed(3);
  Cluster& cluster = *made;
  Random random(2);
  const std::uint64_t digest = cluster.engine(0).digest();
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> packet(1 + random.below(200));
    for (std::byte& b : packet) b = static_cast<std::byte>(random.below(256));
    cluster.inject(0, packet);
  }
  EXPECT_EQ(cluster.engine(0).digest(), digest);
  EXPECT_EQ(cluster.counter(0, "truncated") + cluster.counter(0, "bad_magic"), 20'000U);
}

TEST(Hostile, FramesOnQuorumsAreOfAnUnknownKindToTheRing) {
  Cluster cluster(3, {});
  std::vector<std::byte> packet;
  cluster.on_sent = [&](const Flight& flight) {
    if (flight.from == 1) packet = flight.bytes;
  };
  cluster.start_all();
  ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(3); }, seconds(5)));
  ASSERT_FALSE(packet.empty());
  EXPECT_EQ(cluster.counter(0, "unknown_kind"), 0U);
  for (unsigned kind = wire::kPaxosKindFirst; kind <= wire::kPaxosKindLast; ++kind) {
    packet[3] = static_cast<std::byte>(kind);
    wire::complete(packet);
    cluster.inject(0, packet);
  }
  EXPECT_EQ(cluster.counter(0, "unknown_kind"), wire::kPaxosKindLast - wire::kPaxosKindFirst + 1U);
  EXPECT_TRUE(cluster.in_view_of(3));
}

}  // namespace
}  // namespace peal::order::test
