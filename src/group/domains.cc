// SPDX-License-Identifier: Apache-2.0
#include "group/domains.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::group {

bool fits(std::string_view pattern, std::string_view name) {
  if (pattern.empty() || pattern.back() != '*') return pattern == name;
  pattern.remove_suffix(1);
  return name.substr(0, pattern.size()) == pattern;
}

Domains::Domains(std::vector<GroupDomain> domains, NodeId self, Kind kind)
    : domains_(std::move(domains)), self_(self), kind_(kind) {}

order::Domain Domains::of_group(std::string_view group) const {
  if (group.empty()) return 0;
  if (group.front() == '#') {
    // Nested: the client may be at any node, and all nodes learn the message.
    return is_disjoint() ? of_node_named(group.substr(group.rfind('#') + 1)) : order::Domain{0};
  }
  order::Domain rest = 0;
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const auto domain = static_cast<order::Domain>(i + 1);
    for (const std::string& pattern : domains_[i].groups) {
      if (!fits(pattern, group)) continue;
      if (!is_disjoint() || pattern != "*") return domain;
      if (rest == 0) rest = domain;  // unless another domain names the group
    }
  }
  return rest;
}

order::Domain Domains::of_node_named(std::string_view node) const {
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const auto& names = domains_[i].node_names;
    if (std::find(names.begin(), names.end(), node) != names.end()) {
      return static_cast<order::Domain>(i + 1);
    }
  }
  return 0;
}

std::optional<DomainSet> Domains::destinations(std::span<const std::string_view> targets) const {
  if (!is_disjoint()) return DomainSet::of(common_domain(targets, self_));
  DomainSet all;
  if (domains_.empty()) return all;
  for (const std::string_view target : targets) {
    const order::Domain domain = of_group(target);
    if (domain == 0) return std::nullopt;
    all.add(domain);
  }
  if (PEAL_MUTANT(gm23_first_domain_only)) return DomainSet::of(all.first());
  if (PEAL_MUTANT(gm24_every_domain)) {
    return DomainSet::up_to(static_cast<std::uint32_t>(domains_.size()));
  }
  return all;
}

order::Domain Domains::common_domain(std::span<const std::string_view> targets, NodeId from) const {
  if (domains_.empty() || targets.empty()) return 0;
  const order::Domain first = of_group(targets.front());
  const bool one = std::all_of(targets.begin() + 1, targets.end(),
                               [&](std::string_view target) { return of_group(target) == first; });
  return one && has(first, from) ? first : order::Domain{0};
}

DomainSet Domains::home() const {
  DomainSet home;
  if (!is_disjoint()) return home;
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const auto domain = static_cast<order::Domain>(i + 1);
    if (has_self(domain)) home.add(domain);
  }
  return home;
}

bool Domains::may_join(std::string_view group) const {
  const order::Domain domain = of_group(group);
  if (domain == 0) return !is_disjoint() || domains_.empty();
  return has_self(domain);
}

bool Domains::knows(std::string_view target) const {
  return !is_disjoint() || domains_.empty() || home().has(of_group(target));
}

bool Domains::has(order::Domain domain, NodeId node) const {
  if (domain == 0) return true;
  const std::vector<NodeId>& nodes = at(domain).nodes;
  return std::binary_search(nodes.begin(), nodes.end(), node);
}

const GroupDomain& Domains::at(order::Domain domain) const {
  PEAL_ASSERT(domain >= 1 && domain <= domains_.size());
  return domains_[domain - 1];
}

void Domains::keep_own(std::vector<NodeId>& nodes) const {
  const DomainSet own = home();
  if (own.empty()) return;
  std::erase_if(nodes, [&](NodeId node) { return !has(own.first(), node); });
}

order::Domain Domains::traffic_of(std::span<const std::string_view> targets, NodeId from) const {
  return is_disjoint() ? order::Domain{0} : common_domain(targets, from);
}

order::Domain Domains::traffic_of(std::string_view group) const {
  return is_disjoint() ? order::Domain{0} : of_group(group);
}

}  // namespace peal::group
