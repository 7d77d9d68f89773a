// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "base/bytes.h"

namespace peal::io {

/// Size of the little-endian length in front of each packet of a stream.
inline constexpr std::uint32_t kLengthBytes = 4;
/// The largest packet of a stream: as large as the largest UDP payload.
inline constexpr std::uint32_t kStreamPacketMax = 65'507;

void write_length(std::uint32_t length, ByteSpan out);

/// Splits the bytes of one stream into packets, in place in slabs of a pool. Interprets only the
/// packets' lengths. Holds at most one slab. Allocates nothing.
class FrameReader {
 public:
  /// Maximum number of bytes to read at once. The limit keeps these bytes in the processor's cache
  /// until their packets are opened.
  static constexpr std::uint32_t kReadBytes = 256U << 10;

  /// A slab must be at least four times `packet_bytes_max`, the size of the largest packet.
  FrameReader(BufferPool& pool, std::uint32_t packet_bytes_max)
      : pool_(pool), packet_bytes_max_(packet_bytes_max) {}

  /// The memory to read the stream into; empty if the pool is used up. Before each call, take all
  /// packets out with next().
  ByteSpan room();
  /// Notes that `bytes` bytes were read into room().
  void note(std::size_t bytes) { end_ += static_cast<std::uint32_t>(bytes); }

  enum class Found : std::uint8_t {
    packet,      ///< one packet was cut out; another one may follow
    nothing,     ///< the next packet is not complete yet
    bad_length,  ///< the length is 0 or above the maximum: the rest of the stream is useless
  };
  Found next(BufferRef& packet);

 private:
  BufferPool& pool_;
  std::uint32_t packet_bytes_max_;
  BufferRef slab_;
  std::uint32_t begin_ = 0;  ///< offset of the first byte not taken out
  std::uint32_t end_ = 0;    ///< offset behind the last byte read
};

}  // namespace peal::io
