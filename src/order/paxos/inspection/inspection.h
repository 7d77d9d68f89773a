// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "order/inspection/inspection.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

extern const Inspection kInspection;

// Used by engines that are variants of this engine.

constexpr PacketName named(wire::PaxosKind kind, std::string_view name,
                           bool carries_units = false) {
  return {static_cast<std::uint8_t>(kind), name, carries_units};
}

inline constexpr std::array kPacketNames{named(wire::PaxosKind::state, "state"),
                                         named(wire::PaxosKind::submit, "submit", true),
                                         named(wire::PaxosKind::propose, "propose", true),
                                         named(wire::PaxosKind::prepare, "prepare"),
                                         named(wire::PaxosKind::promise, "promise"),
                                         named(wire::PaxosKind::fetch, "fetch"),
                                         named(wire::PaxosKind::fetched, "fetched", true),
                                         named(wire::PaxosKind::repeat, "repeat"),
                                         named(wire::PaxosKind::decided, "decided", true),
                                         named(wire::PaxosKind::checkpoint_get, "checkpoint-get"),
                                         named(wire::PaxosKind::checkpoint, "checkpoint"),
                                         named(wire::PaxosKind::relay, "relay", true),
                                         named(wire::PaxosKind::distribute, "distribute", true),
                                         named(wire::PaxosKind::lacks, "lacks"),
                                         named(wire::PaxosKind::pass, "pass"),
                                         named(wire::PaxosKind::lives, "lives"),
                                         named(wire::PaxosKind::link_check, "link-check"),
                                         named(wire::PaxosKind::recall, "recall"),
                                         named(wire::PaxosKind::word, "word", true),
                                         named(wire::PaxosKind::log_heard, "log-heard")};
static_assert(kPacketNames.size() == wire::kPaxosKinds);

PacketContent content_of(const InspectedPacket& packet);

}  // namespace peal::order::paxos
