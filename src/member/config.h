// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "config/settings.h"

// The public header has names that the modules also have (Result, Service). It is included last, so
// that it does not come between the modules' headers and their names.
#include "peal/member.h"

namespace peal::member {

/// Writes the configuration into settings that were not set before. The error is one line: a text
/// is not accepted. Rules between settings are not checked, and no file is read.
tl::expected<void, std::string> to_settings(const v0::Config& config, config::Settings& settings);

/// The checked settings of a member, with their keys; or the error: key, value, and what is
/// accepted. Does not look up addresses.
std::variant<config::Settings, v0::Error> settings_of(const v0::Config& config);

/// The same for a list of nodes; only the texts are read.
std::variant<std::vector<config::NodeEntry>, v0::Error> nodes_of(
    const std::vector<v0::Node>& nodes);

}  // namespace peal::member
