// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "port/disk.h"
#include "wal/format.h"
#include "wal/segment_reader.h"

namespace peal::wal {

/// What the bytes behind the last whole frame of a segment mean.
enum class Tail : std::uint8_t {
  clean,    ///< no frame of this segment: zeros, or bytes that an earlier segment left in the file
  torn,     ///< a write that a crash cut off: nothing in it was ever reported durable
  damaged,  ///< durable bytes have changed or are missing
  cut,      ///< the file is shorter than at its creation, so durable frames may be gone
};

struct Scan {
  std::size_t end{};       ///< offset behind the last whole frame
  LogPosition last{};      ///< of the last record; without records, SegmentHeader::first minus 1
  LogPosition durable{};   ///< the highest position that a frame calls durable
  std::uint64_t oldest{};  ///< serial of the oldest needed segment
  bool ended = false;      ///< the segment has its end frame
  Tail tail = Tail::clean;
  std::size_t damage_at{};  ///< if damaged or cut: offset where the damage begins
  /// If damaged: the offset of the frame that proves the damage. It may equal damage_at.
  std::size_t proof_at{};
};

/// Reads the frames of a segment, whose header is decoded already, and judges its tail. Passes each
/// frame to `on_frame`, in order.
port::DiskResult<Scan> scan_segment(SegmentReader& segment, const DecodedHeader& header,
                                    const std::function<void(const Frame&)>& on_frame);

}  // namespace peal::wal
