// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/vocabulary.h"

namespace peal::order {

namespace wait {

/// Units wait for the token, which is elsewhere.
inline constexpr WaitKind token{"token", "the token to come round"};
/// The unit at the position has the service safe, and {who} does not have the unit yet.
inline constexpr WaitKind stability{"stability", "{who} to receive position {seq}, which is safe"};

}  // namespace wait

namespace event {

inline constexpr EventKind recovery_guard{"recovery_guard"};  ///< view; who = the member that
                                                              ///< blocked the repair; a = rounds

}  // namespace event

namespace gather {

inline constexpr GatherReason guard{"guard", "recovery of the old view took too long"};

}  // namespace gather

}  // namespace peal::order
