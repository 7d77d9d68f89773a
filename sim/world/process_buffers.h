// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/buffer.h"

namespace peal::sim {

struct WorldOptions;

/// The buffers of one process: of packets that it reads, and of its units.
struct ProcessBuffers {
  explicit ProcessBuffers(const WorldOptions& options);

  BufferPool receive;  ///< of ordinary packets
  BufferPool large;    ///< of larger ones
  BufferPool unit;

  /// The pool for a packet of this size, which may be too large for any.
  BufferPool& for_packet(std::uint32_t bytes) {
    return bytes <= receive.slab_bytes() ? receive : large;
  }
  /// Buffers in use, except large ones.
  std::uint32_t held() const { return used(receive) + used(unit); }
  std::uint32_t held_with_large() const { return held() + used(large); }

 private:
  static std::uint32_t used(const BufferPool& pool) {
    return pool.slab_count() - pool.free_count();
  }
};

}  // namespace peal::sim
