// SPDX-License-Identifier: Apache-2.0
// Packets with a correct checksum and hostile content cause no crash of an engine on quorums, and
// no unbounded work or use of memory. The order of messages is not guaranteed.
#include <gtest/gtest.h>

#include "base/random.h"
#include "paxos_bench.h"
#include "wire/packet.h"

namespace peal::order::paxos::test {
namespace {

void mutate(Bytes& packet, Random& random) {
  if (random.chance(0.1)) packet.resize(wire::kHeaderBytes + random.below(packet.size()));
  if (random.chance(0.1)) packet.resize(packet.size() + random.below(64));
  const std::uint64_t changes = 1 + random.below(3);
  for (std::uint64_t i = 0; i < changes; ++i) {
    // Mostly keeps the sender, because the engine drops packets of unknown senders early.
    const std::size_t low = random.chance(0.1) ? wire::kSenderOffset : wire::kHeaderBytes;
    if (packet.size() <= low) continue;
    const std::size_t at = low + random.below(packet.size() - low);
    switch (random.below(5)) {
      case 0: packet[at] = std::byte{0}; break;
      case 1: packet[at] = std::byte{0xff}; break;
      case 2: packet[at] ^= static_cast<std::byte>(1U << random.below(8)); break;
      case 3: packet[at] = static_cast<std::byte>(std::to_integer<unsigned>(packet[at]) + 1); break;
      default: packet[at] = static_cast<std::byte>(random.below(256)); break;
    }
  }
  wire::complete(packet);
}

/// Three engines that send their packets to each other.
class Three {
 public:
  explicit Three(const Options& options)
      : one(kOne, options), two(kTwo, options), three(kThree, options) {
    for (Bench* each : all()) each->start();
  }
  std::vector<Bench*> all() { return {&one, &two, &three}; }

  /// The engines work for a while without faults. `seen` gets copies of their packets.
  void work(Random& random, std::vector<Bytes>& seen) {
    for (int round = 0; round < 10; ++round) {
      for (Bench* from : all()) {
        if (random.chance(0.5)) from->submit(std::to_string(random.below(1'000)));
        from->run(milliseconds(2));
        if (random.chance(0.8)) from->sync();
        const std::vector<Bench::Sent> sent = std::move(from->sent);
        from->sent.clear();
        for (const Bench::Sent& packet : sent) {
          if (seen.size() < 3'000) seen.push_back(packet.bytes);
          for (Bench* to : all()) {
            const bool meant = packet.to.value == 0 || packet.to == to->self.node;
            if (to != from && meant) to->hear(packet.bytes);
          }
        }
      }
    }
  }

  Bench one, two, three;
};

TEST(PaxosHostile, NoSealedPacketCanStopAMember) {
  Random random(1);
  std::uint64_t injected = 0;
  std::uint64_t stopped = 0;
  std::uint64_t delivered = 0;
  for (int story = 0; story < 30; ++story) {
    Options options;
    options.max_gap = 128;
    options.checkpoint_every = 16;
    Three cluster(options);
    std::vector<Bytes> seen;
    for (int i = 0; i < 12; ++i) cluster.work(random, seen);
    for (int turn = 0; turn < 20; ++turn) {
      cluster.work(random, seen);
      for (int i = 0; i < 40; ++i) {
        Bytes packet = seen[random.below(seen.size())];
        mutate(packet, random);
        cluster.all()[random.below(3)]->hear(packet);
        ++injected;
      }
    }
    for (Bench* each : cluster.all()) {
      delivered += each->log.size();
      if (!each->log.empty() && each->log.back() == "fatal") ++stopped;
    }
  }
  EXPECT_GT(delivered, 1'000U) << "they had worked";
  std::printf("sealed hostile packets injected: %llu, members that gave up: %llu\n",
              static_cast<unsigned long long>(injected), static_cast<unsigned long long>(stopped));
}

TEST(PaxosHostile, RandomBytesChangeNothing) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  Random random(2);
  const std::uint64_t digest = three.engine->digest();
  for (int i = 0; i < 20'000; ++i) {
    Bytes packet(1 + random.below(200));
    for (std::byte& b : packet) b = static_cast<std::byte>(random.below(256));
    three.hear(packet);
  }
  EXPECT_EQ(three.engine->digest(), digest);
}

TEST(PaxosHostile, FramesOfTheRingAreOfAnUnknownKind) {
  Bench three(kThree);
  three.start();
  const std::uint64_t digest = three.engine->digest();
  Bench two(kTwo);
  two.start();
  ASSERT_FALSE(two.sent.empty());
  Bytes packet = two.sent[0].bytes;
  for (unsigned kind = 0; kind < wire::kPaxosKindFirst; ++kind) {
    packet[3] = static_cast<std::byte>(kind);
    wire::complete(packet);
    three.hear(packet);
  }
  EXPECT_EQ(three.engine->digest(), digest);
}

}  // namespace
}  // namespace peal::order::paxos::test
