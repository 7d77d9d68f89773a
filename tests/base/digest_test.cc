// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace peal {
namespace {

std::uint64_t digest_of_numbers(std::initializer_list<std::uint64_t> numbers) {
  Digest digest;
  for (const std::uint64_t number : numbers) digest.add(number);
  return digest.value();
}

TEST(Digest, IsTheSameEverywhere) {
  // Digests are written to traces that other machines compare, so these values never change.
  EXPECT_EQ(Digest().value(), 0x2545f49065437997U);
  EXPECT_EQ(digest_of_numbers({1, 2, 3}), 0xda1ca357ba6de692U);
  EXPECT_EQ(digest_of(as_bytes_view("peal")), 0xd58d91a0c4f97051U);
  EXPECT_EQ(digest_of(as_bytes_view("a longer text than 8 bytes")), 0x04a95674ec18cd6aU);
  std::string alphabets;
  for (int i = 0; i < 100; ++i) alphabets += static_cast<char>('a' + i % 26);
  EXPECT_EQ(digest_of(as_bytes_view(alphabets)), 0xa297273523d3843dU);
}

TEST(Digest, TellsBlocksOfALongTextApart) {
  const std::string a(8, 'a');
  const std::string b(8, 'b');
  std::set<std::string> texts;
  for (unsigned pattern = 0; pattern < 1U << 10; ++pattern) {
    std::string text;
    for (unsigned word = 0; word < 10; ++word) text += (pattern >> word & 1) == 0 ? a : b;
    texts.insert(text);
  }
  std::set<std::uint64_t> values;
  for (const std::string& text : texts) values.insert(digest_of(as_bytes_view(text)));
  EXPECT_EQ(values.size(), texts.size());
}

TEST(Digest, DependsOnOrderAndCount) {
  EXPECT_NE(digest_of_numbers({1, 2}), digest_of_numbers({2, 1}));
  EXPECT_NE(digest_of_numbers({0}), digest_of_numbers({}));
  EXPECT_NE(digest_of_numbers({0}), digest_of_numbers({0, 0}));
}

TEST(Digest, TellsWhereOneTextEndsAndTheNextBegins) {
  const auto two = [](std::string_view a, std::string_view b) {
    Digest digest;
    digest.add(as_bytes_view(a));
    digest.add(as_bytes_view(b));
    return digest.value();
  };
  EXPECT_NE(two("ab", "c"), two("a", "bc"));
  EXPECT_NE(two("", "abc"), two("abc", ""));
}

TEST(Digest, ZeroBytesCount) {
  std::set<std::uint64_t> values;
  for (std::size_t size = 0; size < 140; ++size) {
    values.insert(digest_of(as_bytes_view(std::string(size, '\0'))));
  }
  EXPECT_EQ(values.size(), 140U);
}

TEST(Digest, EveryBitOfANumberCounts) {
  std::set<std::uint64_t> values{digest_of_numbers({0})};
  for (unsigned bit = 0; bit < 64; ++bit) values.insert(digest_of_numbers({1ULL << bit}));
  EXPECT_EQ(values.size(), 65U);
}

TEST(Digest, EveryBitOfATextCounts) {
  for (const std::size_t size : {21U, 64U, 107U}) {
    const std::string text(size, 'x');
    std::set<std::uint64_t> values{digest_of(as_bytes_view(text))};
    for (std::size_t bit = 0; bit < size * 8; ++bit) {
      std::string other = text;
      other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << (bit % 8)));
      values.insert(digest_of(as_bytes_view(other)));
    }
    EXPECT_EQ(values.size(), size * 8 + 1);
  }
}

}  // namespace
}  // namespace peal
