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
  clean,    ///< nothing of this segment: zeros, or what an earlier one left in the file
  torn,     ///< a write that a crash cut off: nothing in it was ever reported durable
  damaged,  ///< something that was durable is not there any more
  cut,      ///< the file is shorter than when it was begun, and nobody knows what it held
};

struct Scan {
  std::size_t end{};      ///< behind the last whole frame
  LogPosition last{};     ///< of the last record; the one before the segment's first if it has none
  LogPosition durable{};  ///< the highest that a frame calls durable
  std::uint64_t oldest{};  ///< serial of the oldest segment that is needed
  bool ended = false;      ///< there is an end frame
  Tail tail = Tail::clean;
  std::size_t damage_at{};  ///< if damaged or cut: what is wrong begins here
  std::size_t proof_at{};   ///< if damaged: and this frame shows it; may be the same
};

/// Reads the frames of a segment, whose header was decoded, and says how it ends. `on_frame` gets
/// each in order.
port::DiskResult<Scan> scan_segment(SegmentReader& segment, const DecodedHeader& header,
                                    const std::function<void(const Frame&)>& on_frame);

}  // namespace peal::wal
