// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"

namespace peal::order::ridge {

/// Chooses which node sends a decided value to the others: the one that has sent the fewest bytes,
/// so that all share the load; or one that has the value already, if it is hardly ahead of the
/// others. Its knowledge is local: nothing depends on agreement with other nodes.
class Distributors {
 public:
  /// Chooses from `able`, sorted and not empty; the chosen node will send `bytes`. A node that was
  /// not able for a while does not catch up. `wanted` is a node in `able` that has the value, if
  /// any: it may be ahead by kAhead such values.
  NodeId choose(const std::vector<NodeId>& able, std::uint64_t bytes, NodeId wanted = {});

  void add_to(Digest& digest) const;

 private:
  static constexpr std::uint64_t kAhead = 8;

  std::map<NodeId, std::uint64_t> sent_;  ///< bytes above the minimum; of the nodes able at the
                                          ///< last call
};

}  // namespace peal::order::ridge
