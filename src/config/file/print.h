// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace peal::config {

/// A configuration file with every key; comments describe each key's default and accepted values.
std::string annotated_file();

/// The rows of docs/configuration.md for `table`: "ring" stands for the table [ring], "[nodes]" for
/// the tables [[nodes]], and "" for the top level. Empty if there is no such table.
std::string page_rows(std::string_view table);

}  // namespace peal::config
