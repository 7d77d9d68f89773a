// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "base/digest.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Learns which values are decided: from acceptors' votes together with the values proposed in the
/// same round, and from nodes that send decided values. Marks the slots of decided values in the
/// store, but does not consume them.
class Learner {
 public:
  explicit Learner(const Parts& parts) : p_(parts) {}

  /// True if the proposal is in a round of this node's order and active list. If false, the caller
  /// must not use the proposal. If the proposal is in a round of a later list of the order, this
  /// function still learns from it how far other nodes are.
  bool is_ours(const Arrival& proposal);
  /// A proposed value arrived. Returns duplicate, out_of_window, or none: the store has the value
  /// now.
  wire::Drop take_proposal(const Arrival& proposal, const BufferRef& bytes);
  /// A decided value arrived. Returns the same results as take_proposal().
  wire::Drop take_decided(Instance instance, const wire::ValueHead& head, const BufferRef& bytes);
  /// Another node knows that this instance is decided.
  void note_decided(Instance instance) { highest_ = std::max(highest_, instance); }

  /// Counts the votes that acceptors reported, and marks the instances that these votes decide.
  void count_votes();
  /// True if votes have decided more instances since the last call.
  bool has_news();
  /// The round in which a majority voted last, and the instance up to which a majority voted in
  /// that round.
  const Round& round() const { return round_; }
  Instance decided_upto() const { return decided_upto_; }
  /// The highest instance that any node reported as decided.
  Instance highest() const { return highest_; }

  /// This node adopted an order: forgets earlier votes and decisions, which may be of another
  /// order.
  void forget();

  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  bool same_list(const Peer& peer) const;
  void begin_round(const Round& round);
  void mark(Instance upto);

  Parts p_;
  Round round_{};
  Instance decided_upto_ = 0;
  Instance told_ = 0;    ///< decided_upto_ at the last has_news() that returned true
  Instance marked_ = 0;  ///< slots up to this instance were marked, if their values are known
  Instance highest_ = 0;
  std::vector<Instance> votes_;  ///< scratch
};

}  // namespace peal::order::paxos
