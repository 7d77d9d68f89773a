// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/digest.h"
#include "order/paxos/order_state.h"

namespace peal::order::paxos {

/// Derives the decided value of an instance from the acceptors' votes, if no live node that
/// consumed the instance still has the value. An acceptor is asked only about instances known to be
/// decided: before the question, a majority had voted for the value in one round. So any majority
/// reports a vote of that round, or of a higher round. In each higher round, only the same value
/// was proposed. So the vote of the highest round is for the decided value.
///
/// The reports must come from a majority of the acceptors of the list that is active at the
/// instance. An acceptor that has dropped its vote for an instance reports nothing, which differs
/// from reporting that it did not vote.
class Recall {
 public:
  /// An acceptor reports its vote; a round of count 0: it did not vote.
  void note(NodeId from, Instance instance, const Round& round, const Value& value);
  /// The decided value. Empty until `majority` acceptors have reported, and at least one of them
  /// has reported a vote.
  std::optional<Value> decided(Instance instance, std::size_t majority) const;
  /// Forgets all reports. Call when another list is active: its acceptors vote in later instances.
  void clear() { words_.clear(); }
  /// Forgets the reports about instances below `next`, which are consumed.
  void forget_below(Instance next) { words_.erase(words_.begin(), words_.lower_bound(next)); }
  bool empty() const { return words_.empty(); }

  void add_to(Digest& digest) const;

 private:
  struct Words {
    std::vector<NodeId> from;
    Round round{};  ///< highest round of a reported vote; no round: no vote reported
    Value value;
  };

  std::map<Instance, Words> words_;
};

}  // namespace peal::order::paxos
