// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "config/settings.h"
#include "io/endpoint.h"
#include "io/error.h"
#include "io/fabric/fabric.h"
#include "io/loop.h"
#include "runtime/node_table.h"

// The memory of a node whose engine needs one (order::Needs::memory).

namespace peal::runtime {

/// Opens the memory of this incarnation, and lets the loop look at it. For shared memory it listens
/// at shared_memory_path(); for streams, at the node's own port. `loop` must outlive the
/// result. Errors: invalid_option, address_in_use, not_permitted, system.
Result<std::unique_ptr<io::fabric::Fabric>, io::IoError> open_memory(const NodeTable& nodes,
                                                                     const MemberId& self,
                                                                     io::Loop& loop);

/// What memory_text() tells.
struct MemoryState {
  std::vector<io::fabric::PeerStatus> peers;
  std::string problem;        ///< Fabric::problem()
  std::string verbs_problem;  ///< Fabric::verbs_problem()
};
MemoryState memory_state(const io::fabric::Fabric& memory);
/// Which fabric reaches which node, such as "n2 shm, n3 tcp (why not shm)", for people. Why RDMA is
/// not used is in it if it would reach a node faster.
std::string memory_text(const MemoryState& state, const trace::Names& names);
/// Adds the counters of the memory, and of the writes to each node.
void add_memory_counters(const io::fabric::Fabric& memory, const trace::Names& names,
                         std::vector<std::pair<std::string, std::uint64_t>>& to);

/// Where a node listens for others on the same machine. All processes of one user share a folder.
std::string shared_memory_path(const config::Settings& settings, const std::string& node);

}  // namespace peal::runtime
