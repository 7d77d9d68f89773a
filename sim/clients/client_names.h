// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/random.h"
#include "oracle/groups.h"

namespace peal::sim {

/// Returns "#CLIENT#nNODE".
inline std::string private_name(std::string_view client, NodeId node) {
  return "#" + std::string(client) + "#n" + std::to_string(node.value);
}

/// Maps private names to the ids of clients, for the whole cluster. No two clients of a run share a
/// name.
class ClientNames {
 public:
  void set(const std::string& private_name, const oracle::ClientId& id) { ids_[private_name] = id; }
  /// Moves all clients of the incarnation `before` to the incarnation `now`.
  void renamed(MemberId before, MemberId now) {
    for (auto& [name, id] : ids_) {
      if (id.node == before) id.node = now;
    }
  }
  const oracle::ClientId* find(std::string_view private_name) const {
    const auto at = ids_.find(private_name);
    return at == ids_.end() ? nullptr : &at->second;
  }
  /// A random private name; empty if there are no names.
  std::string draw(Random& random) const {
    if (ids_.empty()) return {};
    return std::next(ids_.begin(), static_cast<std::ptrdiff_t>(random.below(ids_.size())))->first;
  }

 private:
  std::map<std::string, oracle::ClientId, std::less<>> ids_;
};

}  // namespace peal::sim
