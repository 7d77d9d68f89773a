// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// What a coordinator judges the next view by.
struct ViewBasis {
  const OrderState& tip;  ///< after all that it proposed
  Instance view_at;       ///< where tip's view was proposed, or an instance consumed before
  Instant now;
};

/// The node seems alive, its links work, and it comes further if it can.
bool is_served(const Parts& parts, const Peer& peer, Instant now);

/// Who should be in the next view.
std::vector<wire::ViewMember> wanted_members(const Parts& parts, const ViewBasis& basis);

}  // namespace peal::order::paxos
