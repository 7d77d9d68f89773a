// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "base/ids.h"

namespace peal::io {

/// Faults that a transport injects into its own traffic, for tests and benchmarks that need loss.
/// The faults affect multicast probes too.
struct Faults {
  double drop_in = 0;        ///< probability for each incoming datagram
  double drop_out = 0;       ///< probability for each outgoing packet and destination
  std::set<NodeId> deaf_to;  ///< packets from these nodes are lost
  std::set<NodeId> mute_to;  ///< packets to these nodes are lost
  /// If set, the four faults above affect this lane only. An incoming control packet counts as a
  /// token, because control and tokens use one socket.
  std::optional<Lane> only;
  bool multicast_in_lost = false;   ///< all incoming multicast is lost
  bool multicast_out_lost = false;  ///< all outgoing multicast is lost, for every receiver
};

}  // namespace peal::io
