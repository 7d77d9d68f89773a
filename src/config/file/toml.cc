// SPDX-License-Identifier: Apache-2.0
#include "config/file/toml.h"

#include <algorithm>
#include <utility>

namespace peal::config {
namespace {

/// Returns false if the parser violated an assertion: then the place of the error is unknown.
bool parses_or_explains(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
    return true;
  } catch (const TomlAssertion&) {
    return false;
  }
}

/// The line at which the parser violates an assertion. Parses the first line, then the first two
/// lines, and so on, until the assertion fails. The parser reads forwards, so later lines do not
/// matter. A text that ends too early may cause a normal error: then the search continues.
std::uint32_t line_of_assertion(std::string_view text) {
  std::uint32_t line = 1;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', end + 1)) {
    if (!parses_or_explains(text.substr(0, end + 1))) break;
    ++line;
  }
  return line;
}

}  // namespace

void fail_toml_assertion() { throw TomlAssertion{}; }

Result<toml::table, TomlError> parse_toml(std::string_view text, std::string_view file) {
  try {
    toml::parse_result parsed = toml::parse(text, file);
    if (parsed) return std::move(parsed).table();
    std::string what(parsed.error().description());
    std::replace_if(
        what.begin(), what.end(), [](unsigned char c) { return c < 0x20; }, ' ');
    return unexpected(TomlError{parsed.error().source().begin.line, std::move(what)});
  } catch (const TomlAssertion&) {
    return unexpected(TomlError{line_of_assertion(text), "a key was expected"});
  }
}

}  // namespace peal::config
