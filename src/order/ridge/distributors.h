// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"

namespace peal::order::ridge {

/// Chooses the node that sends a decided value to the other nodes. Usually this is the node that
/// has sent the fewest bytes, so that all nodes share the load. But a node that already has the
/// value is chosen if it has not sent much more. The counts of bytes include only values for which
/// this object chose the node, so different nodes may have different counts.
class Distributors {
 public:
  /// Chooses from `able`, the nodes that can distribute: sorted, not empty. The chosen node will
  /// send `bytes`. A node that was not in `able` at the last call begins with the minimum count.
  /// `wanted`: a node that has the value, if any. If `wanted` is in `able`, it is chosen even if it
  /// has sent kAhead * `bytes` more than the node that has sent the least.
  NodeId choose(const std::vector<NodeId>& able, std::uint64_t bytes, NodeId wanted = {});

  void add_to(Digest& digest) const;

 private:
  static constexpr std::uint64_t kAhead = 8;

  /// For each node that was in `able` at the last call: the bytes that it sent, above the minimum.
  std::map<NodeId, std::uint64_t> sent_;
};

}  // namespace peal::order::ridge
