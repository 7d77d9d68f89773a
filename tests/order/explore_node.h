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

/// The possible inputs of a node. From kDeliver on: the packet with the number above it arrives.
using Input = std::uint32_t;
inline constexpr Input kHeartbeat = 0;  ///< its timer
inline constexpr Input kTakeOver = 1;   ///< silence of all but node 3; then its timer
inline constexpr Input kDurable = 2;    ///< all that it appended is on disk
inline constexpr Input kCrash = 3;      ///< and a restart
inline constexpr Input kDeliver = 4;

/// A state of one node. Its whole past is part of it: what it sent, voted for and decided.
struct NodeState {
  std::uint32_t before = 0;
  Input input = 0;          ///< that led here from there
  std::uint32_t depth = 0;  ///< inputs so far
  std::uint32_t sent = 0;   ///< a set of packets
  std::uint32_t told = 0;   ///< those of them that learners listen to
  Facts::Mask votes = 0;    ///< on disk
  Facts::Mask decided = 0;  ///< as it takes it
  std::uint32_t crashes = 0;
  std::string wrong;                 ///< a violation
  std::vector<std::uint32_t> nexts;  ///< by input, as far as they are known
};

/// All states of one node. The numbers of states do not change.
class NodeStates {
 public:
  static constexpr std::uint32_t kImpossible = ~0U;
  static constexpr std::uint32_t kUnknown = ~0U - 1;

  /// `node`: 1 to kAcceptors, or one above: a learner, which only receives packets.
  NodeStates(Shared& shared, std::uint32_t node);

  /// The state after one more input; kImpossible: not now, or beyond the limits.
  std::uint32_t next(std::uint32_t state, Input input) {
    const std::vector<std::uint32_t>& nexts = states_[state].nexts;
    if (input < nexts.size() && nexts[input] != kUnknown) return nexts[input];
    return find(state, input);
  }
  const NodeState& at(std::uint32_t state) const { return states_[state]; }
  std::size_t size() const { return states_.size(); }
  std::string text(Input input) const;
  /// Where two paths led to states of one digest, the same inputs must lead to the same results
  /// after both; otherwise the digest is incomplete. Asserts this for some. Returns the number of
  /// comparisons.
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
