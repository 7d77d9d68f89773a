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
  std::vector<std::string> groups;  ///< names, or beginnings of names with '*' behind
};

/// In which domain of the order a message is. The same on all nodes, but for which of them this is.
class Domains {
 public:
  Domains() = default;
  /// Domain 1 and so on.
  Domains(std::vector<GroupDomain> domains, NodeId self);

  /// Of the first domain that names the group; 0 if none does, and for private names: then all
  /// nodes learn its messages.
  order::Domain of_group(std::string_view group) const;
  /// Of a message from this node to these targets: the one of all of them, if this node is in it.
  /// Else all nodes learn it, and those who need not know it drop it.
  order::Domain of_message(std::span<const std::string_view> targets) const {
    return of_message(targets, self_);
  }
  /// The same of one from any node.
  order::Domain of_message(std::span<const std::string_view> targets, NodeId from) const;
  /// Is this node in the domain? All are in domain 0.
  bool has_self(order::Domain domain) const { return has(domain, self_); }
  bool has(order::Domain domain, NodeId node) const;
  /// Domains 0 to this one, exclusive.
  std::size_t count() const { return domains_.size() + 1; }
  /// Not of domain 0.
  const GroupDomain& at(order::Domain domain) const;

 private:
  std::vector<GroupDomain> domains_;
  NodeId self_{};
};

/// A name, or with '*' at its end any name that begins so.
bool fits(std::string_view pattern, std::string_view name);

}  // namespace peal::group
