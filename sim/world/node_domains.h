// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "sim/world/options.h"

namespace peal::sim {

/// The domains of a cluster's nodes.
class NodeDomains {
 public:
  explicit NodeDomains(const WorldOptions& options);

  /// The domains whose messages the node learns: domain 0, and the domains that the node belongs
  /// to.
  const std::vector<order::Domain>& of(NodeId node) const { return domains_[node.value]; }
  /// One of the node's domains, at random, as the destinations of a message.
  DomainSet draw(NodeId node);

 private:
  Random random_;
  std::vector<std::vector<order::Domain>> domains_;  ///< by node; domain 0 is first
};

}  // namespace peal::sim
