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
__attribute__((target("sse4.2"))) std::uint32_t crc32c_sse42(ByteView bytes, std::uint32_t crc) {
  std::uint64_t wide = crc;
  while (bytes.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    wide = __builtin_ia32_crc32di(wide, word);
    bytes = bytes.subspan(8);
  }
  auto narrow = static_cast<std::uint32_t>(wide);
  for (std::byte b : bytes) narrow = __builtin_ia32_crc32qi(narrow, std::to_integer<unsigned char>(b));
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

}  // namespace peal
