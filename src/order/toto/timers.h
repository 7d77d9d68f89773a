// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/evs/timers.h"

// ToTo's own timers, in addition to those of the membership.

namespace peal::order::toto {

/// The end of a turn: units of this node are sent, and what arrived is acknowledged.
inline constexpr evs::Timer kTurnTimer = evs::Timer::engine_0;
/// The rate of acknowledgements allows the next one.
inline constexpr evs::Timer kAckTimer = evs::Timer::engine_1;
/// Nodes that are missing are requested.
inline constexpr evs::Timer kLacksTimer = evs::Timer::engine_2;
/// The next STATUS, and a look at which members are silent.
inline constexpr evs::Timer kStatusTimer = evs::Timer::engine_3;
/// The repair of the previous view takes too long.
inline constexpr evs::Timer kRecoveryGuardTimer = evs::Timer::engine_late;

}  // namespace peal::order::toto
