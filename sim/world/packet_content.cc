// SPDX-License-Identifier: Apache-2.0
#include "sim/world/packet_content.h"

#include "wire/frames.h"
#include "wire/paxos.h"

namespace peal::sim {
namespace {

std::optional<wire::ValueFrame> value_of(const Packet& packet) {
  wire::ValueFrame frame;
  if (packet.kind == PacketKind::relay || packet.kind == PacketKind::distribute) {
    wire::Relay relay;
    if (wire::decode_relay(packet.bytes, relay) != wire::Drop::none) return std::nullopt;
    frame.instance = relay.instance;
    frame.head = relay.head;
    return frame;
  }
  if (packet.kind != PacketKind::propose && packet.kind != PacketKind::decided) return std::nullopt;
  if (wire::decode_value(packet.bytes, frame) != wire::Drop::none) return std::nullopt;
  return frame;
}

}  // namespace

std::optional<Seq> position_of(const Packet& packet) {
  if (packet.kind == PacketKind::data) {
    wire::Data data;
    if (wire::decode_data(packet.bytes, data) != wire::Drop::none) return std::nullopt;
    return data.seq;
  }
  const auto value = value_of(packet);
  return value ? std::optional<Seq>(value->instance) : std::nullopt;
}

bool proposes_view(const Packet& packet) {
  const auto value = value_of(packet);
  const bool proposes = packet.kind == PacketKind::propose || packet.kind == PacketKind::relay;
  return value && proposes && value->head.kind == wire::ValueKind::view;
}

std::optional<std::uint64_t> told_votes(const Packet& packet) {
  wire::State state;
  if (packet.kind != PacketKind::state) return std::nullopt;
  if (wire::decode_state(packet.bytes, state) != wire::Drop::none) return std::nullopt;
  return state.voted_upto;
}

}  // namespace peal::sim
