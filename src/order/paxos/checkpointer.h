// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/paxos/history.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Writes the records of decided instances, other than votes, to an acceptor's log: decided values
/// for which the acceptor did not vote, and checkpoints, which make earlier records unnecessary.
class Checkpointer {
 public:
  Checkpointer(const Parts& parts, const History& history) : p_(parts), history_(history) {}

  /// Call it after the log was replayed.
  void start();
  /// Call when this node begins at the present state of the order: it took another node's
  /// checkpoint, or nothing is decided yet.
  void begin() { at_ = p_.state.next(); }
  /// Call when this node begins to vote. Its log lacks the values that were decided before now.
  void begin_history();
  /// Call when another list of nodes is active. The log has no record of that list yet.
  void begin_list();
  /// True if the log has a record of the active list. Without the record, this acceptor neither
  /// promises nor votes in rounds of the list.
  bool knows_list() const { return logged_list_ == p_.state.nodes().number; }

  /// Records the decided value of the next instance, unless this acceptor voted for that value.
  /// False: not possible now, and the instance must not be consumed yet.
  bool note(const Slot& slot);
  /// `wanted`: a checkpoint is to be written as soon as possible.
  void want(bool wanted) { wanted_ = wanted; }
  bool wanted() const { return wanted_; }
  /// Writes a checkpoint, if one is wanted. False: not possible now, or none is wanted.
  bool write();

  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  static constexpr std::uint64_t kNotLogged = ~std::uint64_t{0};

  bool waits_for_retained() const;
  Instance oldest_needed() const;

  Parts p_;
  const History& history_;
  Instance at_ = 0;  ///< next instance at the last checkpoint in the log
  bool wanted_ = false;
  Instance noted_from_ = 0;  ///< from this instance on the log has the decided values
  /// Number of the last list that a checkpoint in the log names. A log that has a promise or a vote
  /// but no checkpoint is refused at each start.
  std::uint64_t logged_list_ = kNotLogged;
};

}  // namespace peal::order::paxos
