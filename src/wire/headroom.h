// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "wire/paxos.h"

namespace peal::wire {

/// Maximum number of bytes that an engine writes in front of a unit.
inline constexpr std::size_t kUnitHeadroomBytes = kRelayHeaderBytes + kPlacingBytes;

}  // namespace peal::wire
