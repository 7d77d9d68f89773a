// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "sim/world/packet.h"

// What only the content of a packet shows.

namespace peal::sim {

/// The position of a data packet, or the instance of a proposed or decided value.
std::optional<Seq> position_of(const Packet& packet);
/// Whether the packet proposes the members of the next view.
bool proposes_view(const Packet& packet);
/// The instance up to which a STATE says that its sender has voted.
std::optional<std::uint64_t> told_votes(const Packet& packet);

}  // namespace peal::sim
