// SPDX-License-Identifier: Apache-2.0
#include "cli/text.h"

#include <algorithm>

namespace peal::cli {

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
