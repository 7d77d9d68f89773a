// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/ids.h"
#include "base/time.h"
#include "order/engine.h"
#include "order/field.h"
#include "port/log.h"
#include "wire/frames.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

class LeftOut;
class Merger;

/// Where acceptors keep their votes. With votes in memory a restarted acceptor is amnesiac
/// (README.md, "Whose votes count").
enum class Storage : std::uint8_t { disk, memory };

/// Tunables. The defaults suit a data centre; none needs to be set.
struct Options {
  Duration heartbeat = milliseconds(10);  ///< time between heartbeats; also the timer of the engine
  /// A node is suspected after so long without a packet; the time adapts for each node.
  Duration suspect = milliseconds(100);
  Duration suspect_max = seconds(2);
  Duration resend = milliseconds(20);  ///< first wait before an unanswered packet is sent again
  /// Shortest wait before a missing value is requested, or requested again.
  Duration gap = milliseconds(2);
  Duration votes_apart = microseconds(40);  ///< minimum time between two packets with votes

  std::uint32_t window = 2'048;  ///< limit of instances in progress; the window adapts below it
  /// First size of both windows, before anything is measured.
  std::uint32_t window_first = 64;
  std::uint32_t member_window = 512;  ///< limit of one member's units that have no place yet
  /// Maximum number of instances from the slowest member to a new proposal.
  std::uint32_t max_gap = 4'096;
  std::uint32_t checkpoint_every = 256;  ///< instances between two checkpoints in the log
  /// Limit of the history of decided values, for nodes that lag. Values retained for excluded
  /// members may take twice as much in addition. Several ensembles share this limit.
  std::uint64_t history_bytes_max = 64ULL << 20;
  /// Optimistic delivery (early.h); equal on all nodes.
  bool optimistic = false;
  /// A longer delay of a unit is not counted: its cause is the clocks, not the network.
  Duration early_wait_max = milliseconds(20);
  std::uint32_t packet_bytes_max = 1'472;  ///< largest datagram; equal on all nodes
};

/// All options with their ranges. Only tests and the simulator set them.
std::span<const Field<Options>> fields();

/// Checks each value and the rules between them. Returns an empty text if all values are valid,
/// else one line that names the key, the value and the accepted values.
std::string validate(const Options& options);

/// Maximum number of instances from the slowest member to a new proposal: `max_gap`, or fewer if
/// the history cannot hold `max_gap` values of the largest size. At least 1.
wire::Instance gap_max(const Options& options);

/// The acceptors if none are configured: all nodes if there are at most three, three of four nodes,
/// else five nodes. The nodes with the lowest numbers are taken.
std::vector<NodeId> default_acceptors(const std::vector<NodeId>& universe);

/// The configuration of one engine.
struct Config {
  MemberId self{};  ///< its epoch is larger than those of all earlier incarnations on this log
  /// The configured nodes, sorted, self included: 1 to 128. If the order of the cluster has begun
  /// with another list, the list here is pending.
  std::vector<NodeId> universe;
  std::vector<NodeId> acceptors;  ///< sorted, of `universe`; at least one, preferably an odd number
  std::uint64_t nodes_hash = 1;   ///< hash of both lists; not 0
  std::uint64_t cluster{};        ///< see wire::Header; equal on all nodes
  wire::Checksum checksum = wire::Checksum::present;  ///< checksum of packets; equal on all nodes
  Options options;
  Storage storage = Storage::disk;  ///< equal on all nodes
  /// An acceptor's durable log, used by this engine alone. Null if votes are in memory, and on
  /// nodes that no list makes acceptors. The owner of the log commits the appended records, and
  /// then calls on_durable(). The log must outlive the engine.
  port::Log* log = nullptr;
  /// The log of the values that this node retains for excluded members; null: these values are in
  /// memory only. The rules of `log` hold for this log too. Requires `log`.
  port::Log* owed = nullptr;
  /// For one of several ensembles (ensemble.h): merges their orders. Units then begin with a
  /// wire::Placing. Must outlive the engine.
  Merger* merger = nullptr;
  /// If no node coordinates, the acceptor with this index is the first candidate. The acceptors
  /// with the next indexes follow, cyclically. So several ensembles have different coordinators.
  std::uint32_t first_candidate = 0;
  /// A node in no view that lags by more instances than this takes a checkpoint; 0:
  /// Options::max_gap. A node that takes a checkpoint loses decided values that others may still
  /// request.
  std::uint32_t far_behind = 0;
  /// With several ensembles: the retained values of all ensembles. The owner of `left_out` has
  /// already read these values from their log. Must outlive the engine. `part`: the number of this
  /// ensemble.
  LeftOut* left_out = nullptr;
  std::uint8_t part = 0;
};

/// `packets`: the pool for the engine's own packets, and for values that it replays from its log.
/// Slabs must have wire::kUnitHeadroomBytes of headroom in front of each unit that the host hands
/// over.
std::unique_ptr<Engine> make_engine(const Config& config, BufferPool& packets, Host& host);

}  // namespace peal::order::paxos
