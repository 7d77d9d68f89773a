// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/crc32c.h"
#include "samples.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes good_packet() {
  Bytes packet(kHeaderBytes + kViewBytes);
  EXPECT_EQ(encode_hold_cancel(header_of(FrameKind::hold_cancel), {kSomeView}, packet),
            packet.size());
  return packet;
}

std::string_view header_drop(const Bytes& packet) {
  Header header;
  return drop_name(decode_header(packet, header));
}

void set_kind(Bytes& packet, unsigned kind) { packet[3] = static_cast<std::byte>(kind); }
void set_sender_node(Bytes& packet, std::uint32_t node) {
  Writer out(ByteSpan(packet).subspan(kSenderOffset, 4));
  out.u(node);
}

TEST(WireHeader, GivesKindClusterAndSender) {
  Header header;
  ASSERT_EQ(drop_name(decode_header(good_packet(), header)), "none");
  EXPECT_EQ(header.kind, FrameKind::hold_cancel);
  EXPECT_EQ(header.cluster, 0x1122334455667788U);
  EXPECT_EQ(header.sender, kSender);
}

TEST(WireHeader, ItsClusterIsToldWithoutALookAtTheRest) {
  Bytes packet = good_packet();
  EXPECT_EQ(cluster_of(packet), 0x1122334455667788U);
  EXPECT_EQ(cluster_of(ByteView(packet).first(kHeaderBytes)), 0x1122334455667788U);
  for (std::size_t size = 0; size < kHeaderBytes; ++size) {
    EXPECT_EQ(cluster_of(ByteView(packet).first(size)), std::nullopt) << size;
  }
  for (std::size_t at = 0; at < packet.size(); ++at) {
    const bool is_cluster = at >= 8 && at < 16;
    packet[at] ^= std::byte{0xff};
    EXPECT_EQ(cluster_of(packet) == 0x1122334455667788U, !is_cluster) << at;
    packet[at] ^= std::byte{0xff};
  }
}

