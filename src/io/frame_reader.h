// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "base/bytes.h"

namespace peal::io {

/// In front of each packet of a stream: how many bytes it has, the lowest first.
inline constexpr std::uint32_t kLengthBytes = 4;
/// The largest packet of a stream, as of a datagram.
inline constexpr std::uint32_t kStreamPacketMax = 65'507;

void write_length(std::uint32_t length, ByteSpan out);

/// Cuts packets out of the bytes of one stream, where they lie in slabs of a pool. Of what comes it
/// looks at nothing but lengths; holds one slab at most. Nothing is allocated.
class FrameReader {
 public:
  /// Read at most so much at once: it is still in the processor's cache when it is opened.
  static constexpr std::uint32_t kReadBytes = 256U << 10;

  /// Slabs of at least four times the largest packet, which has `packet_bytes_max` bytes.
  FrameReader(BufferPool& pool, std::uint32_t packet_bytes_max)
      : pool_(pool), packet_bytes_max_(packet_bytes_max) {}

  /// Where the stream is to be read to; empty if the pool is used up. All packets must have been
  /// taken out before.
  ByteSpan room();
  /// So many bytes were read there.
  void note(std::size_t bytes) { end_ += static_cast<std::uint32_t>(bytes); }

  enum class Found : std::uint8_t {
    packet,      ///< there may be another one behind it
    nothing,     ///< the next one is not here as a whole
    bad_length,  ///< none, or more than a packet may have: the rest of the stream means nothing
  };
  Found next(BufferRef& packet);

 private:
  BufferPool& pool_;
  std::uint32_t packet_bytes_max_;
  BufferRef slab_;
  std::uint32_t begin_ = 0;  ///< of what was not taken out
  std::uint32_t end_ = 0;    ///< of what was read
};

}  // namespace peal::io
