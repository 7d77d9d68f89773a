// SPDX-License-Identifier: Apache-2.0
#include "io/multicast_probe.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace peal::io {
namespace {

constexpr std::uint64_t kCluster = 77;
constexpr NodeId kSelf{1};
constexpr NodeId kOther{2};
constexpr PeerIndex kPeer = 0;
using Outcome = MulticastProbe::Outcome;

/// A probe with one peer, in virtual time. `answers_` switches the network on and off.
class ProbeTest : public testing::Test {
 protected:
  ProbeTest() : probe_(1, kCluster, kSelf, 5) { probe_.start(now_); }

  /// Runs for `time`; the peer answers each hello while `answers_` is set. Returns the hellos sent.
  int run(Duration time) {
    const Instant end = now_ + time;
    int hellos = 0;
    while (*probe_.next_deadline() <= end) {
      now_ = std::max(now_, *probe_.next_deadline());
      const auto hello = probe_.on_timer(now_);
      if (!hello) continue;
      ++hellos;
      if (!answers_) continue;
      EXPECT_EQ(answer(hello->nonce), Outcome::accepted);
    }
    now_ = end;
    return hellos;
  }
  Outcome answer(std::uint64_t nonce) {
    const ProbeMessage ack{ProbeMessage::Kind::ack, kCluster, kOther, nonce};
    return probe_.on_ack(now_ + milliseconds(1), kPeer, kOther, ack);
  }
  Outcome hear(NodeId node, const ProbeMessage& hello) {
    return probe_.on_hello(now_, kPeer, node, hello, ack_);
  }
  static ProbeMessage hello() { return {ProbeMessage::Kind::hello, kCluster, kOther, 99}; }

  Instant now_{seconds(100).ns};
  MulticastProbe probe_;
  ProbeMessage ack_;
  bool answers_ = true;
};

TEST(ProbeMessage, HasOneEncoding) {
  const ProbeMessage message{ProbeMessage::Kind::ack, 0x0102030405060708, NodeId{0x0a0b}, 0x1112};
  const ProbeBytes bytes = encode_probe(message);
  EXPECT_TRUE(looks_like_probe(bytes));
  ASSERT_TRUE(decode_probe(bytes));
  EXPECT_EQ(*decode_probe(bytes), message);
  // The magic "PM" comes first. Numbers are little-endian.
  EXPECT_EQ(bytes[0], std::byte{'P'});
  EXPECT_EQ(bytes[1], std::byte{'M'});
  EXPECT_EQ(bytes[4], std::byte{0x08});
  EXPECT_EQ(bytes[12], std::byte{0x0b});
  EXPECT_EQ(bytes[16], std::byte{0x12});
}

TEST(ProbeMessage, RefusesEveryDamagedBit) {
  const ProbeBytes good = encode_probe({ProbeMessage::Kind::hello, 1, NodeId{2}, 3});
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    ProbeBytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_FALSE(decode_probe(bad)) << bit;
  }
  EXPECT_FALSE(decode_probe(ByteView(good).first(good.size() - 1)));
  EXPECT_FALSE(decode_probe({}));
  EXPECT_FALSE(looks_like_probe(ByteView(good).first(1)));
}

TEST(ProbeMessage, RefusesAnUnknownKind) {
  EXPECT_FALSE(decode_probe(encode_probe({ProbeMessage::Kind{3}, 1, NodeId{2}, 3})));
}

TEST_F(ProbeTest, FindsAPeerAfterTwoAnswers) {
  EXPECT_FALSE(probe_.reached(kPeer));
  EXPECT_EQ(run({}), 1);
  EXPECT_FALSE(probe_.reached(kPeer));
  EXPECT_EQ(run(MulticastProbe::kStartInterval), 1);
  EXPECT_TRUE(probe_.reached(kPeer));
  EXPECT_TRUE(probe_.take_changed());
  EXPECT_FALSE(probe_.take_changed());
}

TEST_F(ProbeTest, DoesNotCountOneAnswerTwice) {
  answers_ = false;
  const auto hello = probe_.on_timer(now_);
  EXPECT_EQ(answer(hello->nonce), Outcome::accepted);
  EXPECT_EQ(answer(hello->nonce), Outcome::accepted);
  EXPECT_FALSE(probe_.reached(kPeer));
}

