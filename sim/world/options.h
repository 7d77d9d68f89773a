// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "node/node.h"
#include "sim/netmodel/model.h"
#include "sim/world/engine_options.h"
#include "sim/world/fabric.h"
#include "sim/world/node_log.h"

namespace peal::sim {

/// Limits of one process on its machine.
struct ProcessLimits {
  std::uint32_t receive_slabs = 0;  ///< buffers for ordinary packets; 0: enough for max_gap
  std::uint32_t unit_slabs = 0;     ///< buffers for units; 0: enough for the largest gap
  std::uint32_t socket_packets = 2'048;
  std::uint32_t room_units = 65'536;  ///< maximum number of units that the application buffers
};

/// Hash of the cluster's name and settings, as in the headers of frames.
inline constexpr std::uint64_t kCluster = 0x5eed0001'00000001ULL;

/// Makes the engine of one node.
using EngineMaker = std::function<std::unique_ptr<order::Engine>(
    MemberId self, std::span<const NodeId> universe, std::uint64_t seed, BufferPool& packets,
    order::Host& host)>;

struct WorldOptions {
  EngineOptions engine;
  std::vector<order::DomainNodes> domains;  ///< for engines with domains
  std::uint32_t nodes = 3;                  ///< 1 to kNodesMax
  /// The list of nodes in each node's configuration file at first. If empty, the list has all nodes
  /// and never changes.
  std::vector<NodeId> list;
  std::uint64_t seed = 1;
  std::uint32_t acceptors = 0;                           ///< 0: as many as the engine chooses
  DiskTimes disks;                                       ///< times of acceptors' disks
  std::uint64_t segment_bytes = NodeLog::kSegmentBytes;  ///< size of log segments
  std::uint64_t first_count = 0;                         ///< see order::Setup
  /// Makes the engines. If empty, WorldOptions::engine determines the engines.
  EngineMaker maker;
  node::Limits limits;
  ProcessLimits process;
  std::int32_t drift_ppm = 0;                     ///< largest error of clocks
  Duration step_cost = nanoseconds(700);          ///< processor time of one input
  Duration send_cost = nanoseconds(300);          ///< processor time of one packet sent
  Duration wire_per_kilobyte = nanoseconds(800);  ///< for each 1,000 bytes; 10 Gbit/s
  std::uint32_t read_budget = 32;                 ///< packets read before timers are checked
  bool follow_preference = false;      ///< false: the choice of the socket is partly random
  bool loopback = false;               ///< multicasts return to their senders
  bool fan_out = false;                ///< data multicasts are sent to each destination separately
  bool multicast = true;               ///< false: multicasts are sent to each other node separately
  bool ghost = true;                   ///< a ghost checks the run; see order/inspection
  bool keep_packets = true;            ///< store old packets for replay
  std::uint32_t digest_every = 1'000;  ///< planned events between digests of all nodes
  bool groups = false;                 ///< applications are clients of process groups
  bool sessions = false;               ///< these clients have sessions with their node
  bool keep_payloads = false;          ///< clients keep the payloads delivered to them, for queries
  FabricOptions fabric;                ///< if the engine needs memory
  /// If present, the network model replaces `send_cost` and `wire_per_kilobyte`.
  std::optional<NetModelOptions> net;
};

/// The seed of one random generator of a world. Seeds for different purposes are unrelated.
inline std::uint64_t seed_for(const WorldOptions& options, std::uint64_t purpose) {
  Random random(options.seed * 0x9e3779b97f4a7c15ULL + purpose);
  random.next();
  return random.next();
}

}  // namespace peal::sim
