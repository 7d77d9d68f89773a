// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/config.h"
#include "cli/toml.h"

// The tables [[nodes]]: who is in the cluster, and where.

namespace peal::cli {

/// Reads all of them. The error is one line, as those of parse_config().
Result<void, std::string> read_nodes(std::string_view file, const toml::key& key,
                                     const toml::node& node, NodeConfig& out);
/// Who has no number gets its place in the file, which must not be another one's number.
Result<void, std::string> number_nodes(std::string_view file, NodeConfig& out);

}  // namespace peal::cli
