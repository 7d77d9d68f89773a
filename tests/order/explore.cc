// SPDX-License-Identifier: Apache-2.0
#include "explore.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "explore_node.h"

namespace peal::order::test {
namespace {

using States = std::array<std::uint32_t, kAcceptors>;  ///< the number of each acceptor's state
constexpr unsigned kStateBits = 21;

std::uint64_t packed(const States& states) {
  std::uint64_t all = 0;
  for (const std::uint32_t each : states) {
    PEAL_ASSERT(each >> kStateBits == 0);
    all = all << kStateBits | each;
  }
  return all;
}

States unpacked(std::uint64_t all) {
  States states;
  for (std::size_t i = kAcceptors; i-- > 0; all >>= kStateBits) {
    states[i] = static_cast<std::uint32_t>(all & ((1U << kStateBits) - 1));
  }
  return states;
}

/// A hash set of numbers other than ~0. It is one array, so it needs little memory.
class NumberSet {
 public:
  NumberSet() : slots_(1U << 12, kEmpty) {}
  /// False if the set has the number already.
  bool insert(std::uint64_t number) {
    if (++size_ * 2 > slots_.size()) grow();
    return put(slots_, number);
  }

 private:
  static constexpr std::uint64_t kEmpty = ~0ULL;
  bool put(std::vector<std::uint64_t>& slots, std::uint64_t number) {
    std::size_t at = (number * 0x9e3779b97f4a7c15ULL >> 20) & (slots.size() - 1);
    for (; slots[at] != kEmpty; at = (at + 1) & (slots.size() - 1)) {
      if (slots[at] == number) {
        --size_;
        return false;
      }
    }
    slots[at] = number;
    return true;
  }
  void grow() {
    std::vector<std::uint64_t> larger(slots_.size() * 2, kEmpty);
    for (const std::uint64_t each : slots_) {
      if (each != kEmpty) put(larger, each);
    }
    slots_ = std::move(larger);
  }
  std::vector<std::uint64_t> slots_;
  std::size_t size_ = 0;
};

class Search {
 public:
  explicit Search(const Limits& limits)
      : shared_(limits),
        nodes_{NodeStates(shared_, 1), NodeStates(shared_, 2), NodeStates(shared_, 3)},
        learner_(shared_, kAcceptors + 1) {}

  Explored run();

 private:
  struct Reached {
    std::uint64_t states = 0;
    std::uint32_t before = 0;
    std::uint32_t node = 0;
    Input input = 0;
  };
  bool visit(std::uint32_t at);
  bool try_input(std::uint32_t at, const States& states, std::uint32_t node, Input input);
  bool fine(const States& states);
  Facts::Mask chosen(const States& states);
  Facts::Mask learned(const States& states);
  std::vector<std::string> story(std::uint32_t at) const;
  void tell_learners(const States& states, Facts::Mask wanted);
  std::vector<std::uint32_t> told(const States& states) const;
  Facts::Mask learn(const std::vector<std::uint32_t>& packets, Facts::Mask wanted,
                    std::vector<std::string>* path);

