// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/said_once.h"
#include "order/toto/parts.h"
#include "order/toto/vocabulary.h"

namespace peal::order::toto {

/// Counts nodes that contradict themselves or each other, and reports the member that sent one,
/// once for each view and member.
class RefusedNodes {
 public:
  explicit RefusedNodes(const Parts& parts) : p_(parts) {}

  void begin_view() {
    before_ = p_.graph.refused();
    said_.clear();
  }
  /// A packet of `from` has a node that contradicts itself or the view.
  void note(const MemberId& from, Effects& out) {
    before_ = p_.graph.refused();
    ++p_.counts.refused;
    p_.drop(wire::Drop::bad_value);
    if (!said_.first(from.node, 0)) return;
    out.report({&event::node_refused, p_.membership.view(), from, p_.counts.refused, 0});
  }
  /// After a packet of `from`: looks whether the graph has refused nodes since.
  void look(const MemberId& from, Effects& out) {
    if (p_.graph.refused() != before_) note(from, out);
  }

 private:
  Parts p_;
  SaidOnce said_;
  std::uint64_t before_ = 0;
};

}  // namespace peal::order::toto
