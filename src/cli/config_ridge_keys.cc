// SPDX-License-Identifier: Apache-2.0
// The keys of [ridge].

#include <utility>

#include "cli/config_keys.h"

namespace peal::cli {

void add_ridge_keys(std::vector<Key>& rows) {
  Key key;
  key.table = "ridge";
  key.name = "dissemination";
  key.accepted = kDisseminations;
  key.normal = "\"distributors\"";
  key.help =
      "How messages reach all nodes. \"distributors\": along a chain of acceptors, and from one of "
      "the other nodes in turn. \"ring\": from node to node, to compare with: as much throughput, "
      "and latency that grows with each node. The same on all nodes.";
  key.set = [](const Value& value, NodeConfig& config) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return false;
    const auto dissemination = dissemination_of_name(*text);
    if (dissemination) config.dissemination = *dissemination;
    return dissemination.has_value();
  };
  rows.push_back(std::move(key));
}

}  // namespace peal::cli
