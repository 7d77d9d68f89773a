// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/time.h"
#include "sim/netmodel/model.h"

namespace peal::sim {

/// A kind of network, as one value of --net.
struct NetKind {
  std::string_view name;
  std::uint32_t megabits;
  Duration latency;
  std::uint32_t port_buffer_bytes;
  std::string_view help;
};

/// What runs on a node's processor, as one value of --cpu.
struct CpuKind {
  std::string_view name;
  Duration step;  ///< of any input, before anything else
  CpuCosts costs;
  std::string_view priority;  ///< when the token is read before data: "careful" or "aggressive"
  /// Packets per visit, all of which may follow the token, and those of the original ring; 0: they
  /// tune themselves.
  std::uint32_t window, original_window;
  std::uint32_t datagram_bytes_large;  ///< largest datagram, if no message fits in one frame
  std::string_view help;
};

std::span<const NetKind> net_kinds();
std::span<const CpuKind> cpu_kinds();
/// Null if there is none of this name.
const NetKind* net_kind(std::string_view name);
const CpuKind* cpu_kind(std::string_view name);

}  // namespace peal::sim
