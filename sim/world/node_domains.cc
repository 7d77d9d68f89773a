// SPDX-License-Identifier: Apache-2.0
#include "sim/world/node_domains.h"

#include <algorithm>

namespace peal::sim {

NodeDomains::NodeDomains(const WorldOptions& options)
    : random_(seed_for(options, 9)), domains_(options.nodes + 1) {
  for (std::uint32_t n = 1; n <= options.nodes; ++n) {
    domains_[n].push_back(0);
    for (std::size_t i = 0; i < options.domains.size(); ++i) {
      const std::vector<NodeId>& nodes = options.domains[i].nodes;
      if (std::find(nodes.begin(), nodes.end(), NodeId{n}) == nodes.end()) continue;
      domains_[n].push_back(static_cast<order::Domain>(i + 1));
    }
  }
}

// Draws from all the node's domains, including domain 0. A world without domains consumes no random
// number.
DomainSet NodeDomains::draw(NodeId node) {
  const std::vector<order::Domain>& own = of(node);
  return DomainSet::of(own.size() == 1 ? own[0] : own[random_.below(own.size())]);
}

}  // namespace peal::sim
