// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "base/digest.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Learns what is decided: from acceptors' votes together with the values proposed in their round,
/// and from nodes that send a value as decided. Marks slots of the store; nothing is consumed here.
class Learner {
 public:
  explicit Learner(const Parts& parts) : p_(parts) {}

  /// Is the proposal of a round of the list that counts? Else the sender has another list, and the
  /// proposal tells at most how far others are.
  bool is_ours(const Arrival& proposal);
  /// A value was proposed. Duplicate, out_of_window, or none: it is in the store now.
  wire::Drop take_proposal(const Arrival& proposal, const BufferRef& bytes);
  /// A value was decided: the same.
  wire::Drop take_decided(Instance instance, const wire::ValueHead& head, const BufferRef& bytes);
  /// Somebody knows that this instance is decided.
  void note_decided(Instance instance) { highest_ = std::max(highest_, instance); }

  /// Counts the votes that acceptors told of, and marks what is decided by them.
  void count_votes();
  /// More is decided by votes than at the last call.
  bool has_news();
  /// The round in which a majority voted last, and up to where.
  const Round& round() const { return round_; }
  Instance decided_upto() const { return decided_upto_; }
  /// The highest decided instance that anybody spoke of.
  Instance highest() const { return highest_; }

  /// This node goes by an order from now on: what it heard of may be of another one.
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
  Instance told_ = 0;    ///< of them, what has_news() told
  Instance marked_ = 0;  ///< slots up to here were marked, if their value is known
  Instance highest_ = 0;
  std::vector<Instance> votes_;  ///< scratch
};

}  // namespace peal::order::paxos
