// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "base/digest.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Learns which values are decided: from acceptors' votes together with the values proposed in
/// their round, and from nodes that send decided values. Marks slots of the store; consumes
/// nothing.
class Learner {
 public:
  explicit Learner(const Parts& parts) : p_(parts) {}

  /// Is the proposal in a round of this node's order and active list? If not, it is not to be used.
  /// One in a round of a later list of the order still shows how far other nodes are.
  bool is_ours(const Arrival& proposal);
  /// A value was proposed. Returns duplicate or out_of_window, or none: the store has the value
  /// now.
  wire::Drop take_proposal(const Arrival& proposal, const BufferRef& bytes);
  /// A decided value arrived. Returns as take_proposal() does.
  wire::Drop take_decided(Instance instance, const wire::ValueHead& head, const BufferRef& bytes);
  /// Another node knows that this instance is decided.
  void note_decided(Instance instance) { highest_ = std::max(highest_, instance); }

  /// Counts the acceptors' reported votes, and marks the instances that they decide.
  void count_votes();
  /// More instances are decided by votes than at the last call.
  bool has_news();
  /// The round in which a majority voted last, and the instance up to which a majority voted in it.
  const Round& round() const { return round_; }
  Instance decided_upto() const { return decided_upto_; }
  /// The highest instance that any node reported as decided.
  Instance highest() const { return highest_; }

  /// This node adopted an order: what it heard before may be of another order.
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
  Instance told_ = 0;    ///< decided_upto_ when has_news() last reported it
  Instance marked_ = 0;  ///< slots up to here were marked, if their values are known
  Instance highest_ = 0;
  std::vector<Instance> votes_;  ///< scratch
};

}  // namespace peal::order::paxos
