// SPDX-License-Identifier: Apache-2.0
// Keys of kinds that several tables have.

#include <utility>

#include "cli/config_keys.h"

namespace peal::cli {

Key text_key(std::string_view table, std::string name, std::string accepted, std::string normal,
             std::string help, std::function<bool(const std::string&, NodeConfig&)> store) {
  Key key;
  key.table = table;
  key.name = std::move(name);
  key.accepted = std::move(accepted);
  key.normal = std::move(normal);
  key.help = std::move(help);
  key.set = [store = std::move(store)](const Value& value, NodeConfig& config) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr && store(*text, config);
  };
  return key;
}

Key truth_key(std::string_view table, std::string name, std::string help, bool NodeConfig::*to) {
  Key key;
  key.table = table;
  key.name = std::move(name);
  key.accepted = "true or false";
  key.normal = NodeConfig{}.*to ? "true" : "false";
  key.help = std::move(help);
  key.set = [to](const Value& value, NodeConfig& config) {
    const auto* truth = std::get_if<bool>(&value);
    if (truth == nullptr) return false;
    config.*to = *truth;
    return true;
  };
  return key;
}

}  // namespace peal::cli
