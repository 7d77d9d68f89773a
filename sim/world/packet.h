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

namespace peal::sim {

/// What the simulated network can tell about a packet: the frame kind in the header, with some
/// finer kinds that faults aim at.
enum class PacketKind : std::uint8_t {
  other = 0,  ///< damaged, random, of an unknown kind, or a TRIAL
  token = 1,
  data = 2,
  join = 3,
  commit = 4,
  probe = 5,
  hold_cancel = 6,
  epoch_notice = 7,
  // Of engines with acceptors, in the order of wire::PaxosKind.
  state = 8,
  submit = 9,
  propose = 10,
  prepare = 11,
  promise = 12,
  fetch = 13,
  fetched = 14,
  repeat = 15,
  decided = 16,
  checkpoint_get = 17,
  checkpoint = 18,
  relay = 19,
  distribute = 20,
  lacks = 21,
  pass = 22,
  lives = 23,
  link_check = 24,
  recall = 25,
  word = 26,
  log_heard = 27,
};
inline constexpr std::size_t kPacketKinds = 28;

/// Whether a packet of this kind carries units.
inline bool carries_units(PacketKind kind) {
  return kind == PacketKind::data || kind == PacketKind::submit || kind == PacketKind::propose ||
         kind == PacketKind::fetched || kind == PacketKind::decided || kind == PacketKind::relay ||
         kind == PacketKind::distribute || kind == PacketKind::word;
}

std::string_view packet_kind_name(PacketKind kind);
std::optional<PacketKind> packet_kind_of_name(std::string_view name);
PacketKind packet_kind_of(ByteView bytes);
/// "token, data, ... or other".
std::string packet_kinds_text();

using PacketIndex = std::uint32_t;

/// A packet in transit. The network owns the bytes, so a sender's crash does not affect them.
struct Packet {
  std::vector<std::byte> bytes;
  std::uint32_t references = 0;
  NodeId from{};
  NodeId to{};  ///< 0: all nodes
  Lane lane = Lane::data;
  PacketKind kind = PacketKind::other;
};

/// Holds packets by index and counts references to them; reuses memory.
class PacketStore {
 public:
  /// A copy of `bytes`, with one reference.
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
  std::deque<Packet> packets_;  // a deque, so that references stay valid while it grows
  std::vector<PacketIndex> free_;
};

}  // namespace peal::sim
