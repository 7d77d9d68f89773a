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

// A switched Ethernet and what it costs hosts to use it, for figures: how long a datagram stands
// on a wire, where it waits, which buffer it overflows, and what its handling takes of a processor.
// Off by default: stories about faults need none of it.

namespace peal::sim {

/// Processor time of handling one thing.
struct WorkCost {
  Duration each{};           ///< of one datagram, or of one message
  Duration per_frame{};      ///< of each frame beyond the first, if IP cuts the datagram up
  std::int64_t byte_ps = 0;  ///< picoseconds per byte

  Duration of(std::size_t bytes, std::uint32_t frames) const {
    return each + per_frame * (frames - 1) +
           Duration{byte_ps * static_cast<std::int64_t>(bytes) / 1'000};
  }
};

/// What a node's one thread spends. Delivery and submission stand for the way between a daemon and
/// its clients, where there is one.
struct CpuCosts {
  WorkCost send;     ///< of a datagram, to one or to all
  WorkCost receive;  ///< likewise
  WorkCost deliver;  ///< of a message
  WorkCost submit;   ///< likewise
};

struct NetModelOptions {
  std::uint32_t megabits = 10'000;  ///< per second, of every network card and every switch port
  /// From the switch's port to the socket, without waiting: cables, card, interrupt, wake-up.
  Duration latency = microseconds(10);
  /// How long a card keeps a first packet to itself, so that one interrupt serves what follows it.
  Duration coalesce{};
  std::uint32_t mtu = 1'500;
  std::uint32_t port_buffer_bytes = 256U << 10;  ///< of each output port; more is dropped
  double data_loss = 0;  ///< share of data packets that a node throws away once it has read them
  CpuCosts cpu;
};

/// How a datagram goes over an Ethernet.
struct Frames {
  std::uint32_t count = 1;
  std::uint32_t full_bytes = 0;  ///< on the wire, of each frame but the last
  std::uint32_t last_bytes = 0;

  std::uint32_t bytes_of(std::uint32_t frame) const {
    return frame + 1 == count ? last_bytes : full_bytes;
  }
};

/// A datagram between its sender's card and the switch's ports.
struct Flight {
  PacketIndex packet = 0;
  NodeId from{};
  std::uint32_t frame = 0;  ///< the next one that reaches the switch
  Frames frames;
  std::bitset<kNodesMax + 1> lost;  ///< receivers that miss a frame of it
};

/// Wires, cards and ports. Store and forward; buffers are bytes and drop what comes last.
class NetModel {
 public:
  NetModel(const NetModelOptions& options, std::uint32_t nodes, std::uint64_t seed);

  const NetModelOptions& options() const { return options_; }
  Frames frames_of(std::size_t datagram_bytes) const;
  Duration on_wire(std::uint32_t bytes) const;

  /// The datagram goes to the card, which sends one frame after the other. Returns when the first
  /// one has reached the switch.
  Instant depart(NodeId from, Instant ready, const Frames& frames);
  /// A frame that the switch has at `now` goes out to `to`: when its last bit has left, or nothing
  /// if the port's buffer is full.
  std::optional<Instant> forward(NodeId to, Instant now, std::uint32_t frame_bytes);

  /// When a packet whose last bit left the port of `to` at `left` is in its socket; call it in the
  /// order of `left`.
  Instant arrive(NodeId to, Instant left);

  std::uint32_t keep(const Flight& flight);
  Flight& flight(std::uint32_t slot) { return flights_[slot]; }
  void forget(std::uint32_t slot) { free_flights_.push_back(slot); }

  bool loses_data() { return options_.data_loss > 0 && random_.chance(options_.data_loss); }

  // Since the start.
  std::uint64_t dropped_frames() const { return dropped_frames_; }
  /// Busy time of the busiest output port.
  Duration port_busy_most() const;
  /// Likewise of the busiest card, sending.
  Duration card_busy_most() const {
    return *std::max_element(card_busy_.begin(), card_busy_.end());
  }
  std::uint64_t queue_bytes_most() const { return queue_bytes_most_; }

 private:
  struct Port {
    Instant free_at{};
    Duration busy{};
    Instant interrupt_at{};  ///< of the card behind it
  };

  NetModelOptions options_;
  std::vector<Instant> card_free_at_;  ///< by node
  std::vector<Duration> card_busy_;    ///< by node
  std::vector<Port> ports_;            ///< by node
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_;
  Random random_;
  std::uint64_t dropped_frames_ = 0;
  std::uint64_t queue_bytes_most_ = 0;
};

}  // namespace peal::sim
