// SPDX-License-Identifier: Apache-2.0
// The tables [[domain]].

#include <algorithm>
#include <set>
#include <utility>

#include "config/file/lists.h"
#include "config/schema.h"

namespace peal::config {
namespace {

constexpr std::size_t kGroupsMax = 1'000;

/// Reads a list of 1 to kNodesMax distinct node numbers; returns false if `value` is anything else.
bool read_node_numbers(const Value& value, std::vector<NodeId>& out) {
  const auto* numbers = std::get_if<Numbers>(&value);
  if (numbers == nullptr || numbers->empty() || numbers->size() > kNodesMax) return false;
  std::set<std::int64_t> seen;
  std::vector<NodeId> nodes;
  for (const std::int64_t number : *numbers) {
    if (number < 1 || number > std::int64_t{kNodeNumberMax} || !seen.insert(number).second) {
      return false;
    }
    nodes.push_back(NodeId{static_cast<std::uint32_t>(number)});
  }
  out = std::move(nodes);
  return true;
}

Key<DomainEntry> nodes_key() {
  Key<DomainEntry> key{
      "domain", "nodes",
      "the numbers of its nodes; those that are not in the list of nodes (yet) do not count"};
  key.accepted =
      "a list of 1 to 128 different numbers of nodes, from 1 to 65535, such as [1, 2, 3]";
  for (const order::Descriptor* each : engines_with(&order::Traits::genuine)) {
    key.accepted += "; with order = " + quote(each->name) + " 1 to " +
                    std::to_string(each->traits.domain_nodes_most);
  }
  key.example = "[1, 2, 3]";
  key.absent = "needed";
  key.needed = true;
  key.set = [](const Value& value, DomainEntry& domain) {
    return read_node_numbers(value, domain.nodes);
  };
  return key;
}

Key<DomainEntry> acceptors_of_domain() {
  Key<DomainEntry> key{"domain", "acceptors", "the nodes that vote; each needs a data_dir"};
  key.accepted = "an odd number of different numbers of the domain's nodes, such as [1, 2, 3]";
  key.example = "[1, 2, 3]";
  key.absent = "all of up to two that are in the list, three of up to four, else the five lowest";
  key.set = [](const Value& value, DomainEntry& domain) {
    return read_node_numbers(value, domain.acceptors) && domain.acceptors.size() % 2 == 1;
  };
  return key;
}

Key<DomainEntry> groups_key() {
  Key<DomainEntry> key{"domain", "groups",
                       "process groups of the domain: clients at its nodes alone can join them"};
  key.accepted =
      "a list of up to 1000 names of groups, or of their beginnings and '*', such as [\"east-*\"]";
  key.example = "[\"east-*\"]";
  key.absent = "none";
  key.set = [](const Value& value, DomainEntry& domain) {
    const auto* groups = std::get_if<Texts>(&value);
    if (groups == nullptr || groups->size() > kGroupsMax) return false;
    for (const std::string& each : *groups) {
      if (!is_pattern(each) || each.front() == '#') return false;
    }
    domain.groups = *groups;
    return true;
  };
  return key;
}

std::vector<Key<DomainEntry>> make_domain_keys() {
  std::vector<Key<DomainEntry>> keys;
  keys.push_back(text_key<DomainEntry>(
      {"domain", "name", "its name in `peal status` and errors"}, std::string(kAcceptedName),
      "east", [](const std::string& typed) { return is_name(typed); },
      [](auto& domain) -> auto& { return domain.name; }));
  keys.back().absent = "needed";
  keys.back().needed = true;
  keys.push_back(nodes_key());
  keys.push_back(acceptors_of_domain());
  keys.push_back(groups_key());
  return keys;
}

Status read_domain(const toml::table& table, File& out) {
  DomainEntry domain;
  Lines lines;
  auto read = read_table(out.path, domain_list(), table, domain, lines,
                         [](const DomainEntry&) { return std::string(); });
  if (!read) return read;
  const Place place{out.path, lines[""]};
  for (const DomainEntry& other : out.settings.domains) {
    if (other.name != domain.name) continue;
    return refuse(place, "domain.name = " + quote(domain.name) +
                             " is there twice: accepted is a name of its own for each domain");
  }
  for (const NodeId node : domain.acceptors) {
    if (std::find(domain.nodes.begin(), domain.nodes.end(), node) != domain.nodes.end()) continue;
    const Key<DomainEntry>* key = find_key<DomainEntry>(domain_list().keys, "domain", "acceptors");
    return refuse(place, "domain.acceptors of " + quote(domain.name) + " has " +
                             std::to_string(node.value) +
                             ", which is none of its nodes: accepted is " + key->accepted);
  }
  out.lines.emplace("[[domain]]", place.line);
  out.lines["domain " + quote(domain.name)] = place.line;
  out.settings.domains.push_back(std::move(domain));
  return {};
}

}  // namespace

const List<DomainEntry>& domain_list() {
  static const std::vector<Key<DomainEntry>> kKeys = make_domain_keys();
  static const List<DomainEntry> kList{
      "domain", 0, kDomainsMax, kKeys,
      "Some nodes with an order of their own, up to 15 times. Only the nodes of a domain learn the "
      "messages that are sent to it, and only their links carry them; each node delivers all that "
      "it learns in one order. The same on all nodes; where nodes keep logs, for as long as they "
      "keep them"};
  return kList;
}

Status read_domains(const toml::key& name, const toml::node& node, File& out) {
  const List<DomainEntry>& list = domain_list();
  const auto tables = tables_of({out.path, line_of(name.source())}, list.name, node,
                                accepted_tables(list), list.least, list.most);
  if (!tables) return unexpected(tables.error());
  for (const toml::table* table : *tables) {
    if (auto read = read_domain(*table, out); !read) return read;
  }
  return {};
}

}  // namespace peal::config
