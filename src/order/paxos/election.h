// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/paxos/coordinator.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Who coordinates, as far as this node knows; and when this node takes over. A coordinator goes on
/// as long as it serves most acceptors. README.md says why that ends ("Who is served").
class Election {
 public:
  /// `coordinator`: this node's own; null on nodes that never vote.
  Election(const Parts& parts, Coordinator* coordinator) : p_(parts), coordinator_(coordinator) {}

  /// Somebody spoke of this round. A coordinator of a lower round steps down.
  void see(Instant now, const Round& round);
  /// The highest round that anybody spoke of.
  const Round& round() const { return round_; }

  /// The coordinator of this round is past Phase 1: it is higher than all rounds of which that was
  /// known, and of the list that counts.
  void follow(const Round& round);
  /// The same for this node. False: it does not lead, or that is known.
  bool follow_self();
  /// The highest round whose coordinator is known to be past Phase 1.
  const Round& leading() const { return leading_; }
  /// Whoever coordinates it; null if that node is suspected, or is not known.
  const Peer* coordinator() const;

  /// Once in each heartbeat: does the coordinator serve this node? `own`: how fit this one is.
  void look(Instant now, wire::Fitness own);
  /// Takes over, if that is for this node to do. `votes`: it may vote.
  void run(Instant now, bool votes, Effects& out);
  /// This process did not run for a while: the coordinator was not unfit meanwhile.
  void forgive(Instant now);
  /// No Phase 1 of this node before.
  void put_off(Instant until) { retry_at_ = std::max(retry_at_, until); }
  /// The coordinator does not serve this node: said in STATE.
  bool misses() const { return misses_; }
  /// Most acceptors say the same.
  bool most_miss_last() const;

  /// This node goes by an order from now on: rounds that it heard of may be of another one.
  void forget();
  /// Another list counts, so rounds before are over. `led`: this node led the last one, and has the
  /// first word in the next.
  void begin_list(Instant now, bool led);
  bool leads_again() const { return leads_again_; }
  /// Begins the first round of the list that counts, unless another node was faster.
  void lead_again(Instant now, Effects& out);

  std::uint64_t elections() const { return elections_; }
  void check_invariants() const;

 private:
  bool misses_last(Instant now) const;
  Duration turn() const;

  Parts p_;
  Coordinator* coordinator_;
  Round round_{};
  Instant round_at_{};  ///< when round_ was seen, or another list began to count
  Round leading_{};
  Instant retry_at_{};
  Instant fit_enough_at_{};  ///< when the coordinator was last no less fit than this node
  bool misses_ = false;
  bool leads_again_ = false;  ///< it led when another list began to count
  std::uint64_t elections_ = 0;
};

}  // namespace peal::order::paxos
