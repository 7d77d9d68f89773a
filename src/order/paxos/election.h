// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/paxos/coordinator.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Determines which node coordinates, as far as this node knows, and when this node takes over. A
/// coordinator stays as long as it serves most acceptors. README.md explains why elections end
/// ("Who is served").
class Election {
 public:
  /// `coordinator`: this node's own coordinator; null on nodes that never vote.
  Election(const Parts& parts, Coordinator* coordinator) : p_(parts), coordinator_(coordinator) {}

  /// A packet named this round. If this node coordinates a lower round, it steps down. Rounds of
  /// later lists are ignored.
  void see(Instant now, const Round& round);
  /// The highest round that see() has not ignored.
  const Round& round() const { return round_; }

  /// The coordinator of this round has completed Phase 1. The round is of the active list, and
  /// higher than all rounds known to have completed Phase 1 before.
  void follow(const Round& round);
  /// As follow(), for the round that this node coordinates. False if this node does not lead, or if
  /// leading() is its round already.
  bool follow_self();
  /// The highest round known to have completed Phase 1.
  const Round& leading() const { return leading_; }
  /// The coordinator of leading(); null if that node is suspected or unknown.
  const Peer* coordinator() const;

  /// Call it once per heartbeat: checks whether the coordinator serves this node. `own`: this
  /// node's fitness.
  void look(Instant now, wire::Fitness own);
  /// Begins a round, if this node is to take over. `votes`: this node may vote.
  void run(Instant now, bool votes, Effects& out);
  /// This process was suspended for a while, which does not make the coordinator unfit.
  void forgive(Instant now);
  /// This node begins no Phase 1 before `until`.
  void put_off(Instant until) { retry_at_ = std::max(retry_at_, until); }
  /// True if the coordinator does not serve this node; STATE reports it.
  bool misses() const { return misses_; }
  /// True if a majority of the acceptors reports that the coordinator of round() does not serve
  /// them.
  bool most_miss_last() const;

  /// This node adopted an order: forgets the rounds heard of before, which may be of another order.
  void forget();
  /// Another list is active, so earlier rounds are over. `led`: this node coordinated under the
  /// previous list, and is the first candidate under the new one.
  void begin_list(Instant now, bool led);
  bool leads_again() const { return leads_again_; }
  /// Begins the first round of the active list, unless another node has done so.
  void lead_again(Instant now, Effects& out);

  std::uint64_t elections() const { return elections_; }
  void check_invariants() const;

 private:
  bool misses_last(Instant now) const;
  Duration turn() const;

  Parts p_;
  Coordinator* coordinator_;
  Round round_{};
  Instant round_at_{};  ///< when round_ was seen, or another list became active
  Round leading_{};
  Instant retry_at_{};
  Instant fit_enough_at_{};  ///< when the coordinator was last at least as fit as this node
  bool misses_ = false;
  bool leads_again_ = false;  ///< this node is to begin the first round of the active list
  std::uint64_t elections_ = 0;
};

}  // namespace peal::order::paxos
