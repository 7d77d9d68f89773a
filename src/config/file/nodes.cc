// SPDX-License-Identifier: Apache-2.0
// The tables [[nodes]].

#include <algorithm>
#include <utility>

#include "config/file/lists.h"
#include "config/schema.h"

namespace peal::config {
namespace {

bool is_node_address(const io::HostPort& address) {
  if (address.port < 1 || address.port > 65'534) return false;
  const auto number = io::endpoint_of(address);
  const bool broadcast = number && number->is_v4() && number->ip[12] >= 224;
  return !number || (!number->is_unspecified() && !number->is_multicast() && !broadcast);
}

Key<NodeRow> address_key() {
  Key<NodeRow> key{"nodes", "address",
                   "where the node listens, by UDP: tokens and control on this port, data on the "
                   "port above it, with data = \"streams\" by TCP. Two nodes on one machine need "
                   "ports that are at least 2 apart. All addresses are of one family"};
  key.accepted =
      "an IP address or a host name and a port, such as \"10.0.0.1:4801\", \"[fd00::1]:4801\" or "
      "\"node-1.example:4801\", port 1 to 65534 (the port above it is used too)";
  key.absent = "needed";
  key.needed = true;
  key.set = [](const Value& value, NodeRow& row) {
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr) row.address = io::parse_host_port(*text, 0).value_or(io::HostPort{});
    return text != nullptr && is_node_address(row.address);
  };
  return key;
}

std::vector<Key<NodeRow>> make_node_keys() {
  std::vector<Key<NodeRow>> keys;
  keys.push_back(text_key<NodeRow>(
      {"nodes", "name", "different for each node"}, std::string(kAcceptedName), "a",
      [](const std::string& typed) { return is_name(typed); },
      [](auto& row) -> auto& { return row.name; }));
  keys.back().absent = "needed";
  keys.back().needed = true;
  keys.push_back(address_key());
  keys.push_back(number_key<NodeRow>(
      {"nodes", "number",
       "how the other nodes know it: different for each node, and the same for it as long as it is "
       "in the list"},
      1, kNodeNumberMax, [](auto& row) -> auto& { return row.number; }));
  keys.back().normal.clear();
  keys.back().absent = "the entry's place in the file, from 1";
  return keys;
}

/// Adds a node; `name_place` and `address_place` are the places of its name and its address in the
/// file.
Status add(const NodeRow& entry, const Place& name_place, const Place& address_place,
           std::vector<NodeRow>& out) {
  for (const NodeRow& other : out) {
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
  out.push_back(entry);
  return {};
}

/// A node without a number gets its index in the file, from 1, as its number. No other node may
/// have that number.
Status number_nodes(std::string_view file, const std::vector<NodeRow>& rows, Settings& out) {
  const auto number_of = [&](const NodeRow& row) {
    const auto place = static_cast<std::uint32_t>(&row - rows.data() + 1);
    return row.number == 0 ? place : row.number;
  };
  const auto find = [&](std::uint32_t number) {
    return std::find_if(rows.begin(), rows.end(),
                        [&](const NodeRow& each) { return number_of(each) == number; });
  };
  for (const NodeRow& row : rows) {
    const std::uint32_t number = number_of(row);
    const auto first = find(number);
    if (&*first == &row) {
      out.nodes.push_back({row.name, row.address, NodeId{number}});
      continue;
    }
    std::uint32_t free = 1;
    while (find(free) != rows.end()) ++free;
    // The node whose number the error proposes to change: preferably a node without an explicit
    // number.
    const NodeRow& change = row.number != 0 && first->number == 0 ? *first : row;
    const NodeRow& other = &change == &row ? *first : row;
    return refuse({file, change.line},
                  "nodes.number = " + std::to_string(number) + " of " + quote(change.name) +
                      (change.number != 0 ? "" : ", its place in the file,") +
                      " is there twice: " + quote(other.name) + " has it too" +
                      (other.number != 0 ? "" : ", as its place in the file") +
                      ": accepted is a number of its own for each node, such as number = " +
                      std::to_string(free) + " for " + quote(change.name));
  }
  return {};
}

}  // namespace

const List<NodeRow>& node_list() {
  static const std::vector<Key<NodeRow>> kKeys = make_node_keys();
  static const List<NodeRow> kList{
      "nodes", 1, kNodesMax, kKeys,
      "The nodes of the cluster, up to limits.nodes_max, with the same names and numbers on all "
      "nodes. No node waits for those that do not run yet: they join when they start. Nodes "
      "are added and removed while the others run: write the list into all files, run `peal "
      "reload` on each, and `peal status` says what it waits for"};
  return kList;
}

Status read_nodes(const toml::key& name, const toml::node& node, File& out) {
  const List<NodeRow>& list = node_list();
  const auto tables = tables_of({out.path, line_of(name.source())}, list.name, node,
                                accepted_tables(list), list.least, list.most);
  if (!tables) return unexpected(tables.error());
  std::vector<NodeRow> rows;
  for (const toml::table* table : *tables) {
    NodeRow row;
    Lines lines;
    auto read = read_table(out.path, list, *table, row, lines, [](const NodeRow& each) {
      return each.name.empty() ? std::string() : " of " + each.name;
    });
    if (!read) return read;
    row.line = lines["address"];
    auto added = add(row, {out.path, lines["name"]}, {out.path, row.line}, rows);
    if (!added) return added;
    out.lines[address_line(row.name)] = row.line;
  }
  return number_nodes(out.path, rows, out.settings);
}

}  // namespace peal::config
