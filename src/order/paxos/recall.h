// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/digest.h"
#include "order/paxos/order_state.h"

namespace peal::order::paxos {

/// Finds out what was decided for an instance from what acceptors voted for, if no node is there
/// that consumed it and still has the value. An acceptor is asked only for what is known to be
/// decided. So most acceptors had voted for it in one round by then; and any majority of them names
/// a vote of that round, or of a higher one, in which only the same value was proposed: the vote of
/// the highest round is what was decided.
///
/// It takes words of a majority of the acceptors of the list that counts at the instance. An
/// acceptor that has let go of its word on an instance says nothing: that is not the word that it
/// did not vote.
class Recall {
 public:
  /// What an acceptor has voted for: with a round of count 0, for nothing.
  void note(NodeId from, Instance instance, const Round& round, const Value& value);
  /// What was decided, once `majority` acceptors have said their word.
  std::optional<Value> decided(Instance instance, std::size_t majority) const;
  /// Others vote from here on.
  void clear() { words_.clear(); }
  /// Instances below are consumed.
  void forget_below(Instance next) { words_.erase(words_.begin(), words_.lower_bound(next)); }
  bool empty() const { return words_.empty(); }

  void add_to(Digest& digest) const;

 private:
  struct Words {
    std::vector<NodeId> from;
    Round round{};  ///< the highest
    Value value;
  };

  std::map<Instance, Words> words_;
};

}  // namespace peal::order::paxos
