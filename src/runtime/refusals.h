// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/ids.h"
#include "seal/packet.h"
#include "trace/names.h"

namespace peal::runtime {

/// Remembers why packets of other nodes are refused, until a view has these nodes.
class Refusals {
 public:
  /// A packet from `from` could not be opened. Returns a message for a person if it is the first
  /// packet of this node that is refused for this reason, and the reason needs a message. Otherwise
  /// returns an empty text.
  std::string add(NodeId from, seal::Refusal reason, const trace::Names& names);
  /// Call when the engine refuses the node's packets.
  void add(NodeId from, std::string why) { why_[from] = std::move(why); }
  /// A view has this node: forgets why its packets were refused.
  void erase(NodeId node) {
    why_.erase(node);
    told_.erase(node);
  }
  /// Forgets which reasons were reported for nodes that are not `known`.
  template <class Known>
  void tell_again_unless(const Known& known) {
    std::erase_if(told_, [&](const auto& each) { return !known(each.first); });
  }
  void clear() {
    why_.clear();
    told_.clear();
  }

  /// Why the node's packets are refused, in one line; empty if no packet was refused, or if the
  /// reason needs no message.
  std::string why(NodeId node) const;

 private:
  std::map<NodeId, std::uint32_t> told_;  ///< by node: a bit for each reported reason
  std::map<NodeId, std::string> why_;
};

}  // namespace peal::runtime
