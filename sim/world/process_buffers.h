// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/buffer.h"

namespace peal::sim {

struct WorldOptions;

/// The buffers of one process: for packets that the process reads, and for units.
struct ProcessBuffers {
  explicit ProcessBuffers(const WorldOptions& options);

  /// Maximum number of buffers that a node may hold, from order::Needs::held.
  const std::uint32_t held_most;
  BufferPool receive;  ///< for ordinary packets
  BufferPool large;    ///< for larger packets
  BufferPool unit;
  BufferPool frames;  ///< for packets that the engine makes; as many as a real node has

  /// The pool for a packet of this size. The packet may still be too large for the pool's buffers.
  BufferPool& for_packet(std::uint32_t bytes) {
    return bytes <= receive.slab_bytes() ? receive : large;
  }
  /// Number of buffers in use, without `large`.
  std::uint32_t held() const { return used(receive) + used(unit) + used(frames); }
  std::uint32_t held_with_large() const { return held() + used(large); }

 private:
  static std::uint32_t used(const BufferPool& pool) {
    return pool.slab_count() - pool.free_count();
  }
};

}  // namespace peal::sim
