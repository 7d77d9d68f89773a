// SPDX-License-Identifier: Apache-2.0
#include "session/region.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"

namespace peal::session::test {
namespace {

struct Memory {
  explicit Memory(std::size_t bytes) : words(bytes / 8) {}
  ByteSpan span() { return std::as_writable_bytes(std::span(words)); }
  std::vector<std::uint64_t> words;
};

/// A record of `bytes` bytes. All bytes behind its header have the value `value`.
std::vector<std::byte> record_of(std::size_t bytes, unsigned value) {
  std::vector<std::byte> record(bytes, static_cast<std::byte>(value));
  store(ByteSpan(record), static_cast<std::uint32_t>(bytes - sizeof(std::uint32_t)));
  record[4] = std::byte{64};
  return record;
}

std::optional<Region::Block> put(Region& region, ByteView head, ByteView rest) {
  const auto block = region.reserve(head.size() + rest.size());
  if (block) region.write(*block, head, rest);
  return block;
}

TEST(Region, TakesAsMuchAsFitsAndSaysSo) {
  Memory memory(64 << 10);
  Region region(memory.span());
  EXPECT_EQ(region.span_bytes(), Region::kSpanBytesMin);
  const auto record = record_of(1'000, 7);
  std::vector<Region::Block> blocks;
  while (const auto block = put(region, record, {})) blocks.push_back(*block);
  EXPECT_EQ(blocks.size(), 16U * 4U);  // a record takes 1,024 bytes
  EXPECT_EQ(region.bytes_in_use(), 64U << 10);
  EXPECT_FALSE(put(region, record_of(10, 1), {}));
  region.give_back(blocks.back());
  blocks.pop_back();
  EXPECT_FALSE(put(region, record_of(10, 1), {})) << "a span has blocks of one size";
  const auto again = put(region, record, {});
  ASSERT_TRUE(again.has_value());
  blocks.push_back(*again);
  region.check_invariants();
  for (const Region::Block& block : blocks) region.give_back(block);
  EXPECT_EQ(region.bytes_in_use(), 0U);
  region.check_invariants();
}

TEST(Region, TakesNoRecordThatIsLargerThanASpan) {
  Memory memory(64 << 10);
  Region region(memory.span());
  EXPECT_FALSE(put(region, record_of(4'089, 1), {}));
  const auto block = put(region, record_of(4'088, 1), {});
  ASSERT_TRUE(block.has_value());
  region.give_back(*block);
}

TEST(Region, IsAllOneAgainWhenEverythingWasGivenBack) {
  Memory memory(64 << 10);
  Region region(memory.span());
  for (const std::size_t bytes : {300U, 1'000U, 4'000U, 300U}) {
    std::vector<Region::Block> blocks;
    while (const auto block = put(region, record_of(bytes, 3), {})) blocks.push_back(*block);
    EXPECT_GE(blocks.size(), (64U << 10) / (bytes + bytes / 4 + 8)) << bytes;
    for (const Region::Block& block : blocks) region.give_back(block);
    region.check_invariants();
  }
}

TEST(Region, SaysThatWhatWasGivenBackIsGone) {
  Memory memory(64 << 10);
  Region region(memory.span());
  const auto record = record_of(600, 9);
  const auto first = put(region, ByteView(record).first(100), ByteView(record).subspan(100));
  ASSERT_TRUE(first.has_value());
  wire::RecordKind kind{};
  std::vector<std::byte> body;
  EXPECT_EQ(wire::read_shared(memory.span(), first->at, kind, body), wire::SharedRead::ok);
  EXPECT_EQ(body.size(), 595U);
  region.give_back(*first);
  EXPECT_EQ(wire::read_shared(memory.span(), first->at, kind, body), wire::SharedRead::gone);
  const auto second = put(region, record, {});
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->at.offset, first->at.offset);
  EXPECT_EQ(wire::read_shared(memory.span(), first->at, kind, body), wire::SharedRead::gone);
  EXPECT_EQ(wire::read_shared(memory.span(), second->at, kind, body), wire::SharedRead::ok);
  region.give_back(*second);
}

/// Records come and go. Each record keeps its bytes until it is freed, and no two records overlap.
TEST(Region, KeepsEachRecordAsItWas) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Memory memory(seed % 2 == 0 ? 1U << 20 : 80U << 10);
    Region region(memory.span());
    Random random(seed);
    struct Held {
      Region::Block block;
      unsigned value;
    };
    std::vector<Held> held;
    std::uint64_t refused = 0;
    for (unsigned step = 0; step < 5'000; ++step) {
      // More records come, then fewer, so that the region is sometimes full and sometimes empty.
      const bool grows = step / 500 % 2 == 0;
      if (held.empty() || random.below(10) < (grows ? 7U : 3U)) {
        const std::size_t most = random.below(10) < 8 ? 2'000 : region.span_bytes();
        const std::size_t bytes = 10 + random.below(most - 17);
        const unsigned value = static_cast<unsigned>(random.below(256));
        const auto block = put(region, record_of(bytes, value), {});
        if (!block) {
          ++refused;
          continue;
        }
        ASSERT_GE(block->block_bytes, bytes + 8);
        ASSERT_EQ(block->at.offset % wire::kSharedAlign, 0U);
        held.push_back({*block, value});
      } else {
        const std::size_t at = random.below(held.size());
        const ByteView record = region.record(held[at].block);
        for (const std::byte byte : record.subspan(5)) {
          ASSERT_EQ(byte, static_cast<std::byte>(held[at].value)) << seed << " " << step;
        }
        region.give_back(held[at].block);
        held[at] = held.back();
        held.pop_back();
      }
      if (step % 250 == 0) region.check_invariants();
    }
    EXPECT_TRUE(refused > 0 || seed % 2 == 0);
    for (const Held& each : held) region.give_back(each.block);
    region.check_invariants();
  }
}

}  // namespace
}  // namespace peal::session::test
