// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/engine.h"
#include "order/said_once.h"

namespace peal::order {

/// Reports nodes whose packets are ignored because their configuration differs: each once per
/// reason.
class IncompatiblePeers {
 public:
  /// `sender`: as its packet says; the empty one if the packet cannot be read. `known`: it is one
  /// of the configured nodes; all others are reported as one. `reason`: a wire::Drop. `view`: the
  /// last installed view.
  void report(const MemberId& sender, bool known, unsigned reason, const ViewId& view,
              Effects& out) {
    if (!said_.first(known ? sender.node : NodeId{}, reason)) return;
    out.report({&event::incompatible_peer, view, sender, reason, 0});
  }
  /// The list of nodes is another one: all are reported again.
  void clear() { said_.clear(); }

 private:
  SaidOnce said_;
};

}  // namespace peal::order
