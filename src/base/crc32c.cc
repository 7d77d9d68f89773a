// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace peal {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78U : 0);
    table[i] = value;
  }
  return table;
}
constexpr auto kTable = make_table();

std::uint32_t crc32c_table(ByteView bytes, std::uint32_t crc) {
  for (std::byte b : bytes) {
    crc = (crc >> 8) ^ kTable[(crc ^ std::to_integer<std::uint32_t>(b)) & 0xff];
  }
  return crc;
}

#if defined(__x86_64__)
// The instruction takes three cycles and can start every cycle, so inputs are read as three blocks
// at once. Checksums are linear: the one of two blocks is the first, carried over as many zero
// bytes as the second is long, xor the second. Carrying is multiplying by a power of x.
constexpr std::size_t kWord = 8;
constexpr std::size_t kBlockWordsMin = 8;    // below, carrying costs more than it saves
constexpr std::size_t kBlockWordsMax = 256;  // longer inputs are read in rounds

// x to the power of 64n - 33, for blocks of n words: the product of two values of 32 bits is one
// bit short of 64, and reading it as a word multiplies it by 32 zero bits again.
using CarryTable = std::array<std::uint32_t, kBlockWordsMax + 1>;

constexpr CarryTable make_carry_table() {
  CarryTable table{};
  std::uint32_t value = 1;  // x^31: the highest power is the lowest bit
  for (std::size_t words = 1; words <= kBlockWordsMax; ++words) {
    table[words] = value;
    for (std::size_t i = 0; i < kWord; ++i) value = (value >> 8) ^ kTable[value & 0xff];
  }
  return table;
}
constexpr CarryTable kCarry = make_carry_table();

std::uint64_t word_at(const std::byte* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

using Pair = long long __attribute__((vector_size(16)));

__attribute__((target("sse4.2,pclmul"))) std::uint64_t carry_over(std::uint64_t crc,
                                                                  std::uint32_t power) {
  const Pair left = {static_cast<long long>(crc), 0};
  const Pair right = {static_cast<long long>(power), 0};
  const Pair product = __builtin_ia32_pclmulqdq128(left, right, 0);
  return __builtin_ia32_crc32di(0, static_cast<unsigned long long>(product[0]));
}

__attribute__((target("sse4.2,pclmul"))) std::uint32_t crc32c_instruction(ByteView bytes,
                                                                          std::uint32_t crc) {
  std::uint64_t first = crc;
  while (bytes.size() >= 3 * kWord * kBlockWordsMin) {
    const std::size_t words = std::min(bytes.size() / (3 * kWord), kBlockWordsMax);
    const std::size_t block = words * kWord;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    const std::byte* at = bytes.data();
    for (const std::byte* end = at + block; at != end; at += kWord) {
      first = __builtin_ia32_crc32di(first, word_at(at));
      second = __builtin_ia32_crc32di(second, word_at(at + block));
      third = __builtin_ia32_crc32di(third, word_at(at + 2 * block));
    }
    second ^= carry_over(first, kCarry[words]);
    first = third ^ carry_over(second, kCarry[words]);
    bytes = bytes.subspan(3 * block);
  }
  while (bytes.size() >= kWord) {
    first = __builtin_ia32_crc32di(first, word_at(bytes.data()));
    bytes = bytes.subspan(kWord);
  }
  auto narrow = static_cast<std::uint32_t>(first);
  for (std::byte b : bytes)
    narrow = __builtin_ia32_crc32qi(narrow, std::to_integer<unsigned char>(b));
  return narrow;
}
const bool kHaveInstruction =
    __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("pclmul") != 0;
#endif

}  // namespace

std::uint32_t crc32c(ByteView bytes, std::uint32_t crc) {
  crc = ~crc;
#if defined(__x86_64__)
  if (kHaveInstruction) return ~crc32c_instruction(bytes, crc);
#endif
  return ~crc32c_table(bytes, crc);
}

std::uint32_t crc32c_portable(ByteView bytes, std::uint32_t crc) {
  return ~crc32c_table(bytes, ~crc);
}

}  // namespace peal
