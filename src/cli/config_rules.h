// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/toml.h"
#include "session/options.h"

// The tables [[client]] and [[group]]: who may connect, and what may be done with which groups.

namespace peal::cli {

/// What is_pattern() takes, for "accepted is".
inline constexpr std::string_view kAcceptedPattern =
    "a name of 1 to 128 bytes, or its beginning and '*'";
bool is_pattern(const std::string& text);

inline constexpr std::size_t kRulesMax = 1'000;  ///< of each kind

/// Reads all tables `kind` ("client" or "group") of the file. The error is one line, as those of
/// parse_config().
Result<void, std::string> read_rules(std::string_view file, const toml::key& kind,
                                     const toml::node& node, session::Options& out);

/// What `peal node --print-config` says of them.
std::string rules_help();

}  // namespace peal::cli
