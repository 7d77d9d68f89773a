// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/paxos/history.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// What an acceptor's log says of the decided instances, besides its votes: values that it did not
/// vote for, and checkpoints, behind which the log lets go of what nobody needs.
class Checkpointer {
 public:
  Checkpointer(const Parts& parts, const History& history) : p_(parts), history_(history) {}

  /// The log was replayed.
  void start();
  /// This node begins where the order stands now: a checkpoint of another node says so, or nothing
  /// is decided yet.
  void begin() { at_ = p_.state.next(); }
  /// This node votes from now on: what was decided before is not in its log.
  void begin_history();
  /// Another list counts, of which the log knows nothing.
  void begin_list();
  /// The log knows of the list that counts: before, nothing is said in a round of it.
  bool knows_list() const { return logged_list_ == p_.state.nodes().number; }

  /// Notes what was decided for the next instance, by the vote if that was for it. False: not now,
  /// and the instance must not be consumed before.
  bool note(const Slot& slot);
  /// A checkpoint is to be written as soon as it can be, or not any more.
  void want(bool wanted) { wanted_ = wanted; }
  bool wanted() const { return wanted_; }
  /// Writes one, if one is wanted. False: not now, or none is wanted.
  bool write();

  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  bool waits_for_retained() const;
  Instance oldest_needed() const;

  Parts p_;
  const History& history_;
  Instance at_ = 0;  ///< of the last one in the log
  bool wanted_ = false;
  Instance noted_from_ = 0;        ///< from here on the log says what was decided
  std::uint64_t logged_list_ = 0;  ///< the last list that a checkpoint in the log knows of
};

}  // namespace peal::order::paxos
