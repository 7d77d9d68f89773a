// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace peal {
namespace {

/// The number of letters to insert, remove or change to get from one word to the other.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string quote(std::string_view text, std::size_t shown) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, shown)) {
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
  out += text.size() > shown ? "…\"" : "\"";
  return out;
}

std::string nearest(std::string_view typed, const std::vector<std::string>& known) {
  constexpr std::size_t kTypedMax = 64;  // bounds the work on hostile input
  if (typed.size() < 2 || typed.size() > kTypedMax) return {};
  std::string best;
  std::size_t best_edits = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string& word : known) {
    const std::size_t distance = edits(typed, word);
    // The most common mistake is a missing unit or prefix: token_loss for token_loss_ms.
    const bool part = typed.size() >= 4 && word.find(typed) != std::string::npos;
    const std::size_t cost = part ? std::min<std::size_t>(distance, 1) : distance;
    if (cost < best_edits) {
      best_edits = cost;
      best = word;
    }
  }
  return best;
}

std::string comma_separated(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::string hex_digits(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; value >>= 4) text[i] = kDigits[value & 15];
  return text;
}

std::string_view short_id(std::string_view id) { return id.substr(0, id.rfind('.')); }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

std::string decimal(double value) {
  constexpr int kDigits = 15;
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::general, kDigits);
  return error == std::errc{} ? std::string(text.data(), end) : std::string();
}

}  // namespace peal
