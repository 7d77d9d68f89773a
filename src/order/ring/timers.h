// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/evs/timers.h"

// The ring's own timers, in addition to the timers of the membership.

namespace peal::order::ring {

/// Ends the rest of an idle token.
inline constexpr evs::Timer kHoldTimer = evs::Timer::engine_0;
/// Passes on a token whose requests no member can answer.
inline constexpr evs::Timer kPaceTimer = evs::Timer::engine_1;
/// Repeats the request to the representative to release a resting token.
inline constexpr evs::Timer kHoldCancelTimer = evs::Timer::engine_2;
/// Starts the next visit if the view has only one member.
inline constexpr evs::Timer kVisitTimer = evs::Timer::engine_3;
/// Fires if the repair of the previous view takes too long.
inline constexpr evs::Timer kRecoveryGuardTimer = evs::Timer::engine_late;

}  // namespace peal::order::ring
