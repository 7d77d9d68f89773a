// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/buffer.h"
#include "order/engine.h"
#include "order/ramcast/keys.h"
#include "order/ramcast/layout.h"
#include "order/ramcast/options.h"
#include "port/memory.h"
#include "wire/ramcast.h"

namespace peal::order::ramcast {

/// Counters of RamCast since the start.
struct Counts {
  std::uint64_t units_sent = 0, units_taken = 0, proposals = 0, acknowledged = 0, delivered = 0,
                writes = 0, denied = 0, down = 0, refused = 0, takeovers = 0, rounds = 0, pulls = 0,
                relays = 0, queries = 0, no_buffer = 0, views = 0, regrants = 0, retained = 0,
                caught_up = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(wire::Drop::count_)> drops{};
};

/// How a server stands towards the rounds of its domain.
struct Standing {
  enum class Role : std::uint8_t {
    follower,
    candidate,      ///< asks the others for their states
    synchronizing,  ///< has written its base, which a quorum does not yet hold
    leader,
  };
  Role role = Role::follower;
  wire::Round promised{};      ///< takes part in no lower round
  wire::Round synchronized{};  ///< has the complete base of this round
  bool active = false;         ///< a quorum has the base: the server may deliver
  /// A view has excluded this server, as it was told what that view owes to it: it delivers only
  /// this, until it is outside.
  bool left_behind = false;
  /// The next entry of the log names a message whose slot has a message that members may lack.
  bool waits_for_slot = false;
  std::uint64_t entry = 0;  ///< the last log entry of the round that this server has processed
  /// All proposals of the domain up to this clock that may ever commit are known here.
  std::uint64_t certified = 0;

  bool leads() const { return role == Role::synchronizing || role == Role::leader; }
  /// The server follows, or leads, the round that it has promised.
  bool in_step() const { return promised != wire::Round{} && promised == synchronized; }
  /// The server takes part in an order that has begun.
  bool has_order() const { return synchronized != wire::Round{}; }
  /// This server has an order, and the round belongs to another one: of a process that asks to
  /// begin one, because it has not heard of the order yet. Such a round says nothing to this
  /// server; numbers of rounds of the one order never continue those of the other.
  bool is_foreign(const wire::Round& round) const {
    return has_order() && order_of(round) != order_of(synchronized);
  }
};

/// The time between two attempts to find out about a message grows up to so many times the first
/// one.
inline constexpr std::int64_t kSlowestRepair = 32;

/// Packets up to this size go on the control lane.
inline constexpr std::size_t kControlBytesMax = 1'400;

/// Buffers that units from senders, and those of the log, do not use.
inline constexpr std::uint32_t kBuffersForPackets = 64;

/// What the classes of one engine share. Each class also has its own state, and changes the state
/// of another class only by calling functions of that class.
struct Parts {
  const Options& options;
  const Layout& layout;
  const MemberId& self;
  NodeIndex index;  ///< of this node
  unsigned domain;  ///< of this node; 0: it only sends
  Place place;      ///< of this node in its domain
  std::uint64_t cluster;
  wire::Checksum checksum;
  port::Memory& memory;
  BufferPool& pool;
  Host& host;
  Clock& clock;
  Standing& standing;
  Counts& counts;

  bool serves() const { return domain != 0; }
  /// Units leave some buffers to packets, without which the servers could not go on to deliver.
  bool has_buffer_for_unit() const { return pool.free_count() > kBuffersForPackets; }
  unsigned quorum() const { return layout.quorum(domain); }
  /// A message may go to these domains, and this server's is one of them.
  bool is_for_us(wire::DomainBits to) const {
    return (to & ~layout.all()) == 0 && ((to >> domain) & 1U) != 0;
  }
  void drop(wire::Drop reason) const { ++counts.drops[static_cast<std::size_t>(reason)]; }

  /// Sends the frame that `encode(header, bytes)` writes. A packet for which no buffer is free is
  /// lost, as on any network.
  template <class Encode>
  void send(NodeIndex to, Effects& out, Encode encode) const {
    BufferRef packet = pool.take(0, options.packet_bytes_max);
    if (!packet) {
      ++counts.no_buffer;
      return;
    }
    wire::Header header;
    header.cluster = cluster;
    header.sender = self;
    header.checksum = checksum;
    const std::size_t bytes = encode(header, ByteSpan(packet.data(), packet.size()));
    if (bytes == 0) return;
    packet.truncate(static_cast<std::uint32_t>(bytes));
    // Larger packets may travel over streams.
    const Lane lane = bytes > kControlBytesMax ? Lane::data : Lane::control;
    out.send(layout.role(to).node, lane, packet);
  }
};

/// Sends the unit of a message to a server of its domains.
void send_relay(const Parts& parts, NodeIndex to, const wire::MessageRelay& frame, ByteView unit,
                Effects& out);

/// The largest unit: it fits a slot, a RELAY and a BACKLOG.
constexpr std::uint32_t unit_bytes_max(const Options& options) {
  return options.packet_bytes_max - static_cast<std::uint32_t>(wire::kBacklogBytesMax);
}

}  // namespace peal::order::ramcast
