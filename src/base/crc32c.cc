// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

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
// The instruction takes three cycles and can start every cycle, so long inputs are read as three
// blocks at once. Checksums are linear: the one of two blocks is the first, carried over as many
// zero bytes as the second is long, xor the second.
constexpr std::size_t kBlockBytes = 240;  // two rounds of three in a full Ethernet packet

using CarryTable = std::array<std::array<std::uint32_t, 256>, 4>;

constexpr CarryTable make_carry_table() {
  std::array<std::uint32_t, 32> carried{};  // each bit, kBlockBytes zero bytes later
  for (std::size_t bit = 0; bit < 32; ++bit) {
    std::uint32_t value = 1U << bit;
    for (std::size_t i = 0; i < kBlockBytes; ++i) value = (value >> 8) ^ kTable[value & 0xff];
    carried[bit] = value;
  }
  CarryTable table{};
  for (std::size_t part = 0; part < 4; ++part) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if ((byte >> bit & 1) != 0) table[part][byte] ^= carried[part * 8 + bit];
      }
    }
  }
  return table;
}
constexpr CarryTable kCarry = make_carry_table();

std::uint32_t carry_over_block(std::uint32_t crc) {
  return kCarry[0][crc & 0xff] ^ kCarry[1][crc >> 8 & 0xff] ^ kCarry[2][crc >> 16 & 0xff] ^
         kCarry[3][crc >> 24];
}

std::uint64_t word_at(const std::byte* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

__attribute__((target("sse4.2"))) std::uint32_t crc32c_sse42(ByteView bytes, std::uint32_t crc) {
  while (bytes.size() >= 3 * kBlockBytes) {
    std::uint64_t first = crc;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    const std::byte* at = bytes.data();
    for (const std::byte* end = at + kBlockBytes; at != end; at += sizeof first) {
      first = __builtin_ia32_crc32di(first, word_at(at));
      second = __builtin_ia32_crc32di(second, word_at(at + kBlockBytes));
      third = __builtin_ia32_crc32di(third, word_at(at + 2 * kBlockBytes));
    }
    crc = carry_over_block(static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second);
    crc = carry_over_block(crc) ^ static_cast<std::uint32_t>(third);
    bytes = bytes.subspan(3 * kBlockBytes);
  }
  std::uint64_t wide = crc;
  while (bytes.size() >= sizeof wide) {
    wide = __builtin_ia32_crc32di(wide, word_at(bytes.data()));
    bytes = bytes.subspan(sizeof wide);
  }
  auto narrow = static_cast<std::uint32_t>(wide);
  for (std::byte b : bytes) {
    narrow = __builtin_ia32_crc32qi(narrow, std::to_integer<unsigned char>(b));
  }
  return narrow;
}
const bool kHaveSse42 = __builtin_cpu_supports("sse4.2") != 0;
#endif

}  // namespace

std::uint32_t crc32c(ByteView bytes, std::uint32_t crc) {
  crc = ~crc;
#if defined(__x86_64__)
  if (kHaveSse42) return ~crc32c_sse42(bytes, crc);
#endif
  return ~crc32c_table(bytes, crc);
}

std::uint32_t crc32c_portable(ByteView bytes, std::uint32_t crc) {
  return ~crc32c_table(bytes, ~crc);
}

}  // namespace peal
