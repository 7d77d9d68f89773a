// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"
#include "sim/world/network.h"
#include "sim/world/packet.h"

// A model of switched Ethernet and of its cost for hosts. The model computes how long a datagram
// occupies a link, how long it waits, whether it overflows a buffer, and how much processor time it
// takes. In place of a switch there may be a bus: one cable that all nodes share. Off by default:
// scenarios with faults do not need the model.

namespace peal::sim {

/// Processor time to handle one datagram or message.
struct WorkCost {
  Duration each{};           ///< per datagram or message
  Duration per_frame{};      ///< per frame beyond the first, if IP fragments the datagram
  std::int64_t byte_ps = 0;  ///< per byte, in picoseconds

  Duration of(std::size_t bytes, std::uint32_t frames) const {
    return each + per_frame * (frames - 1) +
           Duration{byte_ps * static_cast<std::int64_t>(bytes) / 1'000};
  }
};

/// Costs in the single thread of a node. `deliver` and `submit` include the path between a daemon
/// and its clients, if there are clients.
struct CpuCosts {
  WorkCost send;     ///< per datagram, unicast or multicast
  WorkCost receive;  ///< per datagram
  WorkCost deliver;  ///< per message
  WorkCost submit;   ///< per message
  /// Per write into the memory of another node; its owner's processor has no part in it.
  WorkCost write{};
  /// Per message delivered, once everything that the node sends in the same step has left.
  WorkCost finish{};
};

struct NetModelOptions {
  std::uint32_t megabits = 10'000;  ///< Mb/s of every network card and switch port
  /// Time from the switch's port to the socket, without queueing: cables, card, interrupt, wake-up.
  Duration latency = microseconds(10);
  /// `latency` varies at random by up to this much, in both directions, for each packet and node.
  Duration jitter{};
  /// If above 0, the nodes share one bus. A packet of a kind that carries units occupies the bus
  /// for this time, even if it has no unit. Any other packet occupies it for the time of its bytes.
  Duration bus_message{};
  /// How long a card delays the interrupt for a first packet, so that the interrupt covers later
  /// packets too.
  Duration coalesce{};
  std::uint32_t mtu = 1'500;
  // Writes into the memory of other nodes. Cards pass them on in pieces, and ports lose none.
  Duration write{};       ///< from the switch's port to the memory, without queueing
  Duration write_done{};  ///< then until the writer knows that the bytes are there
  /// Buffer of each output port. A port drops frames that do not fit.
  std::uint32_t port_buffer_bytes = 256U << 10;
  double data_loss = 0;  ///< share of received data packets that each node drops
  CpuCosts cpu;
};

/// The Ethernet frames of a datagram.
struct Frames {
  std::uint32_t count = 1;
  std::uint32_t full_bytes = 0;  ///< bytes on the wire of each frame except the last
  std::uint32_t last_bytes = 0;

  std::uint32_t bytes_of(std::uint32_t frame) const {
    return frame + 1 == count ? last_bytes : full_bytes;
  }
};

/// A datagram between its sender's card and the switch's ports.
struct Flight {
  PacketIndex packet = 0;
  NodeId from{};
  std::uint32_t frame = 0;  ///< the next frame to reach the switch
  Frames frames;
  std::bitset<kNodesMax + 1> lost;  ///< receivers that miss a frame of the datagram
};

/// Models links, network cards and switch ports. The switch stores whole frames before it forwards
/// them. A port's buffer is limited in bytes; a full buffer drops the arriving frame. A bus carries
/// one datagram at a time, in the order in which nodes have them ready, and loses none.
class NetModel {
 public:
  NetModel(const NetModelOptions& options, std::uint32_t nodes, std::uint64_t seed);

  const NetModelOptions& options() const { return options_; }
  Frames frames_of(std::size_t datagram_bytes) const;
  Duration on_wire(std::uint32_t bytes) const;

  /// Passes the datagram to the card, which sends one frame after another. Returns the time at
  /// which the first frame reaches the switch.
  Instant depart(NodeId from, Instant ready, const Frames& frames);
  /// Forwards a frame from the switch to `to` at `now`. Returns the time at which the frame's last
  /// bit leaves the port; nullopt if the port's buffer is full.
  std::optional<Instant> forward(NodeId to, Instant now, std::uint32_t frame_bytes);

  /// The frames of a write into memory.
  Frames frames_of_write(std::size_t bytes) const;
  /// Forwards a whole write whose first frame reaches the switch at `now`. Returns the time at
  /// which its bytes are in the memory of `to`.
  Instant forward_write(NodeId to, Instant now, const Frames& frames);

  bool has_bus() const { return options_.bus_message.ns > 0; }
  /// Passes the datagram to the bus, which carries it to all nodes. Returns the time at which its
  /// last bit has passed.
  Instant carry(Instant ready, const Frames& frames, bool carries_messages);

  /// Returns the time at which a packet reaches the socket of `to` if its last bit left the port,
  /// or passed on the bus, at `left`. For each node, calls must be in the order of `left`.
  Instant arrive(NodeId to, Instant left);

  std::uint32_t keep(const Flight& flight);
  Flight& flight(std::uint32_t slot) { return flights_[slot]; }
  void forget(std::uint32_t slot) { free_flights_.push_back(slot); }

  bool loses_data() { return options_.data_loss > 0 && random_.chance(options_.data_loss); }

  // Totals since the start.
  std::uint64_t dropped_frames() const { return dropped_frames_; }
  /// Busy time of the busiest output port, or of the bus.
  Duration port_busy_most() const;
  /// Time that the busiest card was sending.
  Duration card_busy_most() const {
    return *std::max_element(card_busy_.begin(), card_busy_.end());
  }
  std::uint64_t queue_bytes_most() const { return queue_bytes_most_; }

 private:
  struct Port {
    Instant free_at{};
    Duration busy{};
    Instant interrupt_at{};  ///< next interrupt of the card at the port
  };

  NetModelOptions options_;
  std::vector<Instant> card_free_at_;  ///< by node
  std::vector<Duration> card_busy_;    ///< by node
  std::vector<Port> ports_;            ///< by node
  Port bus_;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_;
  Random random_;
  std::uint64_t dropped_frames_ = 0;
  std::uint64_t queue_bytes_most_ = 0;
};

}  // namespace peal::sim
