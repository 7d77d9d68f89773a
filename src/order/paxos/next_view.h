// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// The state from which a coordinator derives the next view.
struct ViewBasis {
  const OrderState& tip;  ///< state after all proposals of the coordinator
  /// The instance of the view of `tip`; or, if an earlier coordinator proposed that view, the last
  /// instance before this node led.
  Instance view_at;
  Instant now;
};

/// True if the node seems alive, may be in a view of this coordinator according to its links, and
/// either makes progress or has a full application.
bool is_served(const Parts& parts, const Peer& peer, Instant now);

/// The members that the next view should have.
std::vector<wire::ViewMember> wanted_members(const Parts& parts, const ViewBasis& basis);

}  // namespace peal::order::paxos
