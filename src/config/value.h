// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace peal::config {

/// A list of other things, a table or a date: no key takes one.
struct OtherValue {
  std::string_view what;
};
using Numbers = std::vector<std::int64_t>;  ///< a list of nothing but whole numbers
using Texts = std::vector<std::string>;     ///< a list of nothing but texts
/// What a configuration gives a key.
using Value = std::variant<std::string, std::int64_t, double, bool, Numbers, Texts, OtherValue>;

/// As a file has it; a text in quotes.
std::string shown(const Value& value);

}  // namespace peal::config
