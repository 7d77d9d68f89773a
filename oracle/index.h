// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace peal::oracle {

/// A dense number of a remembered item: the items of each kind are numbered from 0, without holes.
using Index = std::uint32_t;
inline constexpr Index kNone = std::numeric_limits<Index>::max();

}  // namespace peal::oracle
