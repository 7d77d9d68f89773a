// SPDX-License-Identifier: Apache-2.0
#include "sim/world/process_buffers.h"

#include <algorithm>

#include "sim/world/world.h"

namespace peal::sim {
namespace {

constexpr std::uint32_t kLargeSlabBytes = 65'536;
constexpr std::uint32_t kLargeSlabs = 64;
/// Large enough for the commit token of a few nodes with large gaps.
constexpr std::uint32_t kUnitSlabBytesLeast = 8'192;
/// Limits address space, not memory: pages that are never used cost nothing.
constexpr std::uint64_t kPoolBytesMost = 256ULL << 20;

std::uint32_t packet_slab_bytes(const WorldOptions& options) {
  return (options.engine.packet_bytes_max() + 63) / 64 * 64;
}

std::uint32_t unit_slab_bytes(const WorldOptions& options) {
  return std::max(packet_slab_bytes(options), kUnitSlabBytesLeast);
}

std::uint32_t slab_count(const WorldOptions& options, std::uint32_t wanted,
                         std::uint32_t slab_bytes) {
  if (wanted != 0) return wanted;
  const order::Needs needs = options.engine.needs(options.nodes);
  const std::uint32_t gap = std::max(needs.values, needs.max_gap);
  const std::uint64_t enough = std::uint64_t{gap} + gap / 2 + 512;
  return static_cast<std::uint32_t>(std::min(enough, kPoolBytesMost / slab_bytes));
}

std::uint32_t frame_count(const WorldOptions& options) {
  if (options.process.unit_slabs != 0) return options.process.unit_slabs;
  return order::packet_buffers(options.engine.needs(options.nodes));
}

}  // namespace

ProcessBuffers::ProcessBuffers(const WorldOptions& options)
    : held_most(options.engine.needs(options.nodes).held),
      receive(packet_slab_bytes(options),
              slab_count(options, options.process.receive_slabs, packet_slab_bytes(options))),
      large(kLargeSlabBytes, kLargeSlabs),
      unit(unit_slab_bytes(options),
           slab_count(options, options.process.unit_slabs, unit_slab_bytes(options))),
      frames(unit_slab_bytes(options), frame_count(options)) {}

}  // namespace peal::sim
