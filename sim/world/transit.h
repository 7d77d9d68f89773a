// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sim/world/packet.h"
#include "sim/world/schedule.h"

namespace peal::sim {

/// The packets in transit, and the planned arrivals of their copies.
class Transit {
 public:
  explicit Transit(Schedule& schedule) : schedule_(schedule) {}

  PacketStore& packets() { return packets_; }
  /// Plans the arrival of a copy at `to`. The copy takes over one reference to the packet.
  void plan_arrival(Instant at, NodeId to, PacketIndex packet);
  /// Keeps a copy for `to` until release_held().
  void hold_back(PacketIndex packet, NodeId to);
  /// Releases all copies that hold_back() has kept: they arrive now.
  void release_held();
  /// Makes a copy of the packet with one bit flipped.
  PacketIndex damaged(PacketIndex packet, Random& random);
  /// The latest planned arrival of a packet so far.
  Instant latest_arrival() const { return latest_arrival_; }

 private:
  Schedule& schedule_;
  PacketStore packets_;
  std::vector<std::pair<PacketIndex, NodeId>> held_;
  Instant latest_arrival_{};
};

}  // namespace peal::sim
