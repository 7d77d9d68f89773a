// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"

namespace peal::order::ridge {

/// Chooses who sends a decided value to the others: whoever has sent the fewest bytes so far, so
/// that all share the work. What it knows is its own: nothing depends on others agreeing with it.
class Distributors {
 public:
  /// Of `able`, sorted and not empty; `bytes` will be sent by it. Who was not able for a while has
  /// nothing to catch up on.
  NodeId choose(const std::vector<NodeId>& able, std::uint64_t bytes);

  void add_to(Digest& digest) const;

 private:
  std::map<NodeId, std::uint64_t> sent_;  ///< bytes above the least; of those able last time
};

}  // namespace peal::order::ridge
