// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/vocabulary.h"

namespace peal::order {

namespace wait {

/// Something is to be ordered, and the token is elsewhere.
inline constexpr WaitKind token{"token", "the token to come round"};
/// The position is safe, and the node named does not have it yet.
inline constexpr WaitKind stability{"stability", "{who} to receive position {seq}, which is safe"};

}  // namespace wait

namespace event {

inline constexpr EventKind recovery_guard{"recovery_guard"};  ///< who blocked it

}  // namespace event

namespace gather {

inline constexpr GatherReason guard{"guard", "the repair of the view before took too long"};

}  // namespace gather

}  // namespace peal::order
