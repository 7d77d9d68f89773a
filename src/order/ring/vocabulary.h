// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/vocabulary.h"

namespace peal::order {

namespace wait {

/// This node's units wait for the next visit of the token.
inline constexpr WaitKind token{"token", "the token to come round"};
/// The unit at position {seq} has the service safe, and {who} does not have this unit yet.
inline constexpr WaitKind stability{"stability", "{who} to receive position {seq}, which is safe"};

}  // namespace wait

namespace event {

/// view; who = the member that blocks recovery; a = rotations of the attempt's token.
inline constexpr EventKind recovery_guard{"recovery_guard"};

}  // namespace event

namespace gather {

inline constexpr GatherReason guard{"guard", "recovery of the old view took too long"};

}  // namespace gather

}  // namespace peal::order
