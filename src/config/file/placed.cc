// SPDX-License-Identifier: Apache-2.0
#include "config/file/placed.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "config/file/keys.h"
#include "config/file/text.h"
#include "config/schema.h"

namespace peal::config {
namespace {

constexpr std::string_view kIt = " is not accepted: it must";

/// The position at which `word` occurs in `text` as a whole word; npos if `text` does not contain
/// the word.
std::size_t find_word(std::string_view text, std::string_view word) {
  const auto inside = [](char c) { return c == '_' || c == '.' || (c >= 'a' && c <= 'z'); };
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool starts = at == 0 || !inside(text[at - 1]);
    if (starts && (end == text.size() || !inside(text[end]))) return at;
  }
  return std::string_view::npos;
}

bool has_key(std::string_view text, const Key<File>& key) {
  return find_word(text, key.name) != std::string_view::npos ||
         find_word(text, key.path()) != std::string_view::npos;
}

/// The error about a broken rule between keys, with the lines of the rule's keys that the file
/// sets.
std::string placed_rule(const std::string& wrong, const File& file) {
  std::vector<std::pair<std::uint32_t, std::string>> found;  // line, "key = value"
  bool subject_is_set = false;
  for (const Key<File>& key : file_keys()) {
    const std::uint32_t line = file.line_of(key.path());
    if (line == 0 || key.table.empty() || !has_key(wrong, key)) continue;
    found.emplace_back(line, key.path() + " = " + for_message(key.get(file)));
    subject_is_set = subject_is_set || wrong.starts_with(key.path() + " ");
  }
  std::sort(found.begin(), found.end());
  if (found.empty()) return refuse({file.path}, wrong).error();
  const Place place{file.path, found.front().first};
  if (found.size() == 1 && subject_is_set) return refuse(place, wrong).error();
  std::string text;
  for (const auto& [line, key] : found) {
    if (!text.empty()) text += " with " + key + " (line " + std::to_string(line) + ")";
    if (text.empty()) text = key + " is not accepted";
  }
  // In the text of the rule, "it" refers to the first key of the rule.
  std::string rule = wrong;
  const auto at = rule.find(kIt);
  rule.replace(at, kIt.size(), subject_is_set ? " must" : ", its default, must");
  return refuse(place, text + ": " + rule).error();
}

/// The line of the key that `wrong` names first, among the keys that the file sets; 0 if `wrong`
/// names none of these keys.
std::uint32_t first_line(const std::string& wrong, const File& file) {
  std::pair<std::size_t, std::uint32_t> first{std::string::npos, 0};
  for (const auto& [key, line] : file.lines) {
    first = std::min(first, {find_word(wrong, key), line});
  }
  return first.first == std::string::npos ? 0 : first.second;
}

}  // namespace

std::string placed(const std::string& wrong, const File& file) {
  for (const DomainEntry& domain : file.settings.domains) {
    if (!wrong.starts_with("domain.") || wrong.find(quote(domain.name)) == std::string::npos) {
      continue;
    }
    return refuse({file.path, file.line_of("domain " + quote(domain.name))}, wrong).error();
  }
  if (wrong.find(kIt) != std::string::npos) return placed_rule(wrong, file);
  return refuse({file.path, first_line(wrong, file)}, wrong).error();
}

}  // namespace peal::config
