// SPDX-License-Identifier: Apache-2.0
#include "cli/text.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace peal::cli {
namespace {

/// How many letters must be added, left out or changed to get from one word to the other.
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

std::string nearest(std::string_view typed, const std::vector<std::string>& known) {
  constexpr std::size_t kTypedMax = 64;  // bounds the work on hostile input
  if (typed.size() < 2 || typed.size() > kTypedMax) return {};
  std::string best;
  std::size_t best_edits = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string& word : known) {
    const std::size_t distance = edits(typed, word);
    // A missing unit or prefix is the commonest slip: token_loss for token_loss_ms.
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

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

std::vector<std::string> folded(std::string_view line, std::size_t columns) {
  constexpr std::string_view kIndent = "      ";
  columns = std::max(columns, 2 * kIndent.size());
  std::vector<std::string> lines;
  while (true) {
    const std::string_view indent = lines.empty() ? "" : kIndent;
    const std::size_t room = columns - indent.size();
    if (line.size() <= room) {
      lines.push_back(std::string(indent) + std::string(line));
      return lines;
    }
    const std::size_t space = line.rfind(' ', room);
    const bool breaks = space != line.npos && space > 0;
    lines.push_back(std::string(indent) + std::string(line.substr(0, breaks ? space : room)));
    line.remove_prefix(breaks ? space + 1 : room);
  }
}

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./-+,:@%").find(c) != std::string_view::npos;
  });
  if (plain) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

std::string decimal(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

std::string_view short_id(std::string_view id) { return id.substr(0, id.rfind('.')); }

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string counted(std::uint64_t number, std::string_view noun) {
  std::string text = grouped(number) + " " + std::string(noun);
  if (number == 1) return text;
  if (text.back() != 'y') return text + "s";
  text.pop_back();
  return text + "ies";
}

}  // namespace peal::cli
