// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace peal::order::test {

/// Nodes 1 to 3 are acceptors; 1 and 2 may coordinate, as far as `rounds` says.
inline constexpr std::uint32_t kAcceptors = 3;

struct Limits {
  std::array<std::uint32_t, kAcceptors> rounds{1, 1, 0};  ///< that each node begins
  std::array<std::uint32_t, kAcceptors> units{1, 1, 0};   ///< that each has of its own
  std::array<std::uint32_t, kAcceptors> crashes{};        ///< of each node; it restarts at once
  std::uint32_t crashes_max = 0;                          ///< of all nodes together
  bool crash_loses_disk = false;  ///< and it begins with an empty one, and another log
  /// Others' disks have written all at once: whatever they are given is durable.
  std::array<bool, kAcceptors> slow_disk{};
  bool submits = false;  ///< units reach the coordinator of others, too
  /// Of the acceptors, those who hear of others' votes; learners always do.
  std::array<bool, kAcceptors> learns{};
  std::uint64_t states_max = 20'000'000;  ///< not closed if there are more
};

struct Explored {
  std::uint64_t states = 0;       ///< of the whole system; learners not counted
  std::uint64_t transitions = 0;  ///< inputs tried in them
  std::uint64_t node_states = 0;  ///< of single nodes, each reached by a replay
  std::uint64_t audited = 0;      ///< futures compared, of states that have one digest
  std::uint64_t learner_states = 0;
  bool closed = false;             ///< nothing is left to explore
  std::string violation;           ///< empty: none
  std::vector<std::string> story;  ///< the shortest that leads there
};

/// Explores all that engines of Paxos (the real ones) may do: in every state, every packet that was
/// ever sent may reach whoever it is for (so packets are lost, late, and come twice), a node may
/// begin a round, a disk may have written all it was given, and an acceptor may crash and restart
/// from what is durable. In each state: one value is decided for each instance; learners take
/// nothing else for decided; acceptors' rounds never go back; nobody votes for two values of one
/// instance in one round. Stops at the first violation.
///
/// A node's state depends on its own inputs only, so each node is a machine of its own: its states
/// are known by a digest, and reached again by replaying the inputs that led there. A state of the
/// system is one state of each acceptor, as what was sent is part of its sender's state. Learners
/// say nothing that others need; what they could take for decided is found for each set of packets.
Explored explore(const Limits& limits);

}  // namespace peal::order::test
