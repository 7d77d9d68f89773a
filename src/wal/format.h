// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

// Encodes and decodes the segments of a log and their frames: see docs/wal.md.

namespace peal::wal {

inline constexpr std::uint32_t kVersion = 5;
inline constexpr std::size_t kHeaderBytes = 80;  ///< header of a segment
inline constexpr std::size_t kFrameBytes = 40;   ///< head of a frame: the frame without its record
inline constexpr std::size_t kAlign = 8;         ///< frames begin at multiples of kAlign

/// The owner of a log.
struct Identity {
  std::uint64_t cluster{};
  NodeId node{};
  friend constexpr bool operator==(const Identity&, const Identity&) = default;
};

struct SegmentHeader {
  Identity owner{};
  /// The file's length in bytes. The length was durable before the segment got its name. So a
  /// shorter file without an end frame was cut later.
  std::uint32_t file_bytes{};
  std::uint64_t epoch{};   ///< incarnation of the node that began the segment
  std::uint64_t serial{};  ///< serial of this segment, from 1; never used twice
  LogPosition first{};     ///< position of the segment's first record, written or not
  std::uint64_t oldest{};  ///< serial of the oldest segment that was needed when this segment began
  std::uint64_t salt{};    ///< random, so that nobody can invent a frame of the segment
  std::uint64_t log{};     ///< random, not 0, the same in all segments of a log: port::Log::id()
  friend constexpr bool operator==(const SegmentHeader&, const SegmentHeader&) = default;
};

enum class HeaderFault : std::uint8_t { too_short, no_segment, unknown_version, bad_checksum };

/// Fills the first kHeaderBytes of `out` and returns the segment's seed. All frames of the segment
/// hold the seed, and their checksums start from the seed. So a frame of an earlier segment is
/// never taken for a frame of this segment, although a segment may reuse the file of an earlier
/// segment.
std::uint32_t encode(const SegmentHeader& header, ByteSpan out);
struct DecodedHeader {
  SegmentHeader header;
  std::uint32_t seed{};
};
Result<DecodedHeader, HeaderFault> decode_header(ByteView bytes);
/// The version number in `bytes`, which must be long enough to hold this number.
std::uint32_t version_of(ByteView bytes);

enum class FrameKind : std::uint32_t {
  record = 0x31525750,  ///< "PWR1"
  mark = 0x314d5750,    ///< "PWM1": what is durable and which segments are needed; may fill a block
  end = 0x31455750,     ///< "PWE1": nothing follows in the segment
};

struct Frame {
  FrameKind kind{};
  /// The position of the record. In a mark or an end: the position of the last record before the
  /// frame.
  LogPosition position{};
  LogPosition durable{};   ///< last position known to be durable when the frame was written
  std::uint64_t oldest{};  ///< serial of the oldest needed segment
  ByteView record;         ///< in a mark: zeros that fill its space; in an end: empty
  friend bool operator==(const Frame&, const Frame&) = delete;
};

/// The size of a frame with a record of `record_bytes` bytes.
constexpr std::size_t frame_bytes(std::size_t record_bytes) {
  return kFrameBytes + (record_bytes + kAlign - 1) / kAlign * kAlign;
}

/// Writes the head and the padding of a frame around the record, which is in its place in `out`
/// already. `out` has frame_bytes(record_bytes) bytes. Ignores Frame::record.
void seal_frame(ByteSpan out, const Frame& frame, std::size_t record_bytes, std::uint32_t seed);
/// The size of the frame whose first kFrameBytes are `head`; 0 if `head` is no frame head of the
/// segment with this seed. Bytes of a client's record or of an earlier segment almost never look
/// like a frame head, because they do not hold the seed.
std::uint64_t frame_bytes_by_head(ByteView head, std::uint32_t seed);
/// The frame that begins at `at`, if it is whole and unchanged; otherwise nothing.
std::optional<Frame> read_frame(ByteView segment, std::size_t at, std::uint32_t seed);

/// Names of files. A segment gets its name only when its header is durable; until then the file's
/// name has kNewSuffix. The file of a segment that is no longer needed may wait for reuse: its name
/// then has kSpareSuffix.
inline constexpr std::string_view kNewSuffix = ".new";
inline constexpr std::string_view kSpareSuffix = ".spare";
std::string segment_name(std::uint64_t serial);
std::optional<std::uint64_t> serial_of(std::string_view name);

}  // namespace peal::wal
