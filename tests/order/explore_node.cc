// SPDX-License-Identifier: Apache-2.0
#include "explore_node.h"

#include <algorithm>

#include "base/assert.h"
#include "explore_run.h"

namespace peal::order::test {
namespace {

/// Of the paths that lead to a known state, audit() compares one in kAuditEvery with the first path
/// to that state.
constexpr std::uint64_t kAuditEvery = 16;

}  // namespace

NodeStates::NodeStates(Shared& shared, std::uint32_t node) : shared_(shared), node_(node) {
  bool known = false;
  arrive({}, 0, known);
}

std::vector<Input> NodeStates::path(std::uint32_t state) const {
  std::vector<Input> inputs;
  for (; states_[state].depth != 0; state = states_[state].before) {
    inputs.push_back(states_[state].input);
  }
  std::reverse(inputs.begin(), inputs.end());
  return inputs;
}

std::uint32_t NodeStates::find(std::uint32_t state, Input input) {
  std::vector<Input> inputs = path(state);
  inputs.push_back(input);
  bool known = false;
  const std::uint32_t found = arrive(inputs, state, known);
  std::vector<std::uint32_t>& nexts = states_[state].nexts;
  if (input >= nexts.size()) nexts.resize(input + 1, kUnknown);
  nexts[input] = found;
  if (known && found != state && ++merged_ % kAuditEvery == 0) {
    merged_ways_.push_back({found, std::move(inputs)});
  }
  return found;
}

std::uint32_t NodeStates::arrive(const std::vector<Input>& inputs, std::uint32_t before,
                                 bool& known) {
  ReplayedNode node(shared_, node_);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (node.apply(inputs[i])) continue;
    PEAL_ASSERT(i + 1 == inputs.size());
    return kImpossible;
  }
  NodeState state;
  const std::uint64_t digest = node.finish(state);
  const auto number = static_cast<std::uint32_t>(states_.size());
  const auto [at, added] = numbers_.emplace(digest, number);
  known = !added;
  if (added) {
    state.before = before;
    state.input = inputs.empty() ? 0 : inputs.back();
    state.depth = static_cast<std::uint32_t>(inputs.size());
    states_.push_back(std::move(state));
  }
  return at->second;
}

std::uint64_t NodeStates::audit() {
  std::uint64_t compared = 0;
  for (auto& [state, inputs] : merged_ways_) {
    for (Input input = 0; input < states_[state].nexts.size(); ++input) {
      const std::uint32_t expected = states_[state].nexts[input];
      if (expected == kUnknown) continue;
      inputs.push_back(input);
      bool known = false;
      const std::uint32_t found = arrive(inputs, state, known);
      PEAL_ASSERT(found == expected && "the digest leaves out what matters");
      inputs.pop_back();
      ++compared;
    }
  }
  return compared;
}

std::string NodeStates::text(Input input) const {
  const std::string name = node_ > kAcceptors ? "a learner" : "n" + std::to_string(node_);
  switch (input) {
    case kHeartbeat: return name + " has its timer";
    case kTakeOver: return name + " begins a round";
    case kDurable: return name + "'s disk has all";
    case kCrash: return name + " crashes and restarts";
    default: return name + " gets " + shared_.mail.text(input - kDeliver);
  }
}

}  // namespace peal::order::test
