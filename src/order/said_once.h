// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace peal::order {

/// What was said about whom, so that a person is told each thing once. Grows by one entry for each
/// node that something is said about: call it for configured nodes, and node 0 for strangers.
class SaidOnce {
 public:
  /// True the first time for this node and reason; reasons are 0 to 31.
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
  /// Everything may be said again.
  void clear() { said_.clear(); }

 private:
  struct Said {
    NodeId node{};
    std::uint32_t reasons = 0;  ///< as bits
  };
  std::vector<Said> said_;
};

}  // namespace peal::order
