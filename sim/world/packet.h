// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/ids.h"
#include "order/inspection/inspection.h"

namespace peal::sim {

/// The frame kind in a packet's header (wire/frames.h). `other` stands for a TRIAL, and for a kind
/// that no engine of this program names in its order::Inspection. Only kinds that the simulator's
/// code uses have a name here.
enum class PacketKind : std::uint8_t {
  other = 0,
  token = 1,
  data = 2,
  join = 3,
  commit = 4,
  state = 32,
  submit = 33,
  propose = 34,
  prepare = 35,
  promise = 36,
  decided = 40,
};
inline constexpr std::size_t kPacketKinds = 256;

/// True if packets of this kind carry units.
bool carries_units(PacketKind kind);
std::string_view packet_kind_name(PacketKind kind);
/// The kind of packet with this name, if an engine of this program has such packets.
std::optional<PacketKind> packet_kind_of_name(std::string_view name);
PacketKind packet_kind_of(ByteView bytes);
/// Returns the names of all kinds: "token, data, ... or other".
std::string packet_kinds_text();

using PacketIndex = std::uint32_t;

/// A packet in transit. A PacketStore owns the bytes, so a sender's crash does not affect them.
struct Packet {
  std::vector<std::byte> bytes;
  std::uint32_t references = 0;
  NodeId from{};
  NodeId to{};  ///< 0: all nodes
  Lane lane = Lane::data;
  PacketKind kind = PacketKind::other;
};

inline order::InspectedPacket inspected(const Packet& packet) {
  return {static_cast<std::uint8_t>(packet.kind), packet.bytes};
}
/// Properties of a packet that only its content shows.
order::PacketContent content_of(const Packet& packet);
/// Describes content_of() for transcripts; empty if the packet has no such properties.
std::string content_text(const Packet& packet);

/// Holds packets by index and counts references to them; reuses memory.
class PacketStore {
 public:
  /// Stores a copy of `bytes`, with one reference.
  PacketIndex add(ByteView bytes, NodeId from, NodeId to, Lane lane) {
    PacketIndex index;
    if (free_.empty()) {
      index = static_cast<PacketIndex>(packets_.size());
      packets_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    Packet& packet = packets_[index];
    packet.bytes.assign(bytes.begin(), bytes.end());
    packet.references = 1;
    packet.from = from;
    packet.to = to;
    packet.lane = lane;
    packet.kind = packet_kind_of(bytes);
    return index;
  }
  Packet& operator[](PacketIndex index) { return packets_[index]; }
  const Packet& operator[](PacketIndex index) const { return packets_[index]; }
  void hold(PacketIndex index) { ++packets_[index].references; }
  void release(PacketIndex index) {
    PEAL_ASSERT(packets_[index].references > 0);
    if (--packets_[index].references == 0) free_.push_back(index);
  }
  std::size_t in_use() const { return packets_.size() - free_.size(); }

 private:
  std::deque<Packet> packets_;  // a deque: references must stay valid while packets are added
  std::vector<PacketIndex> free_;
};

}  // namespace peal::sim
