// SPDX-License-Identifier: Apache-2.0
#include "sim/world/node_domains.h"

#include <algorithm>

namespace peal::sim {

NodeDomains::NodeDomains(const WorldOptions& options)
    : genuine_(options.engine.is_genuine()),
      count_(options.domains.size()),
      random_(seed_for(options, 9)),
      domains_(options.nodes + 1) {
  std::vector<NodeId> all;
  for (std::uint32_t n = 1; n <= options.nodes; ++n) {
    all.push_back(NodeId{n});
    if (!genuine_ || count_ == 0) domains_[n].push_back(0);
    for (std::size_t i = 0; i < options.domains.size(); ++i) {
      const std::vector<NodeId>& nodes = options.domains[i].nodes;
      if (std::find(nodes.begin(), nodes.end(), NodeId{n}) == nodes.end()) continue;
      domains_[n].push_back(static_cast<order::Domain>(i + 1));
    }
  }
  if (!genuine_ || count_ == 0) {
    view_sets_.push_back(std::move(all));
    return;
  }
  for (const order::DomainNodes& each : options.domains) view_sets_.push_back(each.nodes);
}

// Draws from all the node's domains, including domain 0. A world without domains consumes no random
// number. With genuine multicast, half of the messages go to one domain, and the others to several.
DomainSet NodeDomains::draw(NodeId node) {
  const std::vector<order::Domain>& own = of(node);
  if (!genuine_) return DomainSet::of(own.size() == 1 ? own[0] : own[random_.below(own.size())]);
  if (count_ == 0) return {};
  DomainSet to = DomainSet::of(static_cast<order::Domain>(1 + random_.below(count_)));
  if (random_.chance(0.5)) return to;
  for (std::size_t i = 1; i <= count_; ++i) {
    if (random_.chance(0.5)) to.add(static_cast<order::Domain>(i));
  }
  return to;
}

void NodeDomains::note_place(DomainSet domains, Seq seq) {
  if (domains.empty()) placed_[0] = std::max(placed_[0], seq);
  for (const order::Domain domain : domains) placed_[domain] = std::max(placed_[domain], seq);
}

}  // namespace peal::sim
