// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "peal/member.h"

namespace peal::member {

/// Converts a configuration to settings; `settings` must have its initial values. Errors: one line
/// that names a text which is not accepted. Rules between settings are not checked, and no file is
/// read.
Result<void, std::string> to_settings(const v0::Config& config, config::Settings& settings);

/// The checked settings of a member, with the keys of the key file. The error names the setting,
/// its value, and what is accepted. Does not look up addresses.
Result<config::Settings, v0::Error> settings_of(const v0::Config& config);

/// Reads a list of nodes. The error names an address that cannot be parsed; nothing else is
/// checked.
Result<std::vector<config::NodeEntry>, v0::Error> nodes_of(const std::vector<v0::Node>& nodes);

}  // namespace peal::member
