// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "sim/netmodel/model.h"
#include "sim/world/machines.h"
#include "sim/world/network.h"
#include "sim/world/observers.h"
#include "sim/world/options.h"
#include "sim/world/stray_packets.h"
#include "sim/world/transit.h"

namespace peal::sim {

/// The path of a packet from its sender to its receivers. With a network model, packets pass either
/// cards and ports, frame by frame, or a bus. Without a model, WorldOptions and the network set the
/// packets' delays.
class Traffic {
 public:
  /// `model` is null if the world has no network model.
  Traffic(const WorldOptions& options, Schedule& schedule, const Machines& machines,
          Network& network, NetModel* model, Transit& transit, StrayPackets& strays,
          Observers& observers);

  /// Sends a packet to `to`, or to all other nodes if `to` is 0.
  void transmit(Process& from, NodeId to, Lane lane, ByteView bytes);
  /// Handles a frame that reaches the switch of the model.
  void pass_switch(std::uint32_t flight);
  /// Number of packets of this kind sent so far.
  std::uint64_t packets_of(PacketKind kind) const {
    return packets_by_kind_[static_cast<std::size_t>(kind)];
  }

 private:
  void note(Process& from, const Packet& packet);
  void send_plainly(Process& from, PacketIndex packet, bool dies);
  void send_by_model(Process& from, PacketIndex packet);
  void pass_bus(PacketIndex packet, const Frames& frames, Instant ready);
  void deliver_copies(PacketIndex packet, NodeId to, Instant departure);

  const WorldOptions& options_;
  Schedule& schedule_;
  const Machines& machines_;
  Network& network_;
  NetModel* model_;
  Transit& transit_;
  PacketStore& packets_;
  StrayPackets& strays_;
  Observers& observers_;
  std::array<std::uint64_t, kPacketKinds> packets_by_kind_{};
};

}  // namespace peal::sim
