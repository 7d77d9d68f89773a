// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "sim/world/network.h"
#include "sim/world/options.h"
#include "sim/world/transit.h"

namespace peal::sim {

/// Packets that arrive although no node has just sent them: old packets, damaged packets and random
/// bytes.
class StrayPackets {
 public:
  StrayPackets(const WorldOptions& options, Schedule& schedule, Transit& transit, Network& network,
               FaultCounts& faults);

  /// Stores a packet that a node has sent.
  void remember(PacketIndex packet);
  /// Sends an old packet again, with the probability Conditions::replay of the network. Call after
  /// each packet.
  void replay_by_chance();
  /// Sends an old packet of `kind` again, or of any kind if `kind` is absent. False if there is no
  /// such packet.
  bool replay(std::optional<PacketKind> kind, Duration after);
  /// Sends a packet of random bytes to `to`.
  void inject_random(NodeId to);
  enum class Harm : std::uint8_t { flipped, truncated };
  /// Sends an old packet of any kind to `to`, with a bit flipped or its end missing.
  void inject_harmed(NodeId to, Harm harm);

 private:
  std::optional<PacketIndex> old_packet(std::optional<PacketKind> kind);

  const std::uint32_t nodes_;
  Schedule& schedule_;
  Transit& transit_;
  PacketStore& packets_;
  Network& network_;
  FaultCounts& faults_;
  Random random_;
  std::array<std::vector<PacketIndex>, kPacketKinds> memory_;
  std::array<std::uint64_t, kPacketKinds> memory_seen_{};
};

}  // namespace peal::sim
