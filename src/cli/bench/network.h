// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/fd.h"

namespace peal::cli {

/// Network namespaces for the nodes of a benchmark. Each node has one namespace with one interface,
/// e0. Cables connect the interfaces to one bridge. This process moves to a namespace of its own,
/// which has the bridge. The kernel removes everything when the process and its children have
/// ended, even by a crash.
class BenchNetwork {
 public:
  /// If links are shaped: maximum number of bytes of packets that wait at each port of the bridge,
  /// as in a small switch. Further packets are dropped.
  static constexpr std::uint32_t kSwitchQueueBytes = 512U << 10;

  /// Call make() while the process has one thread. `link_bits_per_s` limits each cable in each
  /// direction; 0: as fast as the machine. The error is one line that says what is missing.
  static Result<BenchNetwork, std::string> make(std::uint32_t nodes, double link_bits_per_s);

  /// The namespace of a node, counted from 0, for Child::start().
  int space(std::uint32_t node) const { return spaces_[node].get(); }
  /// The address of a node, counted from 0.
  static std::string address(std::uint32_t node) { return "10.77.0." + std::to_string(node + 1); }

 private:
  std::vector<io::Fd> spaces_;
};

}  // namespace peal::cli
