// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace peal::cli {

/// The name of `known` that a person most likely meant by `typed`; empty if none is near.
std::string nearest(std::string_view typed, const std::vector<std::string>& known);

/// "a, b, c"
std::string joined(const std::vector<std::string>& words);

/// A number for a person: 8 or 0.5, never 8.000000.
std::string decimal(double value);

/// Text as it may stand in a one-line message: in quotes, escaped, and cut after 60 characters.
std::string quote(std::string_view text);

}  // namespace peal::cli
