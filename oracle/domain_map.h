// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/domain_set.h"
#include "base/ids.h"

namespace peal::oracle {

/// The domains of each node, from Options::domains. Without domains, all nodes are in domain 1.
class DomainMap {
 public:
  explicit DomainMap(const std::vector<std::vector<NodeId>>& domains)
      : whole_(domains.empty()), count_(whole_ ? 1 : domains.size()) {
    for (std::size_t i = 0; i < domains.size(); ++i) {
      for (const NodeId node : domains[i]) domains_[node.value].add(static_cast<DomainId>(i + 1));
    }
  }

  /// The domains that the node is in. Empty for a node that only sends.
  DomainSet of(NodeId node) const {
    if (whole_) return DomainSet::of(1);
    const auto known = domains_.find(node.value);
    return known == domains_.end() ? DomainSet() : known->second;
  }
  /// The domains that learn a message whose event names `domains`.
  DomainSet destinations(DomainSet domains) const { return domains.empty() ? all() : domains; }
  DomainSet all() const { return DomainSet::up_to(static_cast<std::uint32_t>(count_)); }
  std::size_t count() const { return count_; }

 private:
  bool whole_;
  std::size_t count_;
  std::unordered_map<std::uint32_t, DomainSet> domains_;
};

/// Such as "domain 2" or "domains 1,3".
inline std::string domains_text(DomainSet domains) {
  std::string text = domains.size() == 1 ? "domain " : "domains ";
  const char* between = "";
  for (const DomainId domain : domains) {
    text += between + std::to_string(domain);
    between = ",";
  }
  return text;
}

}  // namespace peal::oracle
