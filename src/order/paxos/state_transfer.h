// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "order/paxos/catch_up.h"
#include "order/paxos/incarnations.h"
#include "order/paxos/parts.h"
#include "order/paxos/vote_recall.h"

namespace peal::order::paxos {

/// How a node that is far behind recovers. A node in no view takes a checkpoint of another node,
/// and skips the instances before the checkpoint. A member of a view must consume all instances. If
/// no node knows the next value as decided, the acceptors' votes may reveal that value. Otherwise
/// the member is cut off.
class StateTransfer {
 public:
  static constexpr std::string_view kCutOff =
      "this node was cut off for longer than the others keep what was decided";

  StateTransfer(const Parts& parts, const CatchUp& catch_up, VoteRecall& recall,
                const Incarnations& incarnations)
      : p_(parts), catch_up_(catch_up), recall_(recall), incarnations_(incarnations) {}

  /// Call it once per heartbeat: requests a checkpoint or votes, if this node needs them.
  void look(Effects& out);
  /// A checkpoint arrived. Returns `none` if this node may skip to it, else the reason why not.
  wire::Drop judge(const Peer& from, const wire::Checkpoint& said);
  /// Skips to this checkpoint.
  void take(const wire::Checkpoint& said);
  /// True if no node can help this node any more. Then this node has to stop.
  bool is_cut_off() const { return cut_off_; }
  /// True if this node hears a majority of the nodes, and is close enough to them to catch up
  /// without a checkpoint.
  bool is_near() const;

  std::uint64_t checkpoints() const { return checkpoints_; }

 private:
  const Peer* furthest() const;
  bool can_catch_up() const;
  bool may_skip() const;
  bool waits_for_others() const;
  void ask_checkpoint_of(const Peer& peer, Effects& out);
  void count_tick();
  void seek(Effects& out);

  Parts p_;
  const CatchUp& catch_up_;
  VoteRecall& recall_;
  const Incarnations& incarnations_;
  bool cut_off_ = false;
  /// Number of consecutive heartbeats in which no node had the value that this node needs, and in
  /// which neither this node nor any acceptor that may still provide the value made progress.
  unsigned ticks_ = 0;
  std::size_t heard_ = 0;  ///< number of acceptors heard at the last such heartbeat
  /// Sum of the next instances of this node and of the acceptors that may help, and of
  /// Merger::merged().
  Instance behind_ = 0;
  std::uint64_t checkpoints_ = 0;
};

}  // namespace peal::order::paxos
