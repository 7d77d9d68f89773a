// SPDX-License-Identifier: Apache-2.0
#include "config/domains.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "config/nodes.h"
#include "config/schema.h"
#include "wire/frames.h"

namespace peal::config {
namespace {

std::string key_of(const DomainEntry& domain, const char* field) {
  return std::string("domain.") + field + " of " + quote(domain.name);
}

std::string numbers_in(const std::vector<NodeId>& nodes) {
  std::string text;
  for (const NodeId node : nodes) text += " " + std::to_string(node.value);
  return text;
}

std::vector<NodeId> sorted(std::vector<NodeId> nodes) {
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

bool has_self(const Settings& settings, const DomainEntry& domain) {
  return std::find(domain.nodes.begin(), domain.nodes.end(), settings.self()) != domain.nodes.end();
}

/// The domain with this name; 0 if there is none.
order::Domain domain_named(const Settings& settings, std::string_view name) {
  for (std::size_t i = 0; i < settings.domains.size(); ++i) {
    if (settings.domains[i].name == name) return static_cast<order::Domain>(i + 1);
  }
  return 0;
}

/// The names of the domains, such as: "east", "west".
std::string domain_names_text(const Settings& settings, DomainSet domains) {
  std::string text;
  for (const order::Domain domain : domains) {
    text += (text.empty() ? "" : ", ") + quote(domain_name(settings, domain));
  }
  return text;
}

std::string accepted_domains_text(const Settings& settings, DomainSet accepted) {
  if (accepted.empty()) return "leave it out, and all nodes learn the message";
  // With a genuine engine a node may be in no domain, and then learns nothing.
  return "accepted is " + domain_names_text(settings, accepted) +
         (settings.order->traits.genuine
              ? ", or none, and the nodes of all domains learn the message"
              : ", or none, and all nodes learn the message");
}

using Checked = Result<void, std::string>;

/// Checks the node numbers of a domain; the nodes need not be in the list.
Checked validate_numbers(const std::string& key, const std::vector<NodeId>& nodes) {
  std::set<NodeId> seen;
  for (const NodeId node : nodes) {
    const std::string has = key + " has " + std::to_string(node.value);
    if (node.value < 1 || node.value > wire::kNodeMax) {
      return unexpected(has + ", which is not accepted: it must be 1 to " +
                        std::to_string(wire::kNodeMax));
    }
    if (!seen.insert(node).second) return unexpected(has + " twice, which is not accepted");
  }
  return {};
}

Checked validate_acceptors(const std::string& key, const DomainEntry& domain) {
  if (auto numbers = validate_numbers(key, domain.acceptors); !numbers) return numbers;
  for (const NodeId node : domain.acceptors) {
    if (std::find(domain.nodes.begin(), domain.nodes.end(), node) != domain.nodes.end()) continue;
    return unexpected(key + " has " + std::to_string(node.value) +
                      ", which is none of its nodes: accepted is an odd number of different "
                      "numbers of the domain's nodes");
  }
  if (domain.acceptors.empty() || domain.acceptors.size() % 2 == 1) return {};
  return unexpected(key + " has " + std::to_string(domain.acceptors.size()) +
                    " nodes, which is not accepted: it must be an odd number, since one more that "
                    "makes it even survives no more failures");
}

Checked validate_domain(const Settings& settings, std::size_t index) {
  const DomainEntry& domain = settings.domains[index];
  if (!trace::Names::valid(domain.name)) {
    return unexpected("domain.name = " + quote(domain.name) +
                      " is not accepted: it must be 1 to 255 letters, digits, '.', '_' or '-'");
  }
  const auto nodes = validate_numbers(key_of(domain, "nodes"), domain.nodes);
  if (!nodes) return nodes;
  const std::string acceptors = key_of(domain, "acceptors");
  if (auto checked = validate_acceptors(acceptors, domain); !checked) return checked;
  const auto most = settings.order->traits.acceptors_most;
  if (domain.acceptors.size() > most) {
    return unexpected(acceptors + " has " + std::to_string(domain.acceptors.size()) +
                      " nodes, which is not accepted: it must be at most " + std::to_string(most));
  }
  const bool named = !domain.acceptors.empty();
  const std::vector<NodeId>& voting = named ? domain.acceptors : domain.nodes;
  const auto is_there = [&](NodeId node) { return find(settings.nodes, node) != nullptr; };
  if (std::any_of(voting.begin(), voting.end(), is_there)) return {};
  return unexpected(std::string(named ? "domain.acceptors" : "domain.nodes") + " of " +
                    quote(domain.name) +
                    " has none of [[nodes]]: accepted are their numbers, from 1 in the order of "
                    "the file, and at least one must be there");
}

/// With Traits::genuine: without domains, all nodes are one domain.
Checked validate_one_domain(const Settings& settings) {
  const std::uint32_t most = settings.order->traits.domain_nodes_most;
  if (!settings.order->traits.genuine || settings.nodes.size() <= most) return {};
  return unexpected("nodes has " + std::to_string(settings.nodes.size()) +
                    " entries: with order = " + quote(settings.order->name) +
                    ", accepted are up to " + std::to_string(most) +
                    " without [[domain]]; divide them into domains");
}

/// With Traits::genuine: no group is named by two domains.
Checked validate_groups(const Settings& settings) {
  std::map<std::string, std::string> named;
  for (const DomainEntry& domain : settings.domains) {
    for (const std::string& group : domain.groups) {
      const auto [known, fresh] = named.emplace(group, domain.name);
      if (fresh || known->second == domain.name) continue;
      return unexpected(key_of(domain, "groups") + " has " + quote(group) + ", which is one of " +
                        quote(known->second) + ", too: accepted with " + "order = " +
                        quote(settings.order->name) + " are groups that one domain names");
    }
  }
  return {};
}

/// With Traits::genuine: no node is in two domains, all nodes of a domain vote, and there are not
/// too many of them.
Checked validate_disjoint(const Settings& settings) {
  const std::string with_order = " with order = " + quote(settings.order->name);
  const std::uint32_t most = settings.order->traits.domain_nodes_most;
  std::map<NodeId, std::string> taken;
  for (std::size_t i = 0; i < settings.domains.size(); ++i) {
    const DomainEntry& domain = settings.domains[i];
    if (!domain.acceptors.empty()) {
      return unexpected(key_of(domain, "acceptors") + " is not accepted" + with_order +
                        ": leave it out, since all nodes of a domain vote");
    }
    if (domain.nodes.size() > most) {
      return unexpected(key_of(domain, "nodes") + " has " + std::to_string(domain.nodes.size()) +
                        " nodes, which is not accepted" + with_order + ": it must be at most " +
                        std::to_string(most));
    }
    for (const NodeId node : domain.nodes) {
      const auto [known, fresh] = taken.emplace(node, domain.name);
      if (fresh) continue;
      return unexpected(key_of(domain, "nodes") + " has " + std::to_string(node.value) +
                        ", which is a node of " + quote(known->second) + ", too: accepted" +
                        with_order + " are domains that have no node in common");
    }
  }
  return {};
}

}  // namespace

Result<void, std::string> validate_domains(const Settings& settings) {
  if (settings.domains.empty()) return validate_one_domain(settings);
  if (!settings.order->traits.has_domains()) {
    return unexpected(
        clash("[[domain]]", *settings.order, engines_with(&order::Traits::has_domains)));
  }
  if (settings.domains.size() > kDomainsMax) {
    return unexpected("domain has " + std::to_string(settings.domains.size()) +
                      " entries: accepted are 0 to " + std::to_string(kDomainsMax));
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < settings.domains.size(); ++i) {
    if (auto checked = validate_domain(settings, i); !checked) return checked;
    if (names.insert(settings.domains[i].name).second) continue;
    return unexpected("domain.name = " + quote(settings.domains[i].name) +
                      " is not accepted: it must be different from the names before it");
  }
  if (!settings.order->traits.genuine) return {};
  if (auto checked = validate_disjoint(settings); !checked) return checked;
  return validate_groups(settings);
}

std::vector<order::DomainNodes> domain_nodes(const Settings& settings) {
  std::vector<order::DomainNodes> domains;
  for (const DomainEntry& domain : settings.domains) {
    domains.push_back({sorted(domain.nodes), sorted(domain.acceptors)});
  }
  return domains;
}

std::vector<order::NodeList> domain_parts(const Settings& settings, const order::NodeList& list) {
  std::vector<order::NodeList> parts;
  for (const order::DomainNodes& domain : domain_nodes(settings)) {
    parts.push_back(settings.order->part_of(domain, list));
  }
  return parts;
}

Result<DomainSet, std::string> destinations(const Settings& settings,
                                            std::span<const std::string_view> names) {
  const bool genuine = settings.order->traits.genuine;
  const auto all = DomainSet::up_to(static_cast<std::uint32_t>(settings.domains.size()));
  // With a genuine engine, a domain's nodes learn only messages to the domain.
  if (names.empty()) return genuine ? all : DomainSet();
  const DomainSet accepted = genuine ? all : own_domains(settings);
  DomainSet found;
  for (const std::string_view name : names) {
    const order::Domain domain = domain_named(settings, name);
    if (!accepted.has(domain)) {
      return unexpected("domain " + quote(name) +
                        (genuine ? " is not configured: " : " is none that this node is in: ") +
                        accepted_domains_text(settings, accepted));
    }
    found.add(domain);
  }
  if (genuine || found.size() <= 1) return found;
  return unexpected("domains " + domain_names_text(settings, found) +
                    " are not accepted together: with order = " + quote(settings.order->name) +
                    ", a message goes to one domain or to all nodes: name one domain, or none");
}

std::string_view domain_name(const Settings& settings, order::Domain domain) {
  if (domain == 0 || domain > settings.domains.size()) return {};
  return settings.domains[domain - 1].name;
}

DomainSet own_domains(const Settings& settings) {
  DomainSet own;
  for (std::size_t i = 0; i < settings.domains.size(); ++i) {
    if (has_self(settings, settings.domains[i])) own.add(static_cast<order::Domain>(i + 1));
  }
  return own;
}

bool may_share_view(const Settings& settings, NodeId node) {
  if (!settings.order->traits.genuine || settings.domains.empty()) return true;
  return std::any_of(
      settings.domains.begin(), settings.domains.end(), [&](const DomainEntry& each) {
        return has_self(settings, each) &&
               std::find(each.nodes.begin(), each.nodes.end(), node) != each.nodes.end();
      });
}

std::vector<std::string> own_domain_names(const Settings& settings) {
  std::vector<std::string> names;
  for (const order::Domain domain : own_domains(settings)) {
    names.push_back(settings.domains[domain - 1].name);
  }
  return names;
}

std::vector<std::string> absent_texts(const Settings& settings) {
  std::vector<std::string> lines;
  for (const DomainEntry& domain : settings.domains) {
    std::vector<NodeId> absent;
    for (const NodeId node : sorted(domain.nodes)) {
      if (find(settings.nodes, node) == nullptr) absent.push_back(node);
    }
    if (absent.empty()) continue;
    lines.push_back("domain " + quote(domain.name) + " counts without" + numbers_in(absent) +
                    " of its nodes, which the list of nodes does not have");
  }
  return lines;
}

bool votes_in_domain(const Settings& settings) {
  if (settings.domains.empty() || !settings.order->traits.has_acceptors()) return false;
  const std::vector<order::NodeList> parts = domain_parts(settings, list_of(settings.nodes));
  for (const order::Domain domain : own_domains(settings)) {
    const std::vector<NodeId>& acceptors = parts[domain - 1U].acceptors;
    if (std::binary_search(acceptors.begin(), acceptors.end(), settings.self())) return true;
  }
  return false;
}

std::string log_lines(const Settings& settings) {
  const std::uint32_t ensembles = needs_of(settings).ensembles;
  if (ensembles > 1) return "ensembles " + std::to_string(ensembles) + "\n";
  std::string text;
  for (const DomainEntry& domain : settings.domains) {
    text += "domain nodes" + numbers_in(sorted(domain.nodes));
    if (!domain.acceptors.empty()) text += " acceptors" + numbers_in(sorted(domain.acceptors));
    text += "\n";
  }
  return text;
}

void add_domains(const Settings& settings, Digest& rules) {
  if (settings.domains.empty()) return;
  rules.add(as_bytes_view("domains"));
  rules.add(as_bytes_view(log_lines(settings)));
  for (const DomainEntry& domain : settings.domains) {
    rules.add(as_bytes_view(domain.name));
    rules.add(domain.groups.size());
    for (const std::string& group : domain.groups) rules.add(as_bytes_view(group));
  }
}

std::string domains_text(const Settings& settings) {
  constexpr std::size_t kBytesMax = 255;
  std::string text;
  for (const DomainEntry& domain : settings.domains) {
    text += (text.empty() ? "" : "; ") + domain.name + ": nodes" + numbers_in(sorted(domain.nodes));
    if (!domain.acceptors.empty()) text += ", acceptors" + numbers_in(sorted(domain.acceptors));
    if (!domain.groups.empty()) text += ", groups " + joined(domain.groups);
  }
  if (text.size() <= kBytesMax) return text;
  const std::string end = " ... hash " + hex_digits(digest_of(as_bytes_view(text)));
  return text.substr(0, kBytesMax - end.size()) + end;
}

}  // namespace peal::config
