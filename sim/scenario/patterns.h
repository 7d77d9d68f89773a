// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/scenario/tokenizer.h"
#include "sim/world/packet.h"
#include "sim/world/world.h"

namespace peal::sim {

/// The packet that an `on packet` or a `run until packet` line waits for.
struct PacketPattern {
  std::optional<PacketKind> kind;
  std::vector<NodeId> from, to;  ///< empty: any node
  std::optional<std::uint32_t> phase;
  std::optional<Seq> seq;
  bool recovering = false;
  bool view = false;

  bool matches(const Packet& packet, const World& world) const;
};

/// The event that an `on event` or `run until event` line waits for, or that an `expect events`
/// line counts.
struct EventPattern {
  std::vector<NodeId> nodes;
  const order::EventKind* kind = nullptr;

  bool matches(MemberId node, const order::Event& event) const;
};

using Pattern = std::variant<PacketPattern, EventPattern>;

/// Syntax: [kind=commit] [phase 2] [seq 5] [from n1] [to n2] [recovering] [view]
PacketPattern read_packet_pattern(Tokenizer& words);
/// Syntax: n1,n2 recovery_started
EventPattern read_event_pattern(Tokenizer& words);
/// The kind of packet that the value of `key` names. nullopt if the key is absent or the kind is
/// unknown.
std::optional<PacketKind> read_packet_kind(Tokenizer& words, std::string_view key);

}  // namespace peal::sim
