// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Going over to another list of nodes, acceptors among them, while messages are ordered.
///
/// The list is a value like others. The coordinator proposes it once all members have been given it
/// and nothing is under way, and proposes nothing behind it. Each round is for one list, which its
/// number says. So a node that has consumed the value is done with all rounds before, and the next
/// round begins with Phase 1 among the acceptors of the new list. An instance is thus voted for by
/// the acceptors of the list that counts at it, and by no others: what was decided stays decided,
/// however the two lists differ. Rounds before may have left votes for instances behind the value.
/// No majority of them can come together: the round that decided the value asked a majority for
/// them, and found none.
///
/// An acceptor's log knows of a list, by a checkpoint behind it, before the acceptor says anything
/// in a round of it (Checkpointer). Else all might start again before the value that they all
/// promised to be past.
class Reconfiguration {
 public:
  /// `given`: the one of the parts.
  Reconfiguration(const Parts& parts, GivenList& given);

  /// This node was given a list. True: it counts at once, as no order is known, and this node may
  /// still choose the list (`free_to_choose`) by which it helps to begin one.
  bool give(const NodeList& nodes, bool free_to_choose);
  /// Who is to be known: nodes of the list that counts, and of the pending one.
  void know_nodes();
  /// Another list counts: knows its nodes, and reports whose new lives it takes in. `view`:
  /// installed last.
  void take_list(ViewId view, Effects& out);
  /// Tells people of the list that counts, once.
  void report_list(ViewId view, Effects& out);
  /// Two nodes that know orders know the same one; two that know none were given the same list.
  bool same_order(const wire::State& said) const;

  void check_invariants() const;

 private:
  Parts p_;
  GivenList& given_;
  std::uint64_t list_told_;   ///< hash of the last list that people were told of
  std::uint64_t number_ = 0;  ///< of the last list that was taken
};

}  // namespace peal::order::paxos
