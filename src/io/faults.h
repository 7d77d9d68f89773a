// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "base/ids.h"

namespace peal::io {

/// Faults that a transport injects into its own traffic: for tests and benchmarks, which need loss
/// that the network at hand does not have. They touch the probes of multicast as well.
struct Faults {
  double drop_in = 0;        ///< probability for each incoming datagram
  double drop_out = 0;       ///< probability for each outgoing packet and destination
  std::set<NodeId> deaf_to;  ///< nothing from these nodes arrives
  std::set<NodeId> mute_to;  ///< nothing goes to these nodes
  /// If set, the four above touch this lane only. Incoming control counts as token: they share a
  /// socket.
  std::optional<Lane> only;
  bool multicast_in_lost = false;   ///< nothing arrives by multicast
  bool multicast_out_lost = false;  ///< nothing sent by multicast arrives anywhere
};

}  // namespace peal::io
