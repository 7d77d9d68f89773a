// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/config.h"

namespace peal::cli {

/// A list of other things, a table or a date: no key takes one.
struct OtherValue {
  std::string_view what;
};
using Numbers = std::vector<std::int64_t>;  ///< a list of nothing but whole numbers
using Value = std::variant<std::string, std::int64_t, double, bool, Numbers, OtherValue>;

/// One key of the configuration file.
struct Key {
  std::string_view table;  ///< empty for the top level
  std::string name;
  std::string accepted;  ///< completes "accepted is …"
  std::string normal;    ///< the default as TOML; empty if the key has none
  std::string example;   ///< shown where there is no default
  std::string help;
  /// Stores the value; false if it is not accepted, and then nothing has changed.
  std::function<bool(const Value&, NodeConfig&)> set;

  std::string path() const { return table.empty() ? name : std::string(table) + "." + name; }
};

/// A key whose value is a text, which `store` looks at and keeps; false: it is not accepted.
Key text_key(std::string_view table, std::string name, std::string accepted, std::string normal,
             std::string help, std::function<bool(const std::string&, NodeConfig&)> store);
/// One whose value is true or false.
Key truth_key(std::string_view table, std::string name, std::string help, bool NodeConfig::*to);

/// All keys but those of [[nodes]], in the order in which a person reads them.
std::span<const Key> keys();

/// Appends those of [clients].
void add_client_keys(std::vector<Key>& rows);

/// Appends those of [ridge].
void add_ridge_keys(std::vector<Key>& rows);

inline constexpr std::string_view kAcceptedAddress =
    "an IP address or a host name and a port, such as \"10.0.0.1:4801\", \"[fd00::1]:4801\" or "
    "\"node-1.example:4801\", port 1 to 65534 (the port above it is used too)";
/// True if a node can have this address.
bool is_node_address(const io::HostPort& address);

}  // namespace peal::cli
