// SPDX-License-Identifier: Apache-2.0
#include "cli/config_domains.h"

#include <algorithm>
#include <set>
#include <vector>

#include "cli/config_rules.h"
#include "cli/config_text.h"
#include "cli/text.h"

namespace peal::cli {
namespace {

constexpr std::string_view kAcceptedDomainNodes =
    "a list of 1 to 128 different numbers of nodes, from 1 to 65535, such as [1, 2, 3]";
constexpr std::string_view kAcceptedDomainAcceptors =
    "an odd number of different numbers of the domain's nodes, such as [1, 2, 3]";
constexpr std::size_t kGroupsMax = 1'000;
constexpr std::string_view kAcceptedDomainGroups =
    "a list of up to 1000 names of groups, or of their beginnings and '*', such as [\"east-*\"]";

/// Different numbers of nodes; false if it is anything else.
bool read_node_numbers(const toml::node& node, std::vector<std::uint32_t>& out) {
  const Value value = value_of(node);
  const auto* numbers = std::get_if<Numbers>(&value);
  if (numbers == nullptr || numbers->empty() || numbers->size() > kNodesMax) return false;
  std::set<std::int64_t> seen;
  for (const std::int64_t number : *numbers) {
    if (number < 1 || number > kNodeNumberMax || !seen.insert(number).second) return false;
    out.push_back(static_cast<std::uint32_t>(number));
  }
  return true;
}

bool read_groups(const toml::node& node, std::vector<std::string>& out) {
  const auto* list = node.as_array();
  if (list == nullptr || list->size() > kGroupsMax) return false;
  for (const auto& each : *list) {
    const auto* text = each.as_string();
    if (text == nullptr || !is_pattern(text->get()) || text->get().front() == '#') return false;
    out.push_back(text->get());
  }
  return true;
}

/// One key of one table: whether it is accepted, and else what would be.
Status read_key(const Place& place, const toml::key& key, const toml::node& node,
                DomainEntry& out) {
  const std::string path = "domain." + std::string(key.str());
  if (key == "name") {
    const auto* text = node.as_string();
    if (text == nullptr || !is_name(text->get())) {
      return refuse(place, not_accepted(path, node, kAcceptedName));
    }
    out.name = text->get();
  } else if (key == "nodes") {
    if (!read_node_numbers(node, out.nodes))
      return refuse(place, not_accepted(path, node, kAcceptedDomainNodes));
  } else if (key == "acceptors") {
    if (!read_node_numbers(node, out.acceptors) || out.acceptors.size() % 2 == 0) {
      return refuse(place, not_accepted(path, node, kAcceptedDomainAcceptors));
    }
  } else if (key == "groups") {
    if (!read_groups(node, out.groups)) {
      return refuse(place, not_accepted(path, node, kAcceptedDomainGroups));
    }
  } else {
    return refuse(
        place, unknown_key("domain.", key.str(), node, {"name", "nodes", "acceptors", "groups"}));
  }
  return {};
}

Status read_domain(std::string_view file, const toml::table& table, NodeConfig& config) {
  DomainEntry entry;
  Place place{file, line_of(table.source())};
  entry.line = place.line;
  for (auto&& [key, node] : table) {
    place.line = line_of(key.source());
    if (auto done = read_key(place, key, node, entry); !done) return done;
  }
  place.line = entry.line;
  if (entry.name.empty()) {
    return refuse(place, "domain.name is missing: accepted is " + std::string(kAcceptedName));
  }
  if (entry.nodes.empty()) {
    return refuse(place,
                  "domain.nodes is missing: accepted is " + std::string(kAcceptedDomainNodes));
  }
  for (const DomainEntry& other : config.domains) {
    if (other.name != entry.name) continue;
    return refuse(place, "domain.name = " + quote(entry.name) +
                             " is there twice: accepted is a name of its own for each domain");
  }
  for (const std::uint32_t acceptor : entry.acceptors) {
    if (std::find(entry.nodes.begin(), entry.nodes.end(), acceptor) != entry.nodes.end()) continue;
    return refuse(place, "domain.acceptors of " + quote(entry.name) + " has " +
                             std::to_string(acceptor) +
                             ", which is none of its nodes: accepted is " +
                             std::string(kAcceptedDomainAcceptors));
  }
  config.domains.push_back(std::move(entry));
  return {};
}

}  // namespace

Result<void, std::string> read_domains(std::string_view file, const toml::key& key,
                                       const toml::node& node, NodeConfig& out) {
  const Place place{file, line_of(key.source())};
  const auto* list = node.as_array();
  if (list == nullptr || (!list->empty() && !list->is_homogeneous<toml::table>())) {
    return refuse(place,
                  not_accepted("domain", node, "tables [[domain]], each with name and nodes"));
  }
  if (list->size() > kDomainsMax) {
    return refuse(place, "domain has " + std::to_string(list->size()) +
                             " entries: accepted are 0 to " + std::to_string(kDomainsMax));
  }
  for (const auto& entry : *list) {
    if (auto done = read_domain(file, *entry.as_table(), out); !done) return done;
  }
  return {};
}

Result<void, std::string> check_domains(const NodeConfig& config) {
  if (config.domains.empty()) return {};
  const Place place{config.file, config.domains.front().line};
  if (!config.order->traits.ensembles) {
    return refuse(place, "[[domain]] does not go with order = \"" +
                             std::string(config.order->name) +
                             "\": leave it out, or set order = \"ridge\"");
  }
  const char* clash = config.ensembles > 1                ? "ridge.ensembles"
                      : config.optimistic                 ? "ridge.optimistic"
                      : config.storage == Storage::memory ? "paxos.storage = \"memory\""
                                                          : nullptr;
  if (clash != nullptr) {
    return refuse(
        place, std::string("[[domain]] does not go with ") + clash + ": leave one of the two out");
  }
  for (const DomainEntry& domain : config.domains) {
    const auto is_there = [&](std::uint32_t number) {
      return std::any_of(config.nodes.begin(), config.nodes.end(),
                         [&](const NodeEntry& each) { return each.number == number; });
    };
    const auto& voting = domain.acceptors.empty() ? domain.nodes : domain.acceptors;
    if (std::any_of(voting.begin(), voting.end(), is_there)) continue;
    return refuse({config.file, domain.line},
                  std::string(domain.acceptors.empty() ? "domain.nodes" : "domain.acceptors") +
                      " of " + quote(domain.name) +
                      " has none of [[nodes]]: accepted are their numbers, from 1 in the order of "
                      "the file, and at least one must be there");
  }
  return {};
}

std::string domains_help() {
  return R"(# With order = "ridge": some nodes with an order of their own, up to 15 times. What is
# sent to a domain, only its nodes learn, and only their links carry it; each of them has it in one
# order with what all nodes learn. nodes: their numbers, from 1 in the order of [[nodes]] unless
# those say another; some may be of nodes to come. acceptors: who votes, an odd number of them;
# default: all of up to two, three of up to four, else the five lowest. groups: of clients, whose
# messages go to the domain: a name, or its beginning and '*'; only clients at its nodes can join
# them. The same on all nodes, for as long as they keep their logs.
#[[domain]]
#name = "east"
#nodes = [1, 2, 3]
#acceptors = [1, 2, 3]
#groups = ["east-*"]

)";
}

}  // namespace peal::cli
