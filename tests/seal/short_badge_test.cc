// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "stations.h"

// Data packets name their incarnation and key by the 32 bits of the short tag, so the short tags of
// two incarnations may be equal. A search found the numbers below. The tests check that they give
// equal short tags.

namespace peal::seal::test {
namespace {

Salt salt_of(std::uint32_t number) {
  Salt salt{};
  store(ByteSpan(salt), number);
  return salt;
}

std::uint64_t short_badge_of(const Key& key, const Incarnation& incarnation) {
  return short_badge(KeySchedule(key, kCluster).badge_of(incarnation));
}

/// Two incarnations of one node with equal short tags.
struct TwoLives : testing::Test {
  const Incarnation before{{{1}, 5}, salt_of(20'363)};
  const Incarnation after{{{1}, 6}, salt_of(33'494)};
  Sealer first = sealer(before);
  Sealer second = sealer(after);
  Opener receiver = opener();

  void SetUp() override {
    ASSERT_EQ(short_badge_of(test_key(0), before), short_badge_of(test_key(0), after));
    ASSERT_EQ(open_copy(receiver, sealed(first, Lane::control, "hello")).reason, Refusal::none);
  }
  /// The receiver learns of the later incarnation, but opens no packet of it.
  void announce_second() {
    Bytes damaged = sealed(second, Lane::control, "damaged");
    damaged.back() ^= std::byte{1};
    ASSERT_EQ(open_copy(receiver, damaged).reason, Refusal::bad_tag);
  }
};

TEST_F(TwoLives, WithOneShortBadgeAreToldApartByWhatOpens) {
  announce_second();
  for (const std::size_t size : {0U, 1U, 1'400U, 65'000U}) {
    const std::string plain(size, 'p');
    const Answer answer = open_copy(receiver, sealed(first, Lane::data, plain));
    EXPECT_EQ(answer.reason, Refusal::none);
    EXPECT_EQ(answer.sender, before.member);
    EXPECT_EQ(answer.plain, plain);
  }
  // Counters 1 to 4 were used in the earlier incarnation. They are new in the later incarnation.
  const Bytes late = sealed(first, Lane::data, "late");
  for (const std::size_t size : {1'400U, 0U, 65'000U}) {
    const std::string plain(size, 'q');
    const Bytes packet = sealed(second, Lane::data, plain);
    const Answer answer = open_copy(receiver, packet);
    EXPECT_EQ(answer.reason, Refusal::none);
    EXPECT_EQ(answer.sender, after.member);
    EXPECT_EQ(answer.plain, plain);
    EXPECT_EQ(open_copy(receiver, packet).reason, Refusal::replayed);
  }
  EXPECT_EQ(open_copy(receiver, late).reason, Refusal::bad_tag) << "its life is over";
}

TEST_F(TwoLives, ReplayedOrDamagedDataIsRefusedAsWhatItIs) {
  const Bytes data = sealed(first, Lane::data, "data");
  ASSERT_EQ(open_copy(receiver, data).reason, Refusal::none);
  announce_second();
  EXPECT_NE(open_copy(receiver, data).reason, Refusal::none);
  const Bytes next = sealed(first, Lane::data, "next");
  for (std::size_t at = 0; at < next.size(); ++at) {
    Bytes damaged = next;
    damaged[at] ^= std::byte{0x10};
    const Answer answer = open_copy(receiver, damaged);
    EXPECT_NE(answer.reason, Refusal::none) << at;
    EXPECT_TRUE(answer.plain.empty());
  }
  EXPECT_EQ(open_copy(receiver, next).plain, "next");
  EXPECT_EQ(receiver.derived(), 2U) << "one for each life";
}

/// A key whose secret contains `number`.
Key numbered_key(std::uint32_t number) {
  Secret secret;
  store(ByteSpan(secret.bytes), number);
  return make_key(secret, "2026-11-22T09:00:00Z");
}

TEST(TwoKeys, WithOneShortBadgeAreToldApartByWhatOpens) {
  const Incarnation self{{{1}, 5}, salt_of(1)};
  Keys keys{{numbered_key(21'892), numbered_key(35'002)}, numbered_key(21'892).id};
  ASSERT_EQ(short_badge_of(keys.all[0], self), short_badge_of(keys.all[1], self));
  Sealer one = sealer(self, keys);
  Opener receiver = opener(keys);
  ASSERT_EQ(open_copy(receiver, sealed(one, Lane::control, "hello")).reason, Refusal::none);
  for (const std::size_t sending : {0U, 1U, 0U}) {
    keys.sending = keys.all[sending].id;
    one.set_keys(keys);
    const Bytes packet = sealed(one, Lane::data, "under either key");
    EXPECT_EQ(open_copy(receiver, packet).plain, "under either key");
    EXPECT_EQ(open_copy(receiver, packet).reason, Refusal::replayed);
  }
  EXPECT_EQ(receiver.derived(), 2U);
  receiver.set_keys({{keys.all[1]}, keys.all[1].id});
  EXPECT_EQ(open_copy(receiver, sealed(one, Lane::data, "x")).reason, Refusal::bad_tag)
      << "the key that is left is not the one that it is sealed with";
}

}  // namespace
}  // namespace peal::seal::test
