// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "order/engine.h"

namespace peal::group {

/// Groups whose messages only some nodes learn.
struct GroupDomain {
  std::string name;
  std::vector<NodeId> nodes;        ///< sorted
  std::vector<std::string> groups;  ///< names, or prefixes of names followed by '*'
};

/// Maps groups and messages to domains of the order. All nodes have the same domains; only `self`
/// differs.
class Domains {
 public:
  Domains() = default;
  /// The domains are numbered from 1.
  Domains(std::vector<GroupDomain> domains, NodeId self);

  /// The first domain that lists the group. Returns 0 for a private name, and if no domain lists
  /// the group: all nodes learn the messages of domain 0.
  order::Domain of_group(std::string_view group) const;
  /// The domain of a message from this node to `targets`: the domain that all targets have in
  /// common, if this node is in that domain. Otherwise 0: all nodes learn the message, and nodes
  /// without receivers drop it.
  order::Domain of_message(std::span<const std::string_view> targets) const {
    return of_message(targets, self_);
  }
  /// As of_message(targets), for a message from the node `from`.
  order::Domain of_message(std::span<const std::string_view> targets, NodeId from) const;
  /// True if this node is in the domain. All nodes are in domain 0.
  bool has_self(order::Domain domain) const { return has(domain, self_); }
  bool has(order::Domain domain, NodeId node) const;
  /// Number of domains, including domain 0.
  std::size_t count() const { return domains_.size() + 1; }
  /// `domain` must not be 0.
  const GroupDomain& at(order::Domain domain) const;

 private:
  std::vector<GroupDomain> domains_;
  NodeId self_{};
};

/// True if `name` equals the pattern, or begins with the part before a '*' at the pattern's end.
bool fits(std::string_view pattern, std::string_view name);

}  // namespace peal::group