  Shared shared_;
  std::array<NodeStates, kAcceptors> nodes_;
  NodeStates learner_;
  std::vector<Reached> reached_;
  NumberSet known_;
  /// The results of learned(), by the packed `told` sets of the three acceptors.
  std::unordered_map<std::uint64_t, Facts::Mask> learned_;
  Explored result_;
  std::vector<std::string> learners_story_;
};

Explored Search::run() {
  reached_.push_back({packed({0, 0, 0}), 0, 0, 0});
  known_.insert(reached_[0].states);
  std::uint32_t at = 0;
  while (at < reached_.size() && reached_.size() <= shared_.limits.states_max) {
    if (!visit(at++)) break;
  }
  result_.states = reached_.size();
  for (const NodeStates& node : nodes_) result_.node_states += node.size();
  result_.learner_states = learner_.size();
  if (result_.violation.empty()) {
    result_.closed = at == reached_.size();
    for (NodeStates& node : nodes_) result_.audited += node.audit();
    result_.audited += learner_.audit();
  } else {
    result_.story = story(static_cast<std::uint32_t>(reached_.size()) - 1);
    result_.story.insert(result_.story.end(), learners_story_.begin(), learners_story_.end());
  }
  return result_;
}

// Tries every input of every acceptor in this state. False if a violation was found.
bool Search::visit(std::uint32_t at) {
  const States states = unpacked(reached_[at].states);
  std::uint32_t crashes = 0;
  for (std::size_t i = 0; i < kAcceptors; ++i) crashes += nodes_[i].at(states[i]).crashes;
  for (std::uint32_t node = 0; node < kAcceptors; ++node) {
    for (const Input input : {kHeartbeat, kTakeOver, kDurable, kCrash}) {
      if (input == kCrash && crashes == shared_.limits.crashes_max) continue;
      if (!try_input(at, states, node, input)) return false;
    }
    for (std::uint32_t from = 0; from < kAcceptors; ++from) {
      if (from == node) continue;
      for (const std::uint32_t number : shared_.sets.at(nodes_[from].at(states[from]).sent)) {
        const Mail::Packet& packet = shared_.mail.at(number);
        const bool heard = packet.to == 0 || packet.to == node + 1;
        const bool ignored = packet.kind == wire::PaxosKind::state && !shared_.limits.learns[node];
        if (!heard || ignored) continue;
        if (!try_input(at, states, node, kDeliver + number)) return false;
      }
    }
  }
  return true;
}

bool Search::try_input(std::uint32_t at, const States& states, std::uint32_t node, Input input) {
  const std::uint32_t next = nodes_[node].next(states[node], input);
  if (next == NodeStates::kImpossible) return true;
  ++result_.transitions;
  if (next == states[node]) return true;
  States after = states;
  after[node] = next;
  const std::uint64_t all = packed(after);
  if (!known_.insert(all)) return true;
  reached_.push_back({all, at, node, input});
  return fine(after);
}

bool Search::fine(const States& states) {
  Facts::Mask votes = 0;
  Facts::Mask decided = 0;
  for (std::size_t i = 0; i < kAcceptors; ++i) {
    const NodeState& node = nodes_[i].at(states[i]);
    if (!node.wrong.empty()) result_.violation = node.wrong;
    votes |= node.votes;
    decided |= node.decided;
  }
  const Facts::Mask by_majority = chosen(states);
  const Facts::Mask by_learners = learned(states);
  const Facts::Mask taken = decided | by_learners;
  if (const std::string two = shared_.votes.contradiction(votes); !two.empty()) {
    result_.violation = "votes in one round for " + two;
  } else if (const std::string both = shared_.decisions.contradiction(by_majority | taken);
             !both.empty()) {
    result_.violation = "decided are " + both;
    tell_learners(states, by_learners);
  } else if ((taken & ~by_majority) != 0) {
    result_.violation = "taken for decided, though no majority has voted for it";
    tell_learners(states, by_learners & ~by_majority);
  }
  return result_.violation.empty();
}

// The values for which a majority of the acceptors has durable votes in one round.
Facts::Mask Search::chosen(const States& states) {
  const Facts::Mask a = nodes_[0].at(states[0]).votes;
  const Facts::Mask b = nodes_[1].at(states[1]).votes;
  const Facts::Mask c = nodes_[2].at(states[2]).votes;
  Facts::Mask all = 0;
  for (Facts::Mask most = (a & b) | (a & c) | (b & c); most != 0; most &= most - 1) {
    const Facts::Fact& vote = shared_.votes.all()[static_cast<std::size_t>(std::countr_zero(most))];
    all |= shared_.decisions.bit_of({vote.instance, {}, vote.value});
  }
  return all;
}

// ---- learners ----

std::vector<std::uint32_t> Search::told(const States& states) const {
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < kAcceptors; ++i) {
    const auto& some = shared_.sets.at(nodes_[i].at(states[i]).told);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Facts::Mask Search::learned(const States& states) {
  States sets;
  for (std::size_t i = 0; i < kAcceptors; ++i) sets[i] = nodes_[i].at(states[i]).told;
  const auto [at, added] = learned_.emplace(packed(sets), 0);
  if (added) at->second = learn(told(states), 0, nullptr);
  return at->second;
}

// The values that a learner may treat as decided if it receives any of these packets, in any order,
// any number of times. `path`, if not null, gets the packets that lead to one of the `wanted`
// values.
Facts::Mask Search::learn(const std::vector<std::uint32_t>& packets, Facts::Mask wanted,
                          std::vector<std::string>* path) {
  struct Way {
    std::uint32_t state, before;
    Input input;
  };
  Facts::Mask all = 0;
  std::vector<Way> ways{{0, 0, 0}};
  std::vector<bool> seen(learner_.size() + 1, false);
  seen[0] = true;
  for (std::uint32_t at = 0; at < ways.size(); ++at) {
    const std::uint32_t state = ways[at].state;
    all |= learner_.at(state).decided;
    if (path != nullptr && (learner_.at(state).decided & wanted) != 0) {
      for (std::uint32_t step = at; step != 0; step = ways[step].before) {
        path->push_back(learner_.text(ways[step].input));
      }
      std::reverse(path->begin(), path->end());
      break;
    }
    for (const std::uint32_t number : packets) {
      const std::uint32_t next = learner_.next(state, kDeliver + number);
      if (next >= seen.size()) seen.resize(next + 1, false);
      if (seen[next]) continue;
      seen[next] = true;
      ways.push_back({next, at, kDeliver + number});
    }
  }
  return all;
}

// ---- sequences of inputs ----

std::vector<std::string> Search::story(std::uint32_t at) const {
  std::vector<std::string> lines;
  for (; at != 0; at = reached_[at].before) {
    lines.push_back(nodes_[reached_[at].node].text(reached_[at].input));
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

void Search::tell_learners(const States& states, Facts::Mask wanted) {
  for (; wanted != 0; wanted &= wanted - 1) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(wanted));
    const Facts::Fact& fact = shared_.decisions.all()[bit];
    std::vector<std::string> path;
    learn(told(states), Facts::Mask{1} << bit, &path);
    path.push_back("and takes for decided: " + fact.value + " at " + std::to_string(fact.instance));
    learners_story_.insert(learners_story_.end(), path.begin(), path.end());
  }
}

}  // namespace

Explored explore(const Limits& limits) { return Search(limits).run(); }

}  // namespace peal::order::test
