// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "base/random.h"

namespace peal {
namespace {

/// Computes the checksum bit by bit, as its definition says.
std::uint32_t crc32c_slowly(ByteView bytes, std::uint32_t crc = 0) {
  crc = ~crc;
  for (const std::byte b : bytes) {
    crc ^= std::to_integer<std::uint32_t>(b);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

std::vector<std::byte> random_bytes(Random& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(256));
  return bytes;
}

TEST(Crc32c, KnownAnswers) {
  EXPECT_EQ(crc32c({}), 0U);
  EXPECT_EQ(crc32c(as_bytes_view("a")), 0xc1d04330U);
  EXPECT_EQ(crc32c(as_bytes_view("123456789")), 0xe3069283U);
  // The examples of RFC 3720, appendix B.4.
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0})), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xff})), 0x62a8ab43U);
  std::vector<std::byte> ascending(32);
  std::vector<std::byte> descending(32);
  for (unsigned i = 0; i < 32; ++i) {
    ascending[i] = static_cast<std::byte>(i);
    descending[31 - i] = static_cast<std::byte>(i);
  }
  EXPECT_EQ(crc32c(ascending), 0x46dd794eU);
  EXPECT_EQ(crc32c(descending), 0x113fdb5cU);
}

TEST(Crc32c, EveryLengthAndAlignmentAgreesWithTheDefinition) {
  Random random(1);
  const std::vector<std::byte> bytes = random_bytes(random, 700);
  for (std::size_t offset = 0; offset < 17; ++offset) {
    for (std::size_t size = 0; size < 680; ++size) {
      const ByteView part = ByteView(bytes).subspan(offset, size);
      ASSERT_EQ(crc32c(part), crc32c_slowly(part)) << offset << " " << size;
      ASSERT_EQ(crc32c_portable(part), crc32c_slowly(part)) << offset << " " << size;
    }
  }
}

TEST(Crc32c, LargeBlocksAgreeWithTheDefinition) {
  Random random(2);
  const std::vector<std::byte> bytes = random_bytes(random, 70'000);
  for (const std::size_t size :
       {1'400U, 1'472U, 4'095U, 6'143U, 6'144U, 6'145U, 6'335U, 6'336U, 9'000U, 65'507U, 70'000U}) {
    const ByteView part = ByteView(bytes).first(size);
    ASSERT_EQ(crc32c(part), crc32c_slowly(part)) << size;
    ASSERT_EQ(crc32c_portable(part), crc32c_slowly(part)) << size;
  }
}

TEST(Crc32c, ContinuesFromPartToPart) {
  Random random(3);
  const std::vector<std::byte> bytes = random_bytes(random, 3'000);
  const std::uint32_t whole = crc32c(bytes);
  for (int round = 0; round < 500; ++round) {
    const std::size_t cut = random.below(bytes.size() + 1);
    const ByteView view(bytes);
    ASSERT_EQ(crc32c(view.subspan(cut), crc32c(view.first(cut))), whole) << cut;
  }
  const std::uint32_t start = 0x12345678;
  EXPECT_EQ(crc32c(bytes, start), crc32c_slowly(bytes, start));
  EXPECT_EQ(crc32c_portable(bytes, start), crc32c_slowly(bytes, start));
}

}  // namespace
}  // namespace peal
