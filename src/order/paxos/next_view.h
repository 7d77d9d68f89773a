// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// What a coordinator bases the next view on.
struct ViewBasis {
  const OrderState& tip;  ///< state after all its proposals
  Instance view_at;       ///< the instance that proposed tip's view; or an instance consumed before
                          ///< this node led
  Instant now;
};

/// The node seems alive, its links work, and it makes progress if it can.
bool is_served(const Parts& parts, const Peer& peer, Instant now);

/// The members that the next view should have.
std::vector<wire::ViewMember> wanted_members(const Parts& parts, const ViewBasis& basis);

}  // namespace peal::order::paxos
