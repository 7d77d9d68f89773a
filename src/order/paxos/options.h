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

/// Where acceptors keep their votes. In memory they vote as long as they live (README.md, "Votes in
/// memory").
enum class Storage : std::uint8_t { disk, memory };

/// Tunables. The defaults suit a data centre; none needs to be set.
struct Options {
  Duration heartbeat = milliseconds(10);  ///< between signs of life; also the timer of the engine
  Duration suspect = milliseconds(100);   ///< without a sign of life: suspected. Adapts itself
  Duration suspect_max = seconds(2);
  Duration resend = milliseconds(20);       ///< before anything without an answer is sent again
  Duration gap = milliseconds(2);           ///< between two requests for what is missing
  Duration votes_apart = microseconds(40);  ///< at least, from one packet with votes to the next

  std::uint32_t window = 2'048;          ///< instances under way at most; adapts itself below that
  std::uint32_t window_first = 64;       ///< of both windows, as long as nothing is known
  std::uint32_t member_window = 512;     ///< the same for units of one member without a place
  std::uint32_t max_gap = 4'096;         ///< instances between the slowest member and a new one
  std::uint32_t checkpoint_every = 256;  ///< instances between two checkpoints in the log
  /// Of decided values, for those who are behind; and up to twice as much of what members lack that
  /// were left out of a view. With several ensembles, of all together.
  std::uint64_t history_bytes_max = 64ULL << 20;
  /// Optimistic delivery (early.h); equal on all nodes.
  bool optimistic = false;
  /// Units that are later than this say nothing of what packets take, but of clocks.
  Duration early_wait_max = milliseconds(20);
  std::uint32_t packet_bytes_max = 1'472;  ///< largest datagram; equal on all nodes
};

/// All options with their ranges. No user sets them.
std::span<const Field<Options>> fields();

/// Checks each value and the rules between them; empty if all is well, else one line that names the
/// key, the value and what is accepted.
std::string validate(const Options& options);

/// Instances between the slowest member and a new one: `max_gap`, or fewer if the history does not
/// hold as many of the largest values. At least 1.
wire::Instance gap_max(const Options& options);

/// Who votes if nobody says otherwise: all of up to two nodes, three of up to four, else five; the
/// lowest ones.
std::vector<NodeId> default_acceptors(const std::vector<NodeId>& universe);

/// What one engine is made from.
struct Config {
  MemberId self{};  ///< its epoch is larger than all before on this log
  /// The configured nodes, sorted, self included: 1 to 128. A cluster whose order has begun may go
  /// by another list; this is then the one to go over to.
  std::vector<NodeId> universe;
  std::vector<NodeId> acceptors;  ///< sorted, of these; at least one, an odd number is best
  std::uint64_t nodes_hash = 1;   ///< of both: not 0
  std::uint64_t cluster{};        ///< see wire::Header; equal on all nodes
  wire::Checksum checksum = wire::Checksum::present;  ///< of packets; equal on all nodes
  Options options;
  Storage storage = Storage::disk;  ///< equal on all nodes
  /// An acceptor's durable log, which belongs to this engine; null on nodes that are never one,
  /// whatever list counts, and where votes are in memory. Whoever owns it commits what is appended,
  /// and calls on_durable() then. Must outlive the engine.
  port::Log* log = nullptr;
  /// Where the same node keeps what members that were left out of a view are owed; null: in memory
  /// alone. The same holds for it. Not without `log`.
  port::Log* owed = nullptr;
  /// Of one ensemble of several (ensemble.h): who makes one order of theirs. Units then begin with
  /// a wire::Placing. Must outlive the engine.
  Merger* merger = nullptr;
  /// If nobody coordinates, the acceptor with this index is asked first, and then those behind it:
  /// so that several ensembles are coordinated by several nodes.
  std::uint32_t first_candidate = 0;
  /// Who is in no view and so many instances behind begins where others are; 0: Options::max_gap.
  /// To begin anew forgets what others may still ask for.
  std::uint32_t far_behind = 0;
  /// Of several ensembles: what excluded members are owed, of all of them, and which part this is.
  /// Whoever made it has read its log. Must outlive the engine.
  LeftOut* left_out = nullptr;
  std::uint8_t part = 0;
};

/// `packets` is where the engine builds its own packets, and what it replays from its log. Slabs
/// must hold wire::kUnitHeadroomBytes of headroom in front of each unit that the host hands over.
std::unique_ptr<Engine> make_engine(const Config& config, BufferPool& packets, Host& host);

}  // namespace peal::order::paxos
