// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "config/settings.h"

// The public header has names of its own for things that the rooms name too (Result, Service). It
// comes last, so that it does not come between the rooms' headers and their names.
#include "peal/member.h"

namespace peal::member {

/// Writes what the configuration says into the settings, of which nothing was set. The error is one
/// line: a text is not accepted. What goes together is not looked at, and no file is read.
tl::expected<void, std::string> to_settings(const v0::Config& config, config::Settings& settings);

/// The settings of a member, checked, with their keys; or what is wrong: key, value, and what is
/// accepted. Looks no address up.
std::variant<config::Settings, v0::Error> settings_of(const v0::Config& config);

/// The same for a list of nodes, of which only the texts are read.
std::variant<std::vector<config::NodeEntry>, v0::Error> nodes_of(
    const std::vector<v0::Node>& nodes);

}  // namespace peal::member
