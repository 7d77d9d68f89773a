// SPDX-License-Identifier: Apache-2.0
#include "cli/json.h"

#include <cstdint>

namespace peal::cli {

bool is_utf8(std::string_view text) {
  std::size_t follow = 0;
  std::uint32_t point = 0, least = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (follow > 0) {
      if ((byte & 0xc0) != 0x80) return false;
      point = point << 6 | (byte & 0x3f);
      if (--follow > 0) continue;
      if (point < least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return false;
    } else if (byte >= 0x80) {
      if (byte < 0xc0 || byte >= 0xf8) return false;
      follow = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
      least = follow == 1 ? 0x80 : follow == 2 ? 0x800 : 0x10000;
      point = byte & (0x3fU >> follow);
    }
  }
  return follow == 0;
}

std::string hex_bytes(ByteView bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    out += kDigits[std::to_integer<unsigned>(byte) >> 4];
    out += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return out;
}

}  // namespace peal::cli
