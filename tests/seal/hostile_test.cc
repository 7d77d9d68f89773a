// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.h"
#include "stations.h"

// An attacker records packets, and has a key, but not the right key. It sends recorded, changed and
// invented packets, and packets that are sealed with its own key. PEAL_HOSTILE_PACKETS sets their
// number.

namespace peal::seal::test {
namespace {

constexpr std::uint64_t kPacketsByDefault = 100'000;

std::uint64_t packets_to_try() {
  const char* const text = std::getenv("PEAL_HOSTILE_PACKETS");
  return text == nullptr ? kPacketsByDefault : std::strtoull(text, nullptr, 10);
}

/// Derives hostile packets from real packets that the receiver has opened.
class Attacker {
 public:
  explicit Attacker(std::vector<Bytes> recorded) : recorded_(std::move(recorded)) {}

  void next(Bytes& out) {
    out = recorded_[random_.below(recorded_.size())];
    switch (random_.below(7)) {
      case 0: break;  // a replay
      case 1: flip(out, out.size()); break;
      case 2: flip(out, kLongHeaderBytes); break;
      case 3: out.resize(random_.below(out.size())); break;
      case 4: out.insert(out.end(), 1 + random_.below(64), std::byte{7}); break;
      case 5: randomize(out, header_bytes(out)); break;
      default: foreign(out); break;
    }
  }

 private:
  void flip(Bytes& out, std::size_t within) {
    const std::size_t bits = 1 + random_.below(3);
    for (std::size_t i = 0; i < bits; ++i) {
      out[random_.below(std::min(within, out.size()))] ^=
          static_cast<std::byte>(1U << random_.below(8));
    }
  }
  static std::size_t header_bytes(const Bytes& packet) {
    return packet[0] == std::byte{kDataForm} ? kShortHeaderBytes : kLongHeaderBytes;
  }
  /// A real header with a counter that was never used, followed by random bytes.
  void randomize(Bytes& out, std::size_t from) {
    const std::size_t counter = from == kShortHeaderBytes ? 7 : 12;
    out[counter] = static_cast<std::byte>(random_.below(256));
    out[counter + 2] = std::byte{1};
    for (std::size_t i = from; i < out.size(); ++i) {
      out[i] = static_cast<std::byte>(random_.below(256));
    }
  }
  /// A packet that is sealed correctly with the attacker's key. It may name the id of the real key.
  void foreign(Bytes& out) {
    const std::size_t size = random_.below(200);
    out.assign(size + overhead(Lane::control), std::byte{});
    const Bytes plain(size);
    ASSERT_TRUE(foreign_.seal(Lane::control, {}, plain, out));
    if (random_.chance(0.5)) std::copy_n(recorded_[0].begin() + 8, 4, out.begin() + 8);
  }

  std::vector<Bytes> recorded_;
  Random random_{20};
  Sealer foreign_ = sealer(incarnation(1, 99, 9), keys_of({200}));
};

TEST(Hostile, PacketsOfWhoHasNoKeyChangeNothingButCounters) {
  Opener receiver = opener();
  Sealer honest = sealer(incarnation(1, 5, 1));
  std::vector<Bytes> recorded;
  for (int i = 0; i < 100; ++i) {
    const Lane lane = i % 10 == 0 ? Lane::control : i % 10 == 1 ? Lane::token : Lane::data;
    recorded.push_back(sealed(honest, lane, std::string(static_cast<std::size_t>(10 * i), 'p')));
  }
  for (const Bytes& each : recorded) ASSERT_EQ(open_copy(receiver, each).reason, Refusal::none);
  const std::uint64_t derived = receiver.derived();

  Attacker attacker(recorded);
  const std::uint64_t tries = packets_to_try();
  Bytes packet;
  for (std::uint64_t i = 0; i < tries; ++i) {
    attacker.next(packet);
    const Opened opened = receiver.open(packet);
    ASSERT_NE(opened.reason, Refusal::none) << "packet " << i;
    ASSERT_TRUE(opened.plain.empty());
  }

  EXPECT_EQ(receiver.count(Refusal::none), recorded.size());
  EXPECT_EQ(receiver.derived(), derived) << "no incarnation was believed";
  std::uint64_t counted = 0;
  std::printf("%llu hostile packets:", static_cast<unsigned long long>(tries));
  for (std::size_t i = 1; i < kRefusals; ++i) {
    const auto reason = static_cast<Refusal>(i);
    counted += receiver.count(reason);
    if (receiver.count(reason) == 0) continue;
    std::printf(" %s %llu", std::string(refusal_name(reason)).c_str(),
                static_cast<unsigned long long>(receiver.count(reason)));
  }
  std::printf("\n");
  EXPECT_EQ(counted, tries) << "each under one reason";
  EXPECT_GT(receiver.count(Refusal::replayed), 0U);
  EXPECT_GT(receiver.count(Refusal::bad_tag), 0U);
  EXPECT_GT(receiver.count(Refusal::unknown_key), 0U);
  // The receiver still opens the next packet of the honest sender in each lane.
  for (const Lane lane : {Lane::token, Lane::data, Lane::control}) {
    EXPECT_EQ(open_copy(receiver, sealed(honest, lane, "next")).plain, "next");
  }
}

}  // namespace
}  // namespace peal::seal::test
