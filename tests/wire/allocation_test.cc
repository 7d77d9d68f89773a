// SPDX-License-Identifier: Apache-2.0
// The codecs of the hot path take no memory. A program of its own, because it counts every call of
// operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "samples.h"
#include "wire/frames.h"

namespace {
std::atomic<std::uint64_t> allocations{0};
}  // namespace

void* operator new(std::size_t bytes) {
  allocations.fetch_add(1);
  if (void* block = std::malloc(bytes)) return block;
  std::abort();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace peal::wire::test {
namespace {

std::uint64_t allocations_of(const auto& work) {
  const std::uint64_t before = allocations.load();
  work();
  return allocations.load() - before;
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

TEST(WireAllocation, AHostileCountTakesLittleMemory) {
  // A COMMIT that claims many members but holds none: dropped before anything is reserved.
  std::vector<std::byte> packet(kPacketBytesMax);
  const std::size_t size =
      encode_commit(header_of(FrameKind::commit), plain_commit(), ByteSpan(packet));
  packet.resize(size);
  constexpr std::size_t kMembersOffset = kHeaderBytes + 36;
  packet[kMembersOffset] = std::byte{128};
  Commit commit;
  EXPECT_EQ(allocations_of([&] {
              if (decode_commit(packet, commit) != Drop::truncated) std::abort();
            }),
            0U);
}

}  // namespace
}  // namespace peal::wire::test