TEST_F(ProbeTest, GivesUpAPeerOnlyAfterManyMisses) {
  run(seconds(1));
  ASSERT_TRUE(probe_.reached(kPeer));
  probe_.note_traffic(now_);
  answers_ = false;
  run(MulticastProbe::kInterval * (MulticastProbe::kMissesMax - 1));
  EXPECT_TRUE(probe_.reached(kPeer));
  probe_.note_traffic(now_);
  run(MulticastProbe::kInterval * 2);
  EXPECT_FALSE(probe_.reached(kPeer));
}

TEST_F(ProbeTest, HealsItself) {
  run(seconds(1));
  answers_ = false;
  run(seconds(20));
  ASSERT_FALSE(probe_.reached(kPeer));
  answers_ = true;
  run(seconds(3));
  EXPECT_TRUE(probe_.reached(kPeer));
}

TEST_F(ProbeTest, ToleratesHalfOfTheProbesLost) {
  run(seconds(1));
  ASSERT_TRUE(probe_.reached(kPeer));
  for (int i = 0; i < 50; ++i) {
    answers_ = !answers_;
    run(MulticastProbe::kIdleInterval);
    EXPECT_TRUE(probe_.reached(kPeer));
  }
}

TEST_F(ProbeTest, IsQuietWhenIdleAndFrequentUnderLoad) {
  answers_ = false;
  run(seconds(10));
  EXPECT_EQ(run(seconds(12)), 12);  // 1 per second while a peer is not reached
  answers_ = true;
  run(seconds(20));
  EXPECT_EQ(run(seconds(20)), 4);
  int hellos = 0;
  for (int i = 0; i < 100; ++i) {
    probe_.note_traffic(now_);
    hellos += run(milliseconds(100));
  }
  EXPECT_GE(hellos, 45);
  EXPECT_LE(hellos, 51);
}

TEST_F(ProbeTest, AnswersAHello) {
  ASSERT_EQ(hear(kOther, hello()), Outcome::answer);
  EXPECT_EQ(ack_, (ProbeMessage{ProbeMessage::Kind::ack, kCluster, kSelf, 99}));
}

TEST_F(ProbeTest, LimitsItsAnswers) {
  int answered = 0;
  for (int i = 0; i < 1'000; ++i, now_ = now_ + milliseconds(1)) {
    answered += hear(kOther, hello()) == Outcome::answer ? 1 : 0;
  }
  EXPECT_EQ(answered, 20);
}

TEST_F(ProbeTest, LimitsTheHellosThatAStrangeHelloBringsForward) {
  answers_ = false;
  run(seconds(10));
  int hellos = 0;
  for (int i = 0; i < 200; ++i) {
    hear(kOther, hello());
    hellos += run(milliseconds(50));
  }
  EXPECT_LE(hellos, 40);  // the loop runs for 10 s
}

TEST_F(ProbeTest, AsksSoonWhenANodeAppears) {
  answers_ = false;
  run(seconds(10));
  answers_ = true;
  ASSERT_EQ(hear(kOther, hello()), Outcome::answer);
  run(milliseconds(250));
  EXPECT_TRUE(probe_.reached(kPeer));
}

TEST_F(ProbeTest, RefusesHellosThatAreNot) {
  ProbeMessage message = hello();
  message.cluster = 78;
  EXPECT_EQ(hear(kOther, message), Outcome::bad);
  EXPECT_EQ(hear(NodeId{3}, hello()), Outcome::bad);
  message = hello();
  message.kind = ProbeMessage::Kind::ack;
  EXPECT_EQ(hear(kOther, message), Outcome::bad);
}

TEST_F(ProbeTest, RefusesAcksThatNobodyAskedFor) {
  EXPECT_EQ(answer(0), Outcome::bad);
  const auto hello = probe_.on_timer(now_);
  EXPECT_EQ(answer(hello->nonce + 1), Outcome::bad);
  ProbeMessage ack{ProbeMessage::Kind::ack, kCluster, kOther, hello->nonce};
  ack.cluster = 78;
  EXPECT_EQ(probe_.on_ack(now_, kPeer, kOther, ack), Outcome::bad);
  ack = {ProbeMessage::Kind::hello, kCluster, kOther, hello->nonce};
  EXPECT_EQ(probe_.on_ack(now_, kPeer, kOther, ack), Outcome::bad);
  ack = {ProbeMessage::Kind::ack, kCluster, NodeId{9}, hello->nonce};
  EXPECT_EQ(probe_.on_ack(now_, kPeer, kOther, ack), Outcome::bad);
  // The probe has forgotten the old nonce.
  answers_ = false;
  run(seconds(10));
  EXPECT_EQ(answer(hello->nonce), Outcome::bad);
}

}  // namespace
}  // namespace peal::io
