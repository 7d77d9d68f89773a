// SPDX-License-Identifier: Apache-2.0
#include "cli/config_nodes.h"

#include <algorithm>
#include <utility>

#include "cli/config_text.h"
#include "cli/text.h"

namespace peal::cli {
namespace {

constexpr const char* kAcceptedNumber = "a whole number from 1 to 65535";

Status add(NodeEntry entry, const Place& name_place, const Place& address_place, NodeConfig& out) {
  for (const NodeEntry& other : out.nodes) {
    if (other.name == entry.name) {
      return refuse(name_place, "nodes.name = " + quote(entry.name) +
                                    " is there twice: accepted is a name of its own for each "
                                    "node, " +
                                    std::string(kAcceptedName));
    }
    const int apart = static_cast<int>(other.address.port) - entry.address.port;
    const auto number = io::endpoint_of(entry.address);
    const auto other_number = io::endpoint_of(other.address);
    if (number && other_number && other_number->is_v4() != number->is_v4()) {
      return refuse(address_place, "nodes.address = " + quote(io::to_string(entry.address)) +
                                       ": accepted are addresses of one family, and " + other.name +
                                       " has " + io::to_string(other.address));
    }
    if (other.address.host == entry.address.host && apart >= -1 && apart <= 1) {
      return refuse(address_place,
                    "nodes.address = " + quote(io::to_string(entry.address)) + " collides with " +
                        other.name + ", which has " + io::to_string(other.address) +
                        ": accepted are ports at least 2 apart on one address, as each node "
                        "also uses the port above its own");
    }
  }
  out.nodes.push_back(std::move(entry));
  return {};
}

Status read_entry(std::string_view file, const toml::table& table, NodeConfig& out) {
  Place place{file, line_of(table.source())};
  NodeEntry entry;
  std::uint32_t name_line = place.line;
  std::uint32_t address_line = place.line;
  for (auto&& [key, node] : table) {
    place.line = line_of(key.source());
    const auto* text = node.as_string();
    if (key == "name") {
      name_line = place.line;
      if (text == nullptr || !is_name(text->get())) {
        return refuse(place, not_accepted("nodes.name", node, kAcceptedName));
      }
      entry.name = text->get();
    } else if (key == "address") {
      address_line = entry.line = place.line;
      if (text != nullptr) {
        entry.address = io::parse_host_port(text->get(), 0).value_or(io::HostPort{});
      }
      if (text == nullptr || !is_node_address(entry.address)) {
        return refuse(place, not_accepted("nodes.address", node, kAcceptedAddress));
      }
    } else if (key == "number") {
      const auto number = node.value<std::int64_t>();
      if (!node.is_integer() || *number < 1 || *number > kNodeNumberMax) {
        return refuse(place, not_accepted("nodes.number", node, kAcceptedNumber));
      }
      entry.number = static_cast<std::uint32_t>(*number);
      entry.numbered = true;
    } else {
      return refuse(place, unknown_key("nodes.", key.str(), node, {"name", "address", "number"}));
    }
  }
  place.line = line_of(table.source());
  if (entry.name.empty()) {
    return refuse(place, "nodes.name is missing: accepted is " + std::string(kAcceptedName));
  }
  if (entry.address.port == 0) {
    return refuse(place, "nodes.address of " + entry.name + " is missing: accepted is " +
                             std::string(kAcceptedAddress));
  }
  return add(std::move(entry), {file, name_line}, {file, address_line}, out);
}

}  // namespace

Status read_nodes(std::string_view file, const toml::key& key, const toml::node& node,
                  NodeConfig& out) {
  const Place place{file, line_of(key.source())};
  const auto* list = node.as_array();
  if (list == nullptr || (!list->empty() && !list->is_homogeneous<toml::table>())) {
    return refuse(place, not_accepted("nodes", node,
                                      "1 to 128 tables [[nodes]], each with name and address"));
  }
  if (list->size() > kNodesMax) {
    return refuse(place, "nodes has " + std::to_string(list->size()) +
                             " entries: accepted are 1 to " + std::to_string(kNodesMax));
  }
  for (const auto& entry : *list) {
    auto done = read_entry(file, *entry.as_table(), out);
    if (!done) return done;
  }
  return {};
}

Status number_nodes(std::string_view file, NodeConfig& out) {
  const auto find = [&](std::uint32_t number) {
    return std::find_if(out.nodes.begin(), out.nodes.end(),
                        [&](const NodeEntry& each) { return each.number == number; });
  };
  const auto own = [](const NodeEntry& entry) {
    return entry.numbered ? "has it too" : "has it too, as its place in the file";
  };
  for (std::size_t i = 0; i < out.nodes.size(); ++i) {
    NodeEntry& entry = out.nodes[i];
    if (!entry.numbered) entry.number = static_cast<std::uint32_t>(i + 1);
  }
  for (const NodeEntry& entry : out.nodes) {
    const auto first = find(entry.number);
    if (&*first == &entry) continue;
    std::uint32_t free = 1;
    while (find(free) != out.nodes.end()) ++free;
    // The one that can be given another without anybody knowing it by this one already.
    const NodeEntry& change = entry.numbered && !first->numbered ? *first : entry;
    const NodeEntry& other = &change == &entry ? *first : entry;
    return refuse({file, change.line},
                  "nodes.number = " + std::to_string(entry.number) + " of " + quote(change.name) +
                      (change.numbered ? "" : ", its place in the file,") +
                      " is there twice: " + quote(other.name) + " " + own(other) +
                      ": accepted is a number of its own for each node, such as number = " +
                      std::to_string(free) + " for " + quote(change.name));
  }
  return {};
}

}  // namespace peal::cli
