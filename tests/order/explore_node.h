// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "explore_mail.h"

namespace peal::order::test {

/// The possible inputs of a node. Input kDeliver + n: packet number n of Mail arrives.
using Input = std::uint32_t;
inline constexpr Input kHeartbeat = 0;  ///< the node's timer fires
inline constexpr Input kTakeOver = 1;   ///< the node hears only node 3 for long, and begins a round
inline constexpr Input kDurable = 2;    ///< all records that the node appended become durable
inline constexpr Input kCrash = 3;      ///< the node crashes and restarts
inline constexpr Input kDeliver = 4;

/// A state of one node. It includes all packets that the node sent, and all its votes and
/// decisions.
struct NodeState {
  std::uint32_t before = 0;
  Input input = 0;          ///< the input that leads from state `before` to this state
  std::uint32_t depth = 0;  ///< number of inputs from the first state to this one
  std::uint32_t sent = 0;   ///< the set of the packets that the node sent (its number in Sets)
  std::uint32_t told = 0;   ///< the subset of `sent` that learners use: PROPOSE and STATE
  Facts::Mask votes = 0;    ///< durable votes
  Facts::Mask decided = 0;  ///< values that the node treats as decided
  std::uint32_t crashes = 0;
  std::string wrong;                 ///< a violation by this node; empty: none
  std::vector<std::uint32_t> nexts;  ///< for each input: the next state, or kUnknown
};

/// All states of one node. A state keeps its number.
class NodeStates {
 public:
  static constexpr std::uint32_t kImpossible = ~0U;
  static constexpr std::uint32_t kUnknown = ~0U - 1;

  /// `node`: 1 to kAcceptors for an acceptor; kAcceptors + 1 for a learner, which only receives.
  NodeStates(Shared& shared, std::uint32_t node);

  /// The state after one more input. kImpossible: the input is not possible in this state, or
  /// exceeds the limits.
  std::uint32_t next(std::uint32_t state, Input input) {
    const std::vector<std::uint32_t>& nexts = states_[state].nexts;
    if (input < nexts.size() && nexts[input] != kUnknown) return nexts[input];
    return find(state, input);
  }
  const NodeState& at(std::uint32_t state) const { return states_[state]; }
  std::size_t size() const { return states_.size(); }
  std::string text(Input input) const;
  /// If two paths lead to states with equal digests, each further input must lead to equal digests
  /// on both paths; otherwise the digest is incomplete. Asserts this for some paths. Returns the
  /// number of comparisons.
  std::uint64_t audit();

 private:
  std::vector<Input> path(std::uint32_t state) const;
  std::uint32_t find(std::uint32_t state, Input input);
  std::uint32_t arrive(const std::vector<Input>& inputs, std::uint32_t before, bool& known);

  Shared& shared_;
  std::uint32_t node_;
  std::deque<NodeState> states_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::uint64_t merged_ = 0;
  std::vector<std::pair<std::uint32_t, std::vector<Input>>> merged_ways_;
};

}  // namespace peal::order::test
