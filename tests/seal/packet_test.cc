// SPDX-License-Identifier: Apache-2.0
#include "seal/packet.h"

#include <gtest/gtest.h>

#include <set>

#include "seal/random.h"
#include "stations.h"

namespace peal::seal::test {
namespace {

TEST(Packet, HasTheOverheadThatTheRoomExports) {
  EXPECT_EQ(overhead(Lane::data), 33U);
  EXPECT_EQ(overhead(Lane::token), 66U);
  EXPECT_EQ(overhead(Lane::control), 66U);
}

// Packets that another implementation (cryptography 48 for Python) made from the table in
// src/seal/README.md. The secret is 00 01 … 1f, the salt 40 41 … 4f, the cluster
// 0x1122334455667788, the node 3, its incarnation 0x0102030405060708, and the configuration hash
// 0xa1b2c3d4.
constexpr std::string_view kData =
    "d203008d7098ad010000000000d4c3b2a14e059ef6486c78ca0653bbb65069662c0fd72a9724";
constexpr std::string_view kToken =
    "505303000300090034bcf58aab89674523018d7098add84838270807060504030201404142434445464748494a4b4c"
    "4d4e4f9791df36caf59c48cfa8a380e71f85565f1e7869f9";

TEST(Packet, IsWhatAnotherImplementationMakes) {
  const Keys keys = keys_of({0});
  EXPECT_EQ(to_text(keys.sending), "8af5bc34");
  Sealer three = sealer({{{3}, 0x0102030405060708}, test_salt(0x40)}, keys);
  three.set_mark(0xa1b2c3d4);
  EXPECT_EQ(to_hex(sealed(three, Lane::data, "hello")), kData);
  three.skip_to(Lane::token, 0x123456789aa);
  EXPECT_EQ(to_hex(sealed(three, Lane::token, "token", 9)), kToken);

  Opener receiver = opener(keys);
  EXPECT_EQ(open_copy(receiver, bytes_of_hex(kToken)).plain, "token");
  const Answer data = open_copy(receiver, bytes_of_hex(kData));
  EXPECT_EQ(data.plain, "hello");
  EXPECT_EQ(data.mark, 0xa1b2c3d4);
}

// The same two packets in versions 1 and 2. In version 1, a data packet was 42 bytes longer than
// its frame. In version 2, a data packet had no configuration hash.
constexpr std::string_view kDataFirst =
    "505301010300000034bcf58a010000000000fb614ec32cf9592b1c905a2894195038aaafe26d304e469fd037"
    "84d716";
constexpr std::string_view kTokenFirst =
    "505301000300090034bcf58aab8967452301fb614ec32cf9592b0807060504030201404142434445464748494a4b4c"
    "4d4e4f7ed8766800bc0c6331d2d0224a1e79abe6670e17ca";
constexpr std::string_view kDataSecond =
    "d103008d7098ad0100000000004e059ef648190b2c7358feb4b415e88e462cc72cd9";
constexpr std::string_view kTokenSecond =
    "505302000300090034bcf58aab89674523018d7098add84838270807060504030201404142434445464748494a4b4c"
    "4d4e4f9791df36cac01a0ef183c459f8d267c344e40f3c40";

TEST(Packet, AReleaseWithAVersionBeforeIsRefusedAndRefusesThis) {
  Opener receiver = opener();
  for (const std::string_view before : {kTokenFirst, kDataFirst, kTokenSecond, kDataSecond}) {
    EXPECT_EQ(open_copy(receiver, bytes_of_hex(before)).reason, Refusal::unknown_version);
  }
  // Version 1 accepted packets that begin with PS and a 1. Version 2 accepted packets that begin
  // with PS and a 2, or with d1.
  for (const std::string_view before : {kTokenFirst, kTokenSecond, kDataSecond.substr(0, 2)}) {
    const std::string_view form = before.substr(0, 6);
    for (const std::string_view now : {kToken, kData}) EXPECT_FALSE(now.starts_with(form));
  }
  // If the version of an old packet is rewritten, the incarnation tag or the packet's tag is wrong.
  Bytes rewritten = bytes_of_hex(kTokenFirst);
  rewritten[2] = std::byte{kVersion};
  EXPECT_EQ(open_copy(receiver, rewritten).reason, Refusal::bad_badge);
  rewritten = bytes_of_hex(kTokenSecond);
  rewritten[2] = std::byte{kVersion};
  EXPECT_EQ(open_copy(receiver, rewritten).reason, Refusal::bad_tag);
  ASSERT_EQ(open_copy(receiver, bytes_of_hex(kToken)).reason, Refusal::none);
  rewritten = bytes_of_hex(kDataSecond);
  rewritten[0] = std::byte{kDataForm};
  EXPECT_EQ(open_copy(receiver, rewritten).reason, Refusal::bad_tag);
}

TEST(Packet, OfDataBearsTheMarkOfItsSenderAndNoOther) {
  Sealer one = sealer(incarnation(1, 5, 1));
  Opener receiver = opener();
  ASSERT_EQ(open_copy(receiver, sealed(one, Lane::control, "hello")).reason, Refusal::none);
  EXPECT_EQ(open_copy(receiver, sealed(one, Lane::data, "before")).mark, 0U);
  one.set_mark(0xffff'ffff);
  const Bytes packet = sealed(one, Lane::data, "after");
  for (std::size_t at = 13; at < 17; ++at) {
    Bytes changed = packet;
    changed[at] ^= std::byte{1};
    EXPECT_EQ(open_copy(receiver, changed).reason, Refusal::bad_tag);
  }
  EXPECT_EQ(open_copy(receiver, packet).mark, 0xffff'ffffU);
}

TEST(Packet, EveryRefusalHasAName) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kRefusals; ++i) names.insert(refusal_name(static_cast<Refusal>(i)));
  EXPECT_EQ(names.size(), kRefusals);
}

TEST(Packet, IsSealedFromWhereItLiesAndFromElsewhere) {
  Sealer one = sealer(incarnation(1, 5, 1));
  Sealer same = sealer(incarnation(1, 5, 1));
  for (const Lane lane : {Lane::token, Lane::data, Lane::control}) {
    const Bytes plain = bytes_of("the same bytes");
    Bytes apart(plain.size() + overhead(lane));
    ASSERT_TRUE(one.seal(lane, {}, plain, apart));
    Bytes in_place(apart.size());
    const ByteSpan inside = ByteSpan(in_place).subspan(headroom(lane), plain.size());
    std::copy(plain.begin(), plain.end(), inside.begin());
    ASSERT_TRUE(same.seal(lane, {}, inside, in_place));
    EXPECT_EQ(apart, in_place);
  }
}

TEST(Packet, NoNonceComesTwice) {
  std::set<Nonce> nonces;
  for (const Lane lane : {Lane::token, Lane::data, Lane::control}) {
    for (const std::uint64_t counter : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{256},
                                        std::uint64_t{1} << 32, kCounterMax}) {
      EXPECT_TRUE(nonces.insert(nonce_of(lane, counter)).second);
    }
  }
}

TEST(Sealer, StopsAfterItsLastCounter) {
  Sealer one = sealer(incarnation(1, 5, 1));
  one.skip_to(Lane::data, kCounterMax - 1);
  Opener receiver = opener();
  ASSERT_EQ(open_copy(receiver, sealed(one, Lane::control, "hello")).reason, Refusal::none);
  const Bytes last = sealed(one, Lane::data, "last");
  EXPECT_EQ(open_copy(receiver, last).plain, "last");
  Bytes packet(overhead(Lane::data));
  EXPECT_FALSE(one.seal(Lane::data, {}, {}, packet));
  one.set_keys(keys_of({1}));
  EXPECT_FALSE(one.seal(Lane::data, {}, {}, packet)) << "under another key neither";
  EXPECT_EQ(packet, Bytes(packet.size())) << "nothing was written";
  EXPECT_EQ(sealed(one, Lane::control, "x").size(), overhead(Lane::control) + 1);
}

TEST(Subkeys, DifferInAllThatTheyAreMadeFrom) {
  const Key key = test_key(0);
  std::set<std::string> subkeys;
  std::set<std::uint64_t> badges;
  const auto add = [&](const Key& from, std::uint64_t cluster, const Incarnation& of) {
    KeySchedule schedule(from, cluster);
    subkeys.insert(to_hex(schedule.subkey_of(of).bytes));
    badges.insert(schedule.badge_of(of));
  };
  const Incarnation base = incarnation(1, 5, 1);
  add(key, 7, base);
  add(test_key(1), 7, base);
  add(key, 8, base);
  add(key, 7, incarnation(2, 5, 1));
  add(key, 7, incarnation(1, 6, 1));
  add(key, 7, incarnation(1, 5, 2));
  EXPECT_EQ(subkeys.size(), 6U);
  EXPECT_EQ(badges.size(), 6U);
}

TEST(RandomBytes, AreNotTheSameTwice) {
  EXPECT_NE(random_secret().bytes, random_secret().bytes);
  EXPECT_NE(random_salt(), random_salt());
}

}  // namespace
}  // namespace peal::seal::test
