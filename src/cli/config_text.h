// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/config_keys.h"
#include "cli/toml.h"

// What the readers of the configuration file have in common: places, values, and how errors say
// them.

namespace peal::cli {

using Status = Result<void, std::string>;

/// Where errors point to.
struct Place {
  std::string_view file;
  std::uint32_t line = 0;  ///< 0: the file as a whole
};

/// "peal.toml:12: …"
tl::unexpected<std::string> refuse(const Place& place, const std::string& what);

std::uint32_t line_of(const toml::source_region& source);
Value value_of(const toml::node& node);
/// As the file has it; a text in quotes.
std::string shown(const Value& value);
/// "path = VALUE: accepted is …"
std::string not_accepted(const std::string& path, const toml::node& node,
                         std::string_view accepted);
/// "unknown key …: did you mean …?" `prefix` is "ring." or empty.
std::string unknown_key(const std::string& prefix, std::string_view name, const toml::node& node,
                        const std::vector<std::string>& known);

}  // namespace peal::cli
