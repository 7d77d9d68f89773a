// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/domain_set.h"
#include "base/ids.h"
#include "order/engine.h"

namespace peal::group {

/// Groups whose messages only some nodes learn.
struct GroupDomain {
  std::string name;
  std::vector<NodeId> nodes;        ///< sorted
  std::vector<std::string> groups;  ///< names, or prefixes of names followed by '*'
  /// The names of `nodes`, as private names contain them. With Domains::Kind::nested, only texts
  /// need them.
  std::vector<std::string> node_names{};
};

/// Maps groups and messages to domains of the order. All nodes have the same domains; only `self`
/// differs.
class Domains {
 public:
  enum class Kind : std::uint8_t {
    /// All nodes learn the messages of domain 0, and so know the members of all groups. A message
    /// goes to one domain.
    nested,
    /// order::Traits::genuine: only the nodes of a group's domain know the members of the group. A
    /// message goes to the domains of all its targets. Without domains, all nodes are one.
    disjoint,
  };

  Domains() = default;
  /// The domains are numbered from 1.
  Domains(std::vector<GroupDomain> domains, NodeId self, Kind kind = Kind::nested);

  /// The first domain that lists the group. Disjoint: "*" lists only what no domain lists
  /// otherwise. Returns 0 if no domain lists the group. A private name is of domain 0 if domains
  /// are nested, and otherwise of its node's domain.
  order::Domain of_group(std::string_view group) const;
  /// The destinations of a message from this node to `targets`. Nested: the domain that all targets
  /// have in common, if this node is in that domain; otherwise none, so that all nodes learn the
  /// message, and nodes without receivers drop it. Disjoint: the domains of all targets; null if a
  /// target is of no domain.
  std::optional<DomainSet> destinations(std::span<const std::string_view> targets) const;
  /// The destinations of this node's messages about its clients' memberships.
  DomainSet home() const;
  /// True if clients of this node can join the group.
  bool may_join(std::string_view group) const;
  /// True if this node knows who gets messages to `target`.
  bool knows(std::string_view target) const;

  /// True if this node is in the domain. All nodes are in domain 0.
  bool has_self(order::Domain domain) const { return has(domain, self_); }
  bool has(order::Domain domain, NodeId node) const;
  /// `domain` must not be 0.
  const GroupDomain& at(order::Domain domain) const;
  bool is_disjoint() const { return kind_ == Kind::disjoint; }
  /// True if this node is in no domain, and so in no view: its clients cannot join groups.
  bool only_sends() const { return is_disjoint() && !domains_.empty() && home().empty(); }
  /// Keeps of `nodes` those that may be in a view with this node.
  void keep_own(std::vector<NodeId>& nodes) const;

  // The traffic that a node knows (traffic_logs.h) is kept apart for each domain. Disjoint: a node
  // knows only that of its own domain, which is number 0.
  /// The number of domains with traffic, including domain 0.
  std::size_t traffic_count() const { return is_disjoint() ? 1 : domains_.size() + 1; }
  /// Where a message from the node `from` to `targets` counts.
  order::Domain traffic_of(std::span<const std::string_view> targets, NodeId from) const;
  /// Where messages to the group alone count.
  order::Domain traffic_of(std::string_view group) const;

 private:
  order::Domain common_domain(std::span<const std::string_view> targets, NodeId from) const;
  order::Domain of_node_named(std::string_view node) const;

  std::vector<GroupDomain> domains_;
  NodeId self_{};
  Kind kind_ = Kind::nested;
};

/// True if `name` equals the pattern, or begins with the part before a '*' at the pattern's end.
bool fits(std::string_view pattern, std::string_view name);

}  // namespace peal::group
