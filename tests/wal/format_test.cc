// SPDX-License-Identifier: Apache-2.0
#include "wal/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "story.h"

namespace peal::wal {
namespace {

const SegmentHeader kHeader{test::kOwner, 0x1000, 7, 0x12, LogPosition{100}, 0x10, 0xabcdef, 0x1d};

std::vector<std::byte> header_bytes() {
  std::vector<std::byte> bytes(kHeaderBytes);
  encode(kHeader, bytes);
  return bytes;
}

/// A record's frame as it is on disk.
std::vector<std::byte> frame_of(std::string_view record, std::uint32_t seed) {
  std::vector<std::byte> bytes(frame_bytes(record.size()), std::byte{0xee});
  const ByteView text = as_bytes_view(record);
  std::copy(text.begin(), text.end(), bytes.begin() + kFrameBytes);
  seal_frame(bytes, Frame{FrameKind::record, LogPosition{100}, LogPosition{99}, 0x11, {}},
             record.size(), seed);
  return bytes;
}

TEST(Segment, HeaderComesBack) {
  std::vector<std::byte> bytes(kHeaderBytes);
  const std::uint32_t seed = encode(kHeader, bytes);
  const auto decoded = decode_header(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->header, kHeader);
  EXPECT_EQ(decoded->seed, seed);
}

TEST(Segment, HeaderHasItsBytesWhereThePageSays) {
  const auto bytes = header_bytes();
  const auto u32 = [&bytes](std::size_t at) {
    return load<std::uint32_t>(ByteView(bytes).subspan(at));
  };
  EXPECT_EQ(as_text(ByteView(bytes).first(8)), "PEALWAL\n");
  EXPECT_EQ(u32(8), 5U);          // version
  EXPECT_EQ(u32(16), 0x706561U);  // cluster
  EXPECT_EQ(u32(24), 3U);         // node
  EXPECT_EQ(u32(28), 0x1000U);    // length of the file
  EXPECT_EQ(u32(32), 7U);         // epoch
  EXPECT_EQ(u32(40), 0x12U);      // serial
  EXPECT_EQ(u32(48), 100U);       // first
  EXPECT_EQ(u32(56), 0x10U);      // oldest
  EXPECT_EQ(u32(64), 0xabcdefU);  // salt
  EXPECT_EQ(u32(72), 0x1dU);      // log
}

TEST(Segment, EveryChangedBitOfAHeaderIsRefused) {
  for (std::size_t bit = 0; bit < kHeaderBytes * 8; ++bit) {
    auto bytes = header_bytes();
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(decode_header(bytes)) << bit;
  }
}

TEST(Segment, HeaderCutAnywhereIsTooShort) {
  const auto bytes = header_bytes();
  for (std::size_t length = 0; length < kHeaderBytes; ++length) {
    const auto decoded = decode_header(ByteView(bytes).first(length));
    ASSERT_FALSE(decoded) << length;
    EXPECT_EQ(decoded.error(), HeaderFault::too_short);
  }
}

TEST(Segment, AnotherVersionIsToldFromDamage) {
  auto bytes = header_bytes();
  store<std::uint32_t>(ByteSpan(bytes).subspan(8), kVersion + 1);
  EXPECT_EQ(decode_header(bytes).error(), HeaderFault::unknown_version);
  EXPECT_EQ(version_of(bytes), kVersion + 1);
  bytes = header_bytes();
  bytes[0] = std::byte{'p'};
  EXPECT_EQ(decode_header(bytes).error(), HeaderFault::no_segment);
}

TEST(Segment, NamesAreSerials) {
  EXPECT_EQ(segment_name(1), "0000000000000001.wal");
  EXPECT_EQ(segment_name(0xfedcba9876543210), "fedcba9876543210.wal");
  EXPECT_EQ(serial_of("fedcba9876543210.wal"), 0xfedcba9876543210U);
  for (const char* name :
       {"", ".wal", "0000000000000000.wal", "000000000000001.wal", "000000000000000G.wal",
        "000000000000000g.wal", "000000000000000`.wal", "000000000000000/.wal",
        "000000000000000:.wal", "000000000000000A.wal", "0000000000000001.WAL",
        "0000000000000001.wal.new", "00000000000000001.wal"}) {
    EXPECT_EQ(serial_of(name), std::nullopt) << name;
  }
}

TEST(Frame, ComesBack) {
  for (const std::string_view record : {"", "a", "12345678", "123456789"}) {
    const auto bytes = frame_of(record, 42);
    const auto frame = read_frame(bytes, 0, 42);
    ASSERT_TRUE(frame);
    EXPECT_EQ(as_text(frame->record), record);
    EXPECT_EQ(frame->kind, FrameKind::record);
    EXPECT_EQ(frame->position, LogPosition{100});
    EXPECT_EQ(frame->durable, LogPosition{99});
    EXPECT_EQ(frame->oldest, 0x11U);
    EXPECT_EQ(bytes.size() % kAlign, 0U);
  }
}

TEST(Frame, IsOfOneSegmentOnly) {
  const auto bytes = frame_of("vote", 42);
  EXPECT_TRUE(read_frame(bytes, 0, 42));
  EXPECT_FALSE(read_frame(bytes, 0, 43));
}

TEST(Frame, EveryChangedBitAndEveryCutIsRefused) {
  const auto whole = frame_of("thirteen byte", 42);
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    auto bytes = whole;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(read_frame(bytes, 0, 42)) << bit;
  }
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(read_frame(ByteView(whole).first(length), 0, 42)) << length;
  }
  EXPECT_FALSE(read_frame(whole, whole.size(), 42));
  EXPECT_FALSE(read_frame(whole, whole.size() + 1, 42));
}

TEST(Frame, LengthsThatNoFileHasAreRefused) {
  for (const std::uint32_t length : {14U, 0x7fffffffU, 0xfffffff0U, 0xffffffffU}) {
    auto bytes = frame_of("thirteen byte", 42);
    store<std::uint32_t>(ByteSpan(bytes).subspan(8), length);
    EXPECT_FALSE(read_frame(bytes, 0, 42)) << length;
  }
}

/// A mark may have zeros behind its head, to fill a block. An end frame has nothing behind its
/// head.
TEST(Frame, OnlyAnEndHasNothingBehindItsHead) {
  for (const FrameKind kind : {FrameKind::mark, FrameKind::end}) {
    std::vector<std::byte> bytes(kFrameBytes + 24);
    seal_frame(bytes, Frame{kind, LogPosition{2}, LogPosition{1}, 1, {}}, 24, 42);
    EXPECT_EQ(read_frame(bytes, 0, 42).has_value(), kind == FrameKind::mark);
  }
}

/// A record may contain any bytes, even a frame of another segment. These bytes are not taken for a
/// frame of this segment, because each segment has a seed of its own, which the writer of a record
/// does not know.
TEST(Frame, HeadsOfAnotherSegmentDoNotLookLikeOne) {
  const auto bytes = frame_of("vote", 42);
  EXPECT_EQ(frame_bytes_by_head(bytes, 42), bytes.size());
  EXPECT_EQ(frame_bytes_by_head(bytes, 43), 0U);
  EXPECT_EQ(frame_bytes_by_head(ByteView(bytes).subspan(8), 42), 0U);
}

TEST(Frame, ZerosAreNone) {
  const std::vector<std::byte> zeros(128);
  for (const std::uint32_t seed : {0U, 1U, 0xffffffffU}) EXPECT_FALSE(read_frame(zeros, 0, seed));
}

}  // namespace
}  // namespace peal::wal
