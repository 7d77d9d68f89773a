// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/layout.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::order::ramcast {

Layout::Layout(std::vector<NodeId> nodes, std::vector<std::vector<NodeId>> domains)
    : is_divided_(!domains.empty()) {
  if (domains.empty()) domains.push_back(nodes);
  PEAL_ASSERT(domains.size() <= wire::kDomainsMax);
  for (const NodeId node : nodes) roles_.push_back({node, 0, 0});
  servers_.resize(domains.size() + 1);
  for (unsigned domain = 1; domain <= domains.size(); ++domain) {
    for (const NodeId node : domains[domain - 1]) {
      const auto index = index_of(node);
      if (!index) continue;  // there is no such node (yet)
      PEAL_ASSERT(roles_[*index].domain == 0);
      NodeRole& role = roles_[*index];
      role.domain = domain;
      role.place = static_cast<Place>(servers_[domain].size());
      servers_[domain].push_back(*index);
    }
    PEAL_ASSERT(!servers_[domain].empty() && servers_[domain].size() <= wire::kDomainNodesMax);
  }
}

std::optional<NodeIndex> Layout::index_of(NodeId node) const {
  const auto found =
      std::lower_bound(roles_.begin(), roles_.end(), node,
                       [](const NodeRole& role, NodeId id) { return role.node < id; });
  if (found == roles_.end() || found->node != node) return std::nullopt;
  return static_cast<NodeIndex>(found - roles_.begin());
}

wire::DomainBits Layout::all() const {
  return static_cast<wire::DomainBits>((1U << (domains() + 1)) - 2);
}

}  // namespace peal::order::ramcast
