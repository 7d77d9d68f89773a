// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/time.h"
#include "sim/netmodel/model.h"

namespace peal::sim {

/// A kind of network: one value of --net.
struct NetKind {
  std::string_view name;
  std::uint32_t megabits;
  Duration latency;
  std::uint32_t port_buffer_bytes;
  std::string_view help;
  // A bus instead of a switch; see NetModelOptions.
  Duration bus_message{};
  Duration jitter{};
  // Writes into the memory of other nodes; see NetModelOptions. 0: the network has none.
  Duration write{};
  Duration write_done{};

  bool is_bus() const { return bus_message.ns > 0; }
};

/// The software on a node's processor: one value of --cpu.
struct CpuKind {
  std::string_view name;
  Duration step;  ///< fixed cost of any input
  CpuCosts costs;
  std::string_view priority;  ///< when the token is read before data: "careful" or "aggressive"
  /// Packets per token visit; 0 is automatic. `window` is for the accelerated ring, where all these
  /// packets may follow the token. `original_window` is for the original ring.
  std::uint32_t window, original_window;
  std::uint32_t datagram_bytes_large;  ///< largest datagram if messages do not fit in one frame
  std::string_view help;
};

std::span<const NetKind> net_kinds();
std::span<const CpuKind> cpu_kinds();
/// net_kind() and cpu_kind() return null if no kind has the name.
const NetKind* net_kind(std::string_view name);
const CpuKind* cpu_kind(std::string_view name);

}  // namespace peal::sim
