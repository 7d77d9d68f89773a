// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

namespace peal {

std::string quote(std::string_view text) {
  constexpr std::size_t kShown = 60;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  out += text.size() > kShown ? "…\"" : "\"";
  return out;
}

}  // namespace peal
