// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "sim/world/options.h"

namespace peal::sim {

/// The domains of a cluster's nodes. With genuine multicast (order::Traits::genuine), each domain
/// has views of its own, a node may send to any set of domains, and a node in no domain only sends.
class NodeDomains {
 public:
  explicit NodeDomains(const WorldOptions& options);

  /// The domains whose messages the node learns: domain 0, and the domains that the node belongs
  /// to. With genuine multicast: the node's domain, or none; domain 0 if there are no domains.
  const std::vector<order::Domain>& of(NodeId node) const { return domains_[node.value]; }
  /// Random destinations of a message of this node: one of its domains, or, with genuine multicast,
  /// any domains.
  DomainSet draw(NodeId node);
  /// Number of configured domains.
  std::size_t count() const { return count_; }
  bool is_genuine() const { return genuine_; }

  /// The sets of nodes that form views: the domains, with genuine multicast; otherwise all nodes.
  const std::vector<std::vector<NodeId>>& view_sets() const { return view_sets_; }
  bool has_view(NodeId node) const { return !of(node).empty(); }
  /// The set of view_sets() that the node is in. The node must have a view.
  const std::vector<NodeId>& view_nodes(NodeId node) const {
    return genuine_ && count_ > 0 ? view_sets_[of(node).front() - 1U] : view_sets_.front();
  }

  // With genuine multicast: what is known of the places of messages.
  /// A node knows that a unit to these domains has this place.
  void note_place(DomainSet domains, Seq seq);
  /// A node of `domain` has delivered everything up to this place.
  void note_delivery(order::Domain domain, Seq seq) {
    delivered_[domain] = std::max(delivered_[domain], seq);
  }
  /// True if some node of the domain has delivered everything to it that is known to have a place.
  bool is_delivered(order::Domain domain) const { return delivered_[domain] >= placed_[domain]; }
  /// All nodes have restarted: what was not delivered is lost.
  void forget_places() { placed_ = delivered_; }
  Seq last_place(order::Domain domain) const { return placed_[domain]; }

 private:
  bool genuine_;
  std::size_t count_;
  Random random_;
  std::vector<std::vector<order::Domain>> domains_;  ///< by node; domain 0 is first
  std::vector<std::vector<NodeId>> view_sets_;
  std::array<Seq, kDomainMax + 1> placed_{};     ///< by domain; 0: all nodes
  std::array<Seq, kDomainMax + 1> delivered_{};  ///< by domain
};

}  // namespace peal::sim
