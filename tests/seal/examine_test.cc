// SPDX-License-Identifier: Apache-2.0
#include "examine.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace peal::seal::test {
namespace {

TEST(Damage, EveryFlippedBitOfEverySampleIsRefused) {
  std::uint64_t refused = 0;
  for (std::size_t sample = 0; sample < samples().size(); ++sample) {
    const Bytes& packet = samples()[sample].packet;
    for (std::size_t at = 0; at < packet.size(); ++at) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        Bytes damaged = packet;
        damaged[at] ^= static_cast<std::byte>(1U << bit);
        damaged.insert(damaged.begin(), std::byte{0});
        const Verdict verdict = examine(damaged);
        ASSERT_EQ(verdict.wrong, nullptr) << verdict.wrong << ", byte " << at;
        ASSERT_NE(verdict.reason, Refusal::none);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 5'000U);
}

TEST(Damage, EveryFlippedByteIsRefusedByWhoKnowsTheSenderToo) {
  for (const Sample& sample : samples()) {
    Opener receiver = opener();
    for (std::size_t at = 0; at < sample.packet.size(); ++at) {
      // From this token the receiver knows the sender's incarnation and subkey.
      Sealer three = sealer(incarnation(3, 7, 0x40));
      three.skip_to(Lane::token, 100 + at);
      ASSERT_EQ(open_copy(receiver, sealed(three, Lane::token, "t", 9)).reason, Refusal::none);
      Bytes damaged = sample.packet;
      damaged[at] ^= std::byte{0xff};
      ASSERT_NE(open_copy(receiver, damaged).reason, Refusal::none) << at;
    }
    EXPECT_EQ(open_copy(receiver, sample.packet).reason, Refusal::none)
        << sample.name << ": damaged copies must not use up the real one";
  }
}

TEST(Damage, EveryTruncationIsRefused) {
  for (const Sample& sample : samples()) {
    Opener receiver = opener();
    Sealer three = sealer(incarnation(3, 7, 0x40));
    three.skip_to(Lane::token, 100);
    ASSERT_EQ(open_copy(receiver, sealed(three, Lane::token, "t", 9)).reason, Refusal::none);
    for (std::size_t size = 0; size < sample.packet.size(); ++size) {
      const Bytes cut(sample.packet.begin(),
                      sample.packet.begin() + static_cast<std::ptrdiff_t>(size));
      const bool data = sample.packet[0] == std::byte{kDataForm};
      const bool whole_header = size >= overhead(data ? Lane::data : Lane::token);
      ASSERT_EQ(open_copy(receiver, cut).reason,
                whole_header ? Refusal::bad_tag : Refusal::too_short)
          << sample.name << " " << size;
    }
    Bytes longer = sample.packet;
    longer.push_back(std::byte{0});
    EXPECT_NE(open_copy(receiver, longer).reason, Refusal::none);
  }
}

TEST(Damage, SamplesAsTheyAreAreOpenedOnce) {
  for (std::size_t i = 0; i < samples().size(); ++i) {
    Bytes input = samples()[i].packet;
    input.insert(input.begin(), std::byte{0});
    EXPECT_EQ(examine(input).wrong, nullptr);
    EXPECT_EQ(examine(input).reason, Refusal::none) << samples()[i].name;
    const Bytes undamaged = {std::byte{1}, static_cast<std::byte>(i), std::byte{0}};
    EXPECT_EQ(examine(undamaged).reason, Refusal::none);
  }
}

TEST(Damage, RandomBytesAreRefused) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    Bytes input(random.below(200));
    for (std::byte& each : input) each = static_cast<std::byte>(random.below(256));
    // Half of the longer inputs begin like a real packet, so that they pass the first checks.
    if (input.size() > 60 && random.below(2) == 0) {
      const Bytes& packet = samples()[random.below(samples().size())].packet;
      std::copy_n(packet.begin(), std::min(packet.size(), 18 + random.below(42)),
                  input.begin() + 1);
      input[0] = std::byte{0};
    }
    const Verdict verdict = examine(input);
    ASSERT_EQ(verdict.wrong, nullptr) << verdict.wrong;
  }
}

}  // namespace
}  // namespace peal::seal::test
