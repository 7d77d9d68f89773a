// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace peal::config {

/// A configuration file with every key, its default and accepted values, as comments for learning.
std::string annotated_file();

/// The rows of docs/configuration.md for one table: empty for the top level, "ring", or a list,
/// "[nodes]". Empty if there is no such table.
std::string page_rows(std::string_view table);

}  // namespace peal::config
