// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

// The only place that includes toml++: its settings must be the same wherever it is used.

namespace peal::cli {

/// toml++ 3.3 asserts what a hostile document can break ("[[/" does). In a release those assertions
/// would become assumptions, which is worse; here they end the parser instead of the process.
struct TomlAssertion {};
[[noreturn]] void fail_toml_assertion();

}  // namespace peal::cli

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::peal::cli::fail_toml_assertion())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace peal::cli {

struct TomlError {
  std::uint32_t line = 0;
  std::string what;  ///< one line without control characters
};

/// Parses any bytes; `file` is for the positions in the result.
Result<toml::table, TomlError> parse_toml(std::string_view text, std::string_view file);

}  // namespace peal::cli
