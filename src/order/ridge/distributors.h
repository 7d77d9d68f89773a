// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"

namespace peal::order::ridge {

/// Chooses which node sends a decided value to the other nodes: the node that has sent the fewest
/// bytes, so that all share the load; or a node that has the value already, if it has sent only
/// little more. This object counts only what this node chose: nothing depends on agreement with
/// other nodes.
class Distributors {
 public:
  /// Chooses from `able`, the nodes that can distribute, sorted and not empty; the chosen node will
  /// send `bytes`. A node that was not in `able` for a while begins at the minimum again. `wanted`:
  /// a node that has the value, if any. If `wanted` is in `able`, it is chosen even if it has sent
  /// kAhead * `bytes` more than the node that has sent the least.
  NodeId choose(const std::vector<NodeId>& able, std::uint64_t bytes, NodeId wanted = {});

  void add_to(Digest& digest) const;

 private:
  static constexpr std::uint64_t kAhead = 8;

  std::map<NodeId, std::uint64_t> sent_;  ///< bytes above the minimum, for each node that was able
                                          ///< at the last call
};

}  // namespace peal::order::ridge
