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

// How segments and what is in them become bytes: docs/wal.md.

namespace peal::wal {

inline constexpr std::uint32_t kVersion = 5;
inline constexpr std::size_t kHeaderBytes = 80;  ///< of a segment
inline constexpr std::size_t kFrameBytes = 40;   ///< of a frame, without what it carries
inline constexpr std::size_t kAlign = 8;         ///< frames begin at multiples of it

/// Whose log it is.
struct Identity {
  std::uint64_t cluster{};
  NodeId node{};
  friend constexpr bool operator==(const Identity&, const Identity&) = default;
};

struct SegmentHeader {
  Identity owner{};
  /// So long was the file, durably, when the segment got its name: it never grows, and one that is
  /// shorter was cut.
  std::uint32_t file_bytes{};
  std::uint64_t epoch{};   ///< of the incarnation that began the segment
  std::uint64_t serial{};  ///< of the segment; the first is 1, and none is used twice
  LogPosition first{};     ///< of the first record that it holds, or will hold
  std::uint64_t oldest{};  ///< serial of the oldest segment that is still needed
  std::uint64_t salt{};    ///< random: nobody can invent a frame for a segment
  std::uint64_t log{};     ///< random, not 0, the same in all segments of a log: port::Log::id()
  friend constexpr bool operator==(const SegmentHeader&, const SegmentHeader&) = default;
};

enum class HeaderFault : std::uint8_t { too_short, no_segment, unknown_version, bad_checksum };

/// Fills the first kHeaderBytes of `out`. Returns the segment's seed, which all its frames hold and
/// their checksums continue from: so no frame of another segment is ever taken for one of it,
/// although a segment may lie in the file of an earlier one.
std::uint32_t encode(const SegmentHeader& header, ByteSpan out);
struct DecodedHeader {
  SegmentHeader header;
  std::uint32_t seed{};
};
Result<DecodedHeader, HeaderFault> decode_header(ByteView bytes);
/// The version that the bytes say they are of; they are long enough.
std::uint32_t version_of(ByteView bytes);

enum class FrameKind : std::uint32_t {
  record = 0x31525750,  ///< "PWR1"
  mark = 0x314d5750,  ///< "PWM1": what is durable, and which segments are needed; may fill a block
  end = 0x31455750,   ///< "PWE1": the segment has nothing more
};

struct Frame {
  FrameKind kind{};
  LogPosition position{};  ///< of this record; of the last record before a mark or an end
  LogPosition durable{};   ///< known to be durable when the frame was written
  std::uint64_t oldest{};  ///< serial of the oldest segment that is needed
  ByteView record;         ///< of a mark: what it fills, zeros; empty for an end
  friend bool operator==(const Frame&, const Frame&) = delete;
};

/// What a frame with so many bytes of a record takes.
constexpr std::size_t frame_bytes(std::size_t record_bytes) {
  return kFrameBytes + (record_bytes + kAlign - 1) / kAlign * kAlign;
}

/// Writes head and padding of a frame around the record, which lies at its place in `out` already;
/// `out` has frame_bytes(record_bytes). Frame::record is not looked at.
void seal_frame(ByteSpan out, const Frame& frame, std::size_t record_bytes, std::uint32_t seed);
/// By its head, which has kFrameBytes: so many bytes does the frame take. 0: that is no head of
/// this segment. What is none, a client's bytes or an earlier segment's, almost never looks like
/// one: nobody knows the seed.
std::uint64_t frame_bytes_by_head(ByteView head, std::uint32_t seed);
/// The frame that begins at `at`, if there is one, whole and unchanged.
std::optional<Frame> read_frame(ByteView segment, std::size_t at, std::uint32_t seed);

/// Names of files. A segment gets its name only when its header is durable; until then it has
/// kNewSuffix. One that is not needed any more may wait with kSpareSuffix for its next use.
inline constexpr std::string_view kNewSuffix = ".new";
inline constexpr std::string_view kSpareSuffix = ".spare";
std::string segment_name(std::uint64_t serial);
std::optional<std::uint64_t> serial_of(std::string_view name);

}  // namespace peal::wal
