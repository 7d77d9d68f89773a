// SPDX-License-Identifier: Apache-2.0
// The codecs of the hot path take no memory. A program of its own, because it counts every call of
// operator new.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "allocations.h"
#include "samples.h"
#include "wire/frames.h"

namespace peal::wire::test {
namespace {

std::uint64_t allocations_of(const auto& work) {
  const std::uint64_t before = allocations();
  work();
  return allocations() - before;
}

TEST(WireAllocation, TheCounterCounts) {
  std::vector<std::unique_ptr<int>> kept;
  kept.reserve(2);
  EXPECT_EQ(allocations_of([&] {
              kept.push_back(std::make_unique<int>(1));
              kept.push_back(std::make_unique<int>(2));
            }),
            2U);
}

TEST(WireAllocation, TokensTakeNone) {
  Random random(7);
  std::vector<std::byte> packet(kPacketBytesMax);
  const auto decoded = std::make_unique<Token>();
  for (int round = 0; round < 200; ++round) {
    const Token token = random_token(random);
    const std::uint64_t count = allocations_of([&] {
      const std::size_t size = encode_token(header_of(FrameKind::token), token, packet);
      Header header;
      const ByteView whole = ByteView(packet).first(size);
      if (decode_header(whole, header) != Drop::none) std::abort();
      if (decode_token(whole, *decoded) != Drop::none) std::abort();
      // Dropped ones take none either.
      if (decode_token(whole.first(size - 1), *decoded) == Drop::none) std::abort();
    });
    ASSERT_EQ(count, 0U) << "round " << round;
  }
}

TEST(WireAllocation, DataTakesNone) {
  Random random(8);
  std::vector<std::byte> packet(1'472);
  for (int round = 0; round < 200; ++round) {
    const Data data = random_data(random);
    const std::uint64_t count = allocations_of([&] {
      encode_data_in_place(header_of(FrameKind::data), data, packet);
      Header header;
      Data decoded;
      if (decode_header(packet, header) != Drop::none) std::abort();
      if (decode_data(packet, decoded) != Drop::none) std::abort();
    });
    ASSERT_EQ(count, 0U) << "round " << round;
  }
}

/// Bytes that decoding takes, into a frame that holds nothing yet.
template <class Frame, class Decode>
std::uint64_t bytes_of_decoding(ByteView packet, Decode decode) {
  Frame frame;
  const std::uint64_t before = allocated_bytes();
  static_cast<void>(decode(packet, frame));
  return allocated_bytes() - before;
}

/// However long a frame claims to be, it takes no more memory than a few times its bytes.
template <class Frame, class Make, class Encode, class Decode>
void expect_memory_in_proportion(Make make, Encode encode, Decode decode, FrameKind kind) {
  Random random(9);
  std::vector<std::byte> packet(kPacketBytesMax);
  for (int round = 0; round < 100; ++round) {
    const std::size_t size = encode(header_of(kind), make(random), ByteSpan(packet));
    for (std::size_t part = 0; part <= size; part += 1 + size / 40) {
      const ByteView cut = ByteView(packet).first(part);
      ASSERT_LE(bytes_of_decoding<Frame>(cut, decode), 4 * part) << part << " of " << size;
    }
  }
}

TEST(WireAllocation, MemoryIsInProportionToThePacket) {
  expect_memory_in_proportion<Join>(random_join, encode_join, decode_join, FrameKind::join);
  expect_memory_in_proportion<Commit>(random_commit, encode_commit, decode_commit,
                                      FrameKind::commit);
  expect_memory_in_proportion<ProbeFrame>(random_probe, encode_probe, decode_probe,
                                          FrameKind::probe);
}

TEST(WireAllocation, CountsWithoutContentTakeNothing) {
  Commit commit = plain_commit();
  commit.members = first_members(kMembersMax);
  OldView& last = commit.old_views.back();
  last.high = last.base + kSpanMax;
  last.have.resize(kSpanMax / 64);
  std::vector<std::byte> packet(kPacketBytesMax);
  packet.resize(encode_commit(header_of(FrameKind::commit), commit, ByteSpan(packet)));

  // Each count claims its content, and the packet ends behind it.
  constexpr std::size_t kMembersEnd = kHeaderBytes + 46;
  EXPECT_EQ(bytes_of_decoding<Commit>(ByteView(packet).first(kMembersEnd), decode_commit), 0U);
  constexpr std::size_t kOldViewsEnd = kMembersEnd + 12 * kMembersMax + 2;
  constexpr std::uint64_t kMembersMemory = kMembersMax * sizeof(MemberId);
  EXPECT_EQ(bytes_of_decoding<Commit>(ByteView(packet).first(kOldViewsEnd), decode_commit),
            kMembersMemory);
  const std::size_t before_have = packet.size() - kSpanMax / 8;
  const std::uint64_t without =
      bytes_of_decoding<Commit>(ByteView(packet).first(before_have), decode_commit);
  EXPECT_LT(without, kMembersMemory + kSpanMax / 8);
  EXPECT_EQ(bytes_of_decoding<Commit>(packet, decode_commit), without + kSpanMax / 8);
}

}  // namespace
}  // namespace peal::wire::test
