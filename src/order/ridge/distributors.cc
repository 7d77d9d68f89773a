// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/distributors.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::order::ridge {

NodeId Distributors::choose(const std::vector<NodeId>& able, std::uint64_t bytes, NodeId wanted) {
  PEAL_ASSERT(!able.empty());
  for (auto it = sent_.begin(); it != sent_.end();) {
    const bool stays = std::binary_search(able.begin(), able.end(), it->first);
    it = stays ? std::next(it) : sent_.erase(it);
  }
  std::uint64_t least = ~std::uint64_t{0};
  for (const auto& [node, sent] : sent_) least = std::min(least, sent);
  if (sent_.empty()) least = 0;
  for (auto& [node, sent] : sent_) sent -= least;
  NodeId chosen = able.front();
  for (const NodeId node : able) {
    if (sent_[node] < sent_[chosen]) chosen = node;
  }
  const bool has_it = std::binary_search(able.begin(), able.end(), wanted);
  if (has_it && sent_[wanted] <= sent_[chosen] + kAhead * bytes) chosen = wanted;
  sent_[chosen] += bytes;
  return chosen;
}

void Distributors::add_to(Digest& digest) const {
  digest.add(sent_.size());
  for (const auto& [node, sent] : sent_) {
    digest.add(node.value);
    digest.add(sent);
  }
}

}  // namespace peal::order::ridge
