// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/said_once.h"
#include "order/toto/parts.h"
#include "order/toto/vocabulary.h"

namespace peal::order::toto {

/// Counts nodes that contradict themselves or each other, and reports whose they are, once for each
/// view and member: the origin of a node that can never join, and the transmitter of any other
/// packet.
class RefusedNodes {
 public:
  explicit RefusedNodes(const Parts& parts) : p_(parts) {}

  void begin_view() {
    before_ = p_.graph.refused();
    said_.clear();
  }
  /// A packet of `from` contradicts itself or the view.
  void note(const MemberId& from, Effects& out) {
    before_ = p_.graph.refused();
    ++p_.counts.refused;
    p_.drop(wire::Drop::bad_value);
    if (!said_.first(from.node, 0)) return;
    out.report({&event::node_refused, p_.membership.view(), from, p_.counts.refused, 0});
  }
  /// Looks whether the graph has refused nodes since the last call. Such a node may have been
  /// stored long before the packet that made it ready.
  void look(Effects& out) {
    if (p_.graph.refused() == before_) return;
    note(p_.membership.members()[p_.graph.refused_origin()], out);
  }

 private:
  Parts p_;
  SaidOnce said_;
  std::uint64_t before_ = 0;
};

}  // namespace peal::order::toto
