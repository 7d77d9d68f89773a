// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "wire/ramcast_memory.h"

namespace peal::order::ramcast {

/// Index of a configured node among all configured nodes, which are sorted. Equal on all nodes.
using NodeIndex = std::uint16_t;
/// Index of a node among the nodes of its domain.
using Place = std::uint8_t;

/// A node, as all nodes know it from the configuration.
struct NodeRole {
  NodeId node{};
  unsigned domain = 0;  ///< 0: the node only sends
  Place place = 0;      ///< in its domain
};

/// Which nodes are the servers of which domains.
class Layout {
 public:
  /// `nodes`: all configured nodes, sorted. `domains`: element i is domain i + 1; sorted, disjoint,
  /// at most kDomainNodesMax nodes each. Numbers that are not among `nodes` do not count. Without
  /// domains, all nodes are domain 1.
  Layout(std::vector<NodeId> nodes, std::vector<std::vector<NodeId>> domains);

  std::size_t nodes() const { return roles_.size(); }
  const NodeRole& role(NodeIndex index) const { return roles_[index]; }
  std::optional<NodeIndex> index_of(NodeId node) const;
  /// These are incarnations of the domain's servers, one of each.
  template <class Members>
  bool is_roster(const Members& members, unsigned domain) const {
    return std::equal(members.begin(), members.end(), servers_[domain].begin(),
                      servers_[domain].end(), [this](const MemberId& member, NodeIndex server) {
                        return member.node == roles_[server].node;
                      });
  }
  /// The configuration has domains. If not, hosts name none, and all nodes are one.
  bool is_divided() const { return is_divided_; }
  /// Number of domains; their numbers are 1 to domains().
  unsigned domains() const { return static_cast<unsigned>(servers_.size()) - 1; }
  /// The servers of a domain, by place.
  const std::vector<NodeIndex>& servers(unsigned domain) const { return servers_[domain]; }
  /// Servers of a domain that are a majority.
  unsigned quorum(unsigned domain) const {
    return static_cast<unsigned>(servers_[domain].size()) / 2 + 1;
  }
  /// All domains.
  wire::DomainBits all() const;

 private:
  bool is_divided_;
  std::vector<NodeRole> roles_;
  std::vector<std::vector<NodeIndex>> servers_;
};

}  // namespace peal::order::ramcast
