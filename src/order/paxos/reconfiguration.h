// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Changes the list of nodes, including the acceptors, while messages are ordered.
///
/// The list is a value like others. The coordinator proposes it once all members have the pending
/// list and no proposal is in progress, and proposes nothing after it. Each round is for one list,
/// whose number is part of the round's count. So a node that has consumed the value has left all
/// earlier rounds, and the next round begins with Phase 1 among the acceptors of the new list. Thus
/// exactly the acceptors of the list that is active at an instance vote for it, and decided values
/// stay decided, however the two lists differ. Earlier rounds may have left votes for instances
/// after the value. Those votes can never become a majority: the round that decided the value asked
/// a majority about these instances, and found no votes.
///
/// An acceptor's log records the list, in a checkpoint after the value, before the acceptor says
/// anything in a round of the list (Checkpointer). Otherwise all acceptors could restart at a state
/// before the value, though all had promised to be past it.
class Reconfiguration {
 public:
  /// `given`: the object that `parts` has too.
  Reconfiguration(const Parts& parts, GivenList& given);

  /// This node was given a list. True: the list is active at once, since no order is known, and
  /// this node may still choose the list (`free_to_choose`) for the bootstrap.
  bool give(const NodeList& nodes, bool free_to_choose);
  /// Updates the known nodes: those of the active list and of the pending one.
  void know_nodes();
  /// Another list is active: updates its nodes, and reports acceptors that vote again in a new
  /// incarnation. `view`: the last installed one.
  void take_list(ViewId view, Effects& out);
  /// Reports the active list, once.
  void report_list(ViewId view, Effects& out);
  /// False: both nodes know an order, but not the same one; or neither knows an order, and their
  /// lists differ.
  bool same_order(const wire::State& said) const;

  void check_invariants() const;

 private:
  Parts p_;
  GivenList& given_;
  std::uint64_t list_told_;   ///< hash of the last reported list
  std::uint64_t number_ = 0;  ///< number of the last active list
};

}  // namespace peal::order::paxos
