// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/domain_set.h"
#include "base/ids.h"
#include "order/setup.h"

namespace peal::sim::genuine {

/// A position of the order: a clock value, and below it a number that makes keys of equal clocks
/// differ. The largest stamp of a message is its key.
using Key = std::uint64_t;

/// The domains of a cluster. Without configured domains, all nodes are domain 1.
class Layout {
 public:
  explicit Layout(const order::Setup& setup) : whole_(setup.domains.empty()) {
    nodes_.resize(1 + (whole_ ? 1 : setup.domains.size()));
    if (whole_) nodes_[1] = setup.list.nodes;
    for (std::size_t i = 0; i < setup.domains.size(); ++i) nodes_[i + 1] = setup.domains[i].nodes;
  }

  DomainSet all() const { return DomainSet::up_to(static_cast<std::uint32_t>(nodes_.size() - 1)); }
  std::size_t count() const { return nodes_.size() - 1; }
  const std::vector<NodeId>& nodes(DomainId domain) const { return nodes_[domain]; }
  /// The domain of the node; 0 if the node only sends.
  DomainId domain_of(NodeId node) const {
    for (const DomainId domain : all()) {
      for (const NodeId each : nodes_[domain]) {
        if (each == node) return domain;
      }
    }
    return 0;
  }
  std::size_t majority(DomainId domain) const { return nodes_[domain].size() / 2 + 1; }

  /// The destinations that a host names, as a set that is not empty.
  DomainSet from_host(DomainSet domains) const { return domains.empty() ? all() : domains; }
  /// The destinations as a host named them.
  DomainSet to_host(DomainSet domains) const { return whole_ ? DomainSet{} : domains; }
  bool accepts(DomainSet domains) const {
    return !domains.empty() && (domains.bits() & ~all().bits()) == 0;
  }

 private:
  bool whole_;
  std::vector<std::vector<NodeId>> nodes_;  ///< by domain
};

}  // namespace peal::sim::genuine
