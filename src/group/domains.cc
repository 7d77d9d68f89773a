// SPDX-License-Identifier: Apache-2.0
#include "group/domains.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace peal::group {

bool fits(std::string_view pattern, std::string_view name) {
  if (pattern.empty() || pattern.back() != '*') return pattern == name;
  pattern.remove_suffix(1);
  return name.substr(0, pattern.size()) == pattern;
}

Domains::Domains(std::vector<GroupDomain> domains, NodeId self)
    : domains_(std::move(domains)), self_(self) {}

order::Domain Domains::of_group(std::string_view group) const {
  // A private name: its client may be at any node.
  if (group.empty() || group.front() == '#') return 0;
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const auto& groups = domains_[i].groups;
    if (std::any_of(groups.begin(), groups.end(),
                    [group](const std::string& pattern) { return fits(pattern, group); })) {
      return static_cast<order::Domain>(i + 1);
    }
  }
  return 0;
}

order::Domain Domains::of_message(std::span<const std::string_view> targets, NodeId from) const {
  if (domains_.empty() || targets.empty()) return 0;
  const order::Domain first = of_group(targets.front());
  const bool one = std::all_of(targets.begin() + 1, targets.end(),
                               [&](std::string_view target) { return of_group(target) == first; });
  return one && has(first, from) ? first : order::Domain{0};
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

}  // namespace peal::group
