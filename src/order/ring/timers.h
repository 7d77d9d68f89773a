// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/evs/timers.h"

// The ring's own deadlines, beside those of the membership.

namespace peal::order::ring {

/// An idle token may rest no longer.
inline constexpr evs::Timer kHoldTimer = evs::Timer::engine_0;
/// A token whose requests nobody can answer goes on.
inline constexpr evs::Timer kPaceTimer = evs::Timer::engine_1;
/// Ask the holder of a resting token again.
inline constexpr evs::Timer kHoldCancelTimer = evs::Timer::engine_2;
/// The only member of a view visits itself.
inline constexpr evs::Timer kVisitTimer = evs::Timer::engine_3;
/// The repair of the view before takes too long.
inline constexpr evs::Timer kRecoveryGuardTimer = evs::Timer::engine_late;

}  // namespace peal::order::ring
