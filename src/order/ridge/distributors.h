// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"

namespace peal::order::ridge {

/// Chooses who sends a decided value to the others: whoever has sent the fewest bytes so far, so
/// that all share the work; or who has the value already, if it is hardly ahead of the others. What
/// it knows is its own: nothing depends on others agreeing with it.
class Distributors {
 public:
  /// Of `able`, sorted and not empty; `bytes` will be sent by it. Who was not able for a while has
  /// nothing to catch up on. `wanted` is who has the value, if anybody of them does: it may be
  /// ahead by as much as kAhead such values.
  NodeId choose(const std::vector<NodeId>& able, std::uint64_t bytes, NodeId wanted = {});

  void add_to(Digest& digest) const;

 private:
  static constexpr std::uint64_t kAhead = 8;

  std::map<NodeId, std::uint64_t> sent_;  ///< bytes above the least; of those able last time
};

}  // namespace peal::order::ridge
