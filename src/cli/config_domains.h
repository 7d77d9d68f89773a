// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/config.h"
#include "cli/toml.h"

// The tables [[domain]]: some nodes with an ensemble of their own.

namespace peal::cli {

/// Reads all of them. The error is one line, as those of parse_config().
Result<void, std::string> read_domains(std::string_view file, const toml::key& key,
                                       const toml::node& node, NodeConfig& out);
/// What the domains of a configuration that was read must agree on with its other keys.
Result<void, std::string> check_domains(const NodeConfig& config);

/// What `peal node --print-config` says of them.
std::string domains_help();

}  // namespace peal::cli
