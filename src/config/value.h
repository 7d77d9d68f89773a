// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace peal::config {

/// A mixed list, a table or a date: no key accepts such a value.
struct OtherValue {
  std::string_view what;
};
using Numbers = std::vector<std::int64_t>;  ///< a list of whole numbers only
using Texts = std::vector<std::string>;     ///< a list of texts only
/// The value of a key in a configuration.
using Value = std::variant<std::string, std::int64_t, double, bool, Numbers, Texts, OtherValue>;

/// The value as in a file, for messages: a text is in quotes; a list of texts becomes "a list".
std::string shown(const Value& value);

}  // namespace peal::config
