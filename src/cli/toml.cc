// SPDX-License-Identifier: Apache-2.0
#include "cli/toml.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace peal::cli {
namespace {

/// False if the parser gave up without saying where.
bool parses_or_explains(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
    return true;
  } catch (const TomlAssertion&) {
    return false;
  }
}

/// The line whose end is the first at which the parser gives up. It reads forwards, so that more
/// lines do not change what it did before; but a text cut short may fail in another way first.
std::uint32_t line_of_assertion(std::string_view text) {
  std::uint32_t line = 1;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', end + 1)) {
    if (!parses_or_explains(text.substr(0, end + 1))) break;
    ++line;
  }
  return line;
}

/// toml++ 3.3 also leaves defined behaviour at some characters where it looks for a key or for
/// blanks (U+026C is one), so that it gets to see such characters in strings and comments only.
/// No key of ours takes a string of several lines, which would make this hard to tell.
std::optional<TomlError> check_characters(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::uint32_t line = 1;
  char within = 0;  // the quote that ends this string, '#' in a comment, or nothing
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      within = 0;
    } else if (within == '#') {
      continue;
    } else if (within != 0) {
      if (c == '\\' && within == '"') ++i;
      if (c == within) within = 0;
    } else if (c == '#') {
      within = c;
    } else if (c == '"' || c == '\'') {
      const std::string_view rest = text.substr(i);
      if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
        return TomlError{line, "a string of several lines, which no key here takes"};
      }
      within = c;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      return TomlError{line, "a character that is not ASCII, outside of strings and comments"};
    }
  }
  return std::nullopt;
}

}  // namespace

void fail_toml_assertion() { throw TomlAssertion{}; }

Result<toml::table, TomlError> parse_toml(std::string_view text, std::string_view file) {
  if (auto error = check_characters(text)) return tl::unexpected(std::move(*error));
  try {
    toml::parse_result parsed = toml::parse(text, file);
    if (parsed) return std::move(parsed).table();
    std::string what(parsed.error().description());
    std::replace_if(
        what.begin(), what.end(), [](unsigned char c) { return c < 0x20; }, ' ');
    return tl::unexpected(TomlError{parsed.error().source().begin.line, std::move(what)});
  } catch (const TomlAssertion&) {
    return tl::unexpected(TomlError{line_of_assertion(text), "a key was expected"});
  }
}

}  // namespace peal::cli