TEST(WireHeader, OfDataIsTheSameByItselfAndWithItsPacket) {
  Header header = header_of(FrameKind::data);
  header.checksum = Checksum::absent;
  Random random(3);
  for (const std::size_t bytes : {kDataHeaderBytes, kDataHeaderBytes + 1'000, kPacketBytesMax}) {
    Bytes packet(bytes);
    encode_data_in_place(header, random_data(random), packet);
    Bytes alone(kHeaderBytes, std::byte{0xff});
    write_data_header(header, static_cast<std::uint32_t>(bytes), alone);
    EXPECT_EQ(alone, Bytes(packet.begin(), packet.begin() + kHeaderBytes));
  }
}

TEST(WireHeader, ChecksumsAreAbsentOnlyWhereBothSidesSaySo) {
  Header absent = header_of(FrameKind::hold_cancel);
  absent.checksum = Checksum::absent;
  Bytes packet(good_packet().size());
  ASSERT_EQ(encode_hold_cancel(absent, {kSomeView}, packet), packet.size());
  const ByteView field = ByteView(packet).subspan(kChecksumOffset, 4);
  EXPECT_EQ(load<std::uint32_t>(field), 0U);
  EXPECT_EQ(header_drop(packet), "bad_checksum");
  Header header;
  EXPECT_EQ(drop_name(decode_header(packet, header, Checksum::absent)), "none");
  EXPECT_EQ(header.checksum, Checksum::absent);
  EXPECT_EQ(header.sender, kSender);
  for (std::size_t bit = 0; bit < 32; ++bit) {  // an absent checksum must be 0
    Bytes changed = packet;
    changed[kChecksumOffset + bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_EQ(drop_name(decode_header(changed, header, Checksum::absent)), "bad_checksum");
  }
  EXPECT_EQ(drop_name(decode_header(good_packet(), header, Checksum::absent)), "bad_checksum");
}

TEST(WireHeader, NeedsAWholeHeader) {
  const Bytes packet = good_packet();
  for (std::size_t size = 0; size < kHeaderBytes; ++size) {
    const Bytes part(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(header_drop(part), "truncated") << size;
  }
}

TEST(WireHeader, KnowsEachKindAndNoOther) {
  for (unsigned kind = 0; kind < 256; ++kind) {
    Bytes packet = good_packet();
    set_kind(packet, kind);
    complete(packet);
    const bool of_paxos = kind >= 32 && kind <= 51;
    const bool of_toto = kind >= 64 && kind <= 67;
    const bool of_ramcast = kind >= 68 && kind <= 78;
    const bool known = (kind >= 1 && kind <= 9) || of_paxos || of_toto || of_ramcast;
    EXPECT_EQ(header_drop(packet), known ? "none" : "unknown_kind") << kind;
    EXPECT_EQ(is_paxos_kind(static_cast<FrameKind>(kind)), of_paxos) << kind;
    EXPECT_EQ(is_toto_kind(static_cast<FrameKind>(kind)), of_toto) << kind;
    EXPECT_EQ(is_ramcast_kind(static_cast<FrameKind>(kind)), of_ramcast) << kind;
  }
}

TEST(WireHeader, ChecksInAStatedOrder) {
  // All fields are wrong at first. Then one field after the other is corrected.
  Bytes packet = good_packet();
  const Bytes good = packet;
  set_sender_node(packet, 0);
  set_kind(packet, 99);
  packet[0] ^= std::byte{1};
  packet[2] = std::byte{kVersion + 1};
  packet[kLengthOffset] ^= std::byte{1};
  packet[kChecksumOffset] ^= std::byte{1};
  EXPECT_EQ(header_drop(packet), "bad_magic");
  packet[0] = good[0];
  EXPECT_EQ(header_drop(packet), "bad_version");
  packet[2] = good[2];
  EXPECT_EQ(header_drop(packet), "bad_length");
  packet[kLengthOffset] = good[kLengthOffset];
  EXPECT_EQ(header_drop(packet), "unknown_kind");
  packet[3] = good[3];
  EXPECT_EQ(header_drop(packet), "bad_checksum");
  complete(packet);
  EXPECT_EQ(header_drop(packet), "bad_value");
  set_sender_node(packet, 1);
  complete(packet);
  EXPECT_EQ(header_drop(packet), "none");
}

TEST(WireHeader, SenderIsANode) {
  Bytes packet = good_packet();
  for (const std::uint32_t node : {1U, kNodeMax}) {
    set_sender_node(packet, node);
    complete(packet);
    EXPECT_EQ(header_drop(packet), "none") << node;
  }
  for (const std::uint32_t node : {0U, kNodeMax + 1, 0xffff'ffffU}) {
    set_sender_node(packet, node);
    complete(packet);
    EXPECT_EQ(header_drop(packet), "bad_value") << node;
  }
}

TEST(WireHeader, LengthIsThePacketsLength) {
  Bytes packet = good_packet();
  packet.push_back(std::byte{0});
  EXPECT_EQ(header_drop(packet), "bad_length");
  packet.resize(packet.size() - 2);
  EXPECT_EQ(header_drop(packet), "bad_length");
}

TEST(WireHeader, NoPacketIsLargerThanADatagram) {
  Bytes packet(kPacketBytesMax);
  encode_data_in_place(header_of(FrameKind::data), plain_data(), packet);
  EXPECT_EQ(header_drop(packet), "none");
  packet.push_back(std::byte{0});
  Writer length(ByteSpan(packet).subspan(kLengthOffset, 4));
  length.u(static_cast<std::uint32_t>(packet.size()));
  EXPECT_EQ(header_drop(packet), "bad_length");
}

TEST(WireHeader, EveryDamagedBitIsNoticed) {
  const Bytes good = good_packet();
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes packet = good;
    packet[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_NE(header_drop(packet), "none") << bit;
  }
}

TEST(WireHeader, ChecksumIsOfThePacketWithItsFieldZero) {
  Bytes packet = good_packet();
  ByteReader in(ByteView(packet).subspan(kChecksumOffset, 4));
  const auto stored = in.u<std::uint32_t>();
  for (std::size_t i = 0; i < 4; ++i) packet[kChecksumOffset + i] = std::byte{0};
  EXPECT_EQ(stored, crc32c(packet));
}

TEST(WireDrop, ReasonsHaveDistinctNames) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Drop::count_); ++i) {
    const std::string_view name = drop_name(static_cast<Drop>(i));
    EXPECT_FALSE(name.empty()) << i;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(drop_name(Drop::none), "none");
  EXPECT_EQ(drop_name(Drop::bad_checksum), "bad_checksum");
  EXPECT_EQ(drop_name(Drop::other_settings), "other_settings");
  EXPECT_EQ(drop_name(Drop::out_of_window), "out_of_window");
}

TEST(WireReader, RemembersItsFirstFailureAndThenGivesZero) {
  const Bytes bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  ByteReader in(bytes);
  EXPECT_EQ(in.u<std::uint16_t>(), 0x0201U);
  EXPECT_EQ(in.remaining(), 1U);
  EXPECT_EQ(in.u<std::uint16_t>(), 0U);
  EXPECT_TRUE(in.failed());
  EXPECT_EQ(in.u<std::uint8_t>(), 0U);
  in.reject(Drop::bad_value);
  EXPECT_EQ(in.finish(), Drop::truncated);
}

TEST(WireReader, TellsWhetherAllWasRead) {
  const Bytes bytes(4);
  ByteReader in(bytes);
  EXPECT_EQ(in.finish(), Drop::trailing_bytes);
  in.skip(4);
  EXPECT_EQ(in.finish(), Drop::none);
  in.skip(1);
  EXPECT_EQ(in.finish(), Drop::truncated);
}

TEST(WireReader, ComparesCountsWithWhatIsLeft) {
  const Bytes bytes(24);
  EXPECT_TRUE(ByteReader(bytes).holds(2, 12));
  EXPECT_TRUE(ByteReader(bytes).holds(0, 12));
  EXPECT_FALSE(ByteReader(bytes).holds(3, 12));
  EXPECT_FALSE(ByteReader(bytes).holds(0xffff, 0xffff'ffff));
}

TEST(WireWriter, WritesLittleEndianAndStopsAtTheFirstThatDoesNotFit) {
  Bytes bytes(7, std::byte{0xee});
  Writer out(ByteSpan(bytes).first(6));
  out.u(std::uint32_t{0x04030201});
  EXPECT_EQ(out.written(), 4U);
  out.u(std::uint32_t{7});
  EXPECT_TRUE(out.failed());
  out.u(std::uint8_t{7});
  EXPECT_EQ(out.written(), 4U);
  EXPECT_EQ(bytes, (Bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{0xee},
                          std::byte{0xee}, std::byte{0xee}}));
}

}  // namespace
}  // namespace peal::wire::test
