// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/engine.h"
#include "order/toto/outlet.h"
#include "order/toto/parts.h"
#include "order/toto/sender.h"
#include "order/toto/watch.h"

namespace peal::order::toto {

/// What delays the next delivery or submission of a member that is in an open view.
WaitReason explain(const Parts& parts, const Outlet& outlet, const Sender& sender,
                   const Watch& watch);

}  // namespace peal::order::toto
