// SPDX-License-Identifier: Apache-2.0
#include "runtime/buffers.h"

#include <algorithm>
#include <cstdint>

#include "io/udp.h"

namespace peal::runtime {
namespace {

/// Enough for a view of the maximum number of nodes, and for a promise with some 500 runs of votes.
constexpr std::uint32_t kValuesFrameBytes = 16'384;
constexpr std::uint32_t kReceiveSlabsMin = 16;
constexpr std::uint32_t kReceiveSlabsMax = 512;

/// The number of slabs for received packets. The engine keeps packets until all nodes have them;
/// other packets wait until the application reads them. Unused slabs cost address space only.
std::uint32_t receive_slabs(const config::Settings& settings) {
  // With optimistic delivery, each unit is delivered twice, and waits for the reader twice.
  const order::Needs needs = needs_of(settings);
  const std::uint64_t copies = needs.optimistic ? 8 : 4;
  const std::uint64_t kept = std::uint64_t{needs.max_gap} * copies * packet_bytes(settings);
  const std::uint64_t slabs =
      (kept + settings.receive_bytes_max) / io::UdpTransport::kSlabBytes + kReceiveSlabsMin;
  // Each stream that is read has a slab of its own.
  const std::uint32_t streams =
      uses_streams(settings) ? 2 * static_cast<std::uint32_t>(settings.nodes.size()) : 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(slabs, kReceiveSlabsMax)) + streams;
}

std::uint32_t slab_bytes(const config::Settings& settings) {
  return (packet_bytes(settings) + 63U) & ~63U;
}

/// The size of a slab in the pool of frames. A pool that also holds what the engine keeps has many
/// slabs, so its slabs are smaller.
std::uint32_t frame_slab_bytes(const config::Settings& settings) {
  const std::uint32_t largest = frame_bytes(settings);
  const order::Needs needs = needs_of(settings);
  if (needs.values == 0 && needs.own_packets == 0) return largest;
  return std::min(largest, std::max(slab_bytes(settings), kValuesFrameBytes));
}

std::uint32_t unit_slabs(const config::Settings& settings) {
  return needs_of(settings).max_gap * 2 + 1'024;
}

}  // namespace

Buffers::Buffers(const config::Settings& settings)
    : received(io::UdpTransport::kSlabBytes, receive_slabs(settings)),
      units(slab_bytes(settings), unit_slabs(settings)),
      frames(frame_slab_bytes(settings), order::packet_buffers(needs_of(settings))) {}

bool Buffers::are_short() const {
  return received.free_count() < received.slab_count() / 4 ||
         units.free_count() < units.slab_count() / 4;
}

}  // namespace peal::runtime
