// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "sim/world/packet.h"

// What only a look into a packet can tell.

namespace peal::sim {

/// Of a data packet its position; of a proposed or decided value its instance.
std::optional<Seq> position_of(const Packet& packet);
/// A value that is the members of the next view, proposed.
bool proposes_view(const Packet& packet);
/// Up to which instance a STATE says that its sender has voted.
std::optional<std::uint64_t> told_votes(const Packet& packet);

}  // namespace peal::sim
