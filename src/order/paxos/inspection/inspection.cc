// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/inspection/inspection.h"

#include <memory>
#include <optional>
#include <vector>

#include "order/paxos/inspection/ghost.h"
#include "wire/frames.h"
#include "wire/paxos.h"

namespace peal::order::paxos {
namespace {

using wire::PaxosKind;

std::optional<wire::ValueFrame> value_in(PaxosKind kind, ByteView packet) {
  wire::ValueFrame frame;
  if (kind == PaxosKind::relay || kind == PaxosKind::distribute) {
    wire::Relay relay;
    if (wire::decode_relay(packet, relay) != wire::Drop::none) return std::nullopt;
    frame.instance = relay.instance;
    frame.head = relay.head;
    return frame;
  }
  if (kind != PaxosKind::propose && kind != PaxosKind::decided) return std::nullopt;
  if (wire::decode_value(packet, frame) != wire::Drop::none) return std::nullopt;
  return frame;
}

std::unique_ptr<Ghost> make_ghost(const GhostSetup& setup, const GhostReport& report) {
  const std::vector<std::uint64_t> clusters{setup.cluster};
  return std::make_unique<GhostEnsembles>(clusters, false, setup.on_disk, report);
}

}  // namespace

PacketContent content_of(const InspectedPacket& packet) {
  PacketContent content;
  const auto kind = static_cast<PaxosKind>(packet.kind);
  if (kind == PaxosKind::state) {
    wire::State state;
    if (wire::decode_state(packet.bytes, state) == wire::Drop::none) {
      content.told_votes = state.voted_upto;
    }
  } else if (const auto value = value_in(kind, packet.bytes)) {
    content.position = value->instance;
    content.proposes_view = (kind == PaxosKind::propose || kind == PaxosKind::relay) &&
                            value->head.kind == wire::ValueKind::view;
  }
  return content;
}

constinit const Inspection kInspection{
    .engine = "paxos", .packets = kPacketNames, .content = &content_of, .make_ghost = &make_ghost};

}  // namespace peal::order::paxos
