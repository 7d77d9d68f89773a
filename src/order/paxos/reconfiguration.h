// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Changes the list of nodes, including the acceptors, while messages are ordered.
///
/// The list is a value like others. The coordinator proposes the list once all members have it as
/// pending and no proposal is in progress. The coordinator proposes nothing after the list. Each
/// round is for one list, whose number is part of the round's count. So a node that has consumed
/// the value has left all earlier rounds, and the next round begins with Phase 1 among the
/// acceptors of the new list. Thus exactly the acceptors of the list that is active at an instance
/// vote in that instance. So decided values stay decided, however the two lists differ. Earlier
/// rounds may have left votes for instances after the value. Those votes can never become a
/// majority: the round that decided the value asked a majority about these instances, and found no
/// votes.
///
/// Before an acceptor promises or votes in a round of the list, its log records the list in a
/// checkpoint after the value (Checkpointer). Otherwise all acceptors could restart in a state
/// before the value, although their promises had reported that they were past the value.
class Reconfiguration {
 public:
  /// `given`: the same object as `parts.given`.
  Reconfiguration(const Parts& parts, GivenList& given);

  /// This node was given a list. True: the list is active at once, because no order is known and
  /// this node may still choose the list for the bootstrap (`free_to_choose`).
  bool give(const NodeList& nodes, bool free_to_choose);
  /// Updates the known nodes: those of the active list and of the pending one.
  void know_nodes();
  /// Another list is active: updates the known nodes, and reports acceptors that vote again in a
  /// new incarnation. `view`: the last installed view.
  void take_list(ViewId view, Effects& out);
  /// Reports the active list, once.
  void report_list(ViewId view, Effects& out);
  /// Compares this node with the sender of `said`. False: both nodes know an order, but not the
  /// same one; or neither node knows an order, and their lists differ.
  bool same_order(const wire::State& said) const;

  void check_invariants() const;

 private:
  Parts p_;
  GivenList& given_;
  std::uint64_t list_told_;   ///< hash of the last reported list
  std::uint64_t number_ = 0;  ///< number of the last active list
};

}  // namespace peal::order::paxos
