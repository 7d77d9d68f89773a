// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "wire/paxos.h"

namespace peal::wire {

/// The most bytes that any engine writes in front of a unit.
inline constexpr std::size_t kUnitHeadroomBytes = kRelayHeaderBytes + kPlacingBytes;

}  // namespace peal::wire
