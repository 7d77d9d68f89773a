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
  /// The disks of the others have completed all writes: what they are given is durable.
  std::array<bool, kAcceptors> slow_disk{};
  bool submits = false;  ///< units reach the coordinator of others, too
  /// The acceptors that receive others' votes; learners always do.
  std::array<bool, kAcceptors> learns{};
  std::uint64_t states_max = 20'000'000;  ///< the search fails if there are more
};

struct Explored {
  std::uint64_t states = 0;       ///< of the whole system; learners not counted
  std::uint64_t transitions = 0;  ///< inputs tried in them
  std::uint64_t node_states = 0;  ///< of single nodes, each reached by a replay
  std::uint64_t audited = 0;      ///< compared successors of states with equal digests
  std::uint64_t learner_states = 0;
  bool closed = false;             ///< nothing is left to explore
  std::string violation;           ///< empty: none
  std::vector<std::string> story;  ///< the shortest that leads there
};

/// Explores all that engines of Paxos (the real ones) may do. In every state, every packet that was
/// ever sent may reach its receiver (so packets are lost, late and duplicated), a node may begin a
/// round, a disk may complete all writes, and an acceptor may crash and restart from what is
/// durable. In each state: one value is decided for each instance; learners treat no other one as
/// decided; acceptors' rounds never go back; no acceptor votes for two values of one instance in
/// one round. Stops at the first violation.
///
/// A node's state depends on its own inputs only, so each node is a machine of its own: its states
/// are identified by a digest, and reached again by replaying the inputs that led there. A state of
/// the system is one state of each acceptor, as sent packets are part of their sender's state.
/// Learners send nothing that others need; the values that they could treat as decided are computed
/// for each set of packets.
Explored explore(const Limits& limits);

}  // namespace peal::order::test
