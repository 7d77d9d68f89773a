// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "peal/member.h"

namespace peal::member {

/// Writes the configuration into settings that were not set before. The error is one line: a text
/// is not accepted. Rules between settings are not checked, and no file is read.
Result<void, std::string> to_settings(const v0::Config& config, config::Settings& settings);

/// The checked settings of a member, with their keys; or the error: key, value, and what is
/// accepted. Does not look up addresses.
Result<config::Settings, v0::Error> settings_of(const v0::Config& config);

/// The same for a list of nodes; only the texts are read.
Result<std::vector<config::NodeEntry>, v0::Error> nodes_of(const std::vector<v0::Node>& nodes);

}  // namespace peal::member
