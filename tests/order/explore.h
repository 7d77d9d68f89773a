// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace peal::order::test {

/// Nodes 1 to 3 are acceptors. Limits::rounds determines which of them may coordinate.
inline constexpr std::uint32_t kAcceptors = 3;

struct Limits {
  /// How many rounds each node may begin.
  std::array<std::uint32_t, kAcceptors> rounds{1, 1, 0};
  std::array<std::uint32_t, kAcceptors> units{1, 1, 0};  ///< how many units each node submits
  /// How often each node may crash; it restarts at once.
  std::array<std::uint32_t, kAcceptors> crashes{};
  std::uint32_t crashes_max = 0;  ///< how often all nodes together may crash
  bool crash_loses_disk = false;  ///< a crashed node restarts with an empty disk and a new log
  /// True: kDurable makes the node's writes durable. False: each write is durable at once.
  std::array<bool, kAcceptors> slow_disk{};
  bool submits = false;  ///< SUBMIT packets reach the coordinators
  /// The acceptors that receive the votes of others. Learners always receive votes.
  std::array<bool, kAcceptors> learns{};
  std::uint64_t states_max = 20'000'000;  ///< the search gives up when it has more states
};

struct Explored {
  std::uint64_t states = 0;       ///< states of the system of three acceptors
  std::uint64_t transitions = 0;  ///< possible inputs, counted in each of these states
  std::uint64_t node_states = 0;  ///< states of single acceptors; each was reached by a replay
  std::uint64_t audited = 0;      ///< comparisons by NodeStates::audit()
  std::uint64_t learner_states = 0;
  bool closed = false;             ///< all states within the limits were explored
  std::string violation;           ///< the first violation; empty: none
  std::vector<std::string> story;  ///< a shortest sequence of inputs to the violation
};

/// Explores all behaviour of real Paxos engines within `limits`. In every state, every packet that
/// was ever sent may reach its receiver (so packets are lost, late and duplicated), a node may
/// begin a round, a disk may complete all writes, and an acceptor may crash and restart from its
/// durable records. Checks in each state: at most one value is decided for an instance; learners
/// treat no other value as decided; the rounds of an acceptor never decrease; no acceptor votes for
/// two values of one instance in one round. Stops at the first violation.
///
/// The state of a node depends on the inputs of this node only, so each node is a state machine. A
/// digest identifies each state of a node; a replay of the inputs that led to the state reaches it
/// again. A state of the system is one state of each acceptor, because the packets that a node sent
/// are part of the node's state. Learners send nothing that other nodes need: for each set of
/// packets, the search computes the values that a learner could treat as decided.
Explored explore(const Limits& limits);

}  // namespace peal::order::test
