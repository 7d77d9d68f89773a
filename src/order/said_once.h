// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace peal::order {

/// Remembers the reported reasons of each node, so that each reason is reported once per node.
/// first() adds an entry for each new node, and entries stay until clear(). So the caller must pass
/// node 0 in place of any node that is not configured.
class SaidOnce {
 public:
  /// True at the first call with this node and this reason. Reasons are 0 to 31.
  bool first(NodeId node, unsigned reason) {
    const std::uint32_t bit = 1U << reason;
    const auto said = std::find_if(said_.begin(), said_.end(),
                                   [&](const Said& each) { return each.node == node; });
    if (said == said_.end()) {
      said_.push_back({node, bit});
      return true;
    }
    const bool fresh = (said->reasons & bit) == 0;
    said->reasons |= bit;
    return fresh;
  }
  /// Forgets all reports, so that each reason is reported again.
  void clear() { said_.clear(); }

 private:
  struct Said {
    NodeId node{};
    std::uint32_t reasons = 0;  ///< bit i: reason i was reported
  };
  std::vector<Said> said_;
};

}  // namespace peal::order
