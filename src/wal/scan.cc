// SPDX-License-Identifier: Apache-2.0
#include "wal/scan.h"

#include <algorithm>
#include <optional>

#include "base/hooks.h"

namespace peal::wal {
namespace {

/// Limits the search for frames behind a bad frame. The search checksums at most this many times
/// the segment's size, whatever the file holds.
constexpr std::uint64_t kTriesMax = 64;

/// True if `frame` agrees with the frames before it.
bool follows(const Frame& frame, const Scan& scan, const SegmentHeader& header) {
  const LogPosition expected =
      frame.kind == FrameKind::record ? LogPosition{scan.last.value + 1} : scan.last;
  return frame.position == expected && frame.durable <= scan.last &&
         frame.durable >= scan.durable && frame.oldest >= scan.oldest &&
         frame.oldest <= header.serial;
}

/// The number of bytes to checksum to learn whether the frame at `at` is whole. Returns 0 if there
/// is no frame head, or if the head does not say that a record after `last` is durable.
std::uint64_t cost_of_trying(ByteView segment, std::size_t at, std::uint32_t seed,
                             LogPosition last) {
  const std::uint64_t bytes = frame_bytes_by_head(segment.subspan(at), seed);
  if (bytes > segment.size() - at) return 0;
  const auto durable = load<std::uint64_t>(segment.subspan(at + 24));
  const std::uint64_t positions_max = segment.size() / kFrameBytes;
  if (durable <= last.value || durable - last.value > positions_max) return 0;
  return bytes;
}

void call_damaged(Scan& scan, std::size_t at, std::size_t proof_at) {
  scan.tail = Tail::damaged;
  scan.damage_at = at;
  scan.proof_at = proof_at;
}

/// The frame that begins at `at`, if it is whole and unchanged; otherwise nothing.
port::DiskResult<std::optional<Frame>> frame_at(SegmentReader& segment, std::uint64_t at,
                                                std::uint32_t seed) {
  const std::uint64_t left = segment.size() - at;
  if (left < kFrameBytes) return std::nullopt;
  const auto head = segment.at(at, kFrameBytes);
  if (!head) return unexpected(head.error());
  const std::uint64_t bytes = frame_bytes_by_head(*head, seed);
  if (bytes == 0 || bytes > left) return std::nullopt;
  const auto whole = segment.at(at, static_cast<std::size_t>(bytes));
  if (!whole) return unexpected(whole.error());
  return read_frame(*whole, 0, seed);
}

/// The first place from `at` on that looks like a frame of this segment; the segment's size if
/// there is no such place.
port::DiskResult<std::uint64_t> find_head(SegmentReader& segment, std::uint64_t at,
                                          std::uint32_t seed) {
  constexpr std::uint64_t kStep = 4'096;
  for (; at + kFrameBytes <= segment.size(); at += kStep) {
    const std::uint64_t most = kStep + kFrameBytes - kAlign;
    const auto part = segment.at(
        at, static_cast<std::size_t>(std::min<std::uint64_t>(most, segment.size() - at)));
    if (!part) return unexpected(part.error());
    for (std::size_t i = 0; i + kFrameBytes <= part->size(); i += kAlign) {
      if (frame_bytes_by_head(part->subspan(i), seed) != 0) return at + i;
    }
  }
  return segment.size();
}

/// Sets Scan::tail to torn or damaged. The bytes from `first` on have parts of frames: either of a
/// write that a crash cut off, or of damaged records that were durable. In the second case, a later
/// frame proves that the records were durable: each frame carries the durable position at the time
/// of its writing.
void judge_rest(ByteView segment, std::size_t first, std::uint32_t seed, Scan& scan) {
  scan.tail = Tail::torn;
  PEAL_PROBE("wal.torn_tail");
  if (PEAL_MUTANT(wm6_damage_taken_for_torn)) return;
  std::uint64_t budget = kTriesMax * segment.size();
  for (std::size_t at = first; at + kFrameBytes <= segment.size(); at += kAlign) {
    const std::uint64_t cost = cost_of_trying(segment, at, seed, scan.last);
    if (cost == 0) continue;
    const auto frame = cost <= budget ? read_frame(segment, at, seed) : std::nullopt;
    if (frame || cost > budget) {
      // Either the frame proves damage, or the budget is used up. In the second case, the bytes
      // may have been durable, so they count as damaged, too.
      PEAL_PROBE("wal.damage_proved");
      call_damaged(scan, scan.end, at);
      return;
    }
    budget -= cost;
  }
}

}  // namespace

port::DiskResult<Scan> scan_segment(SegmentReader& segment, const DecodedHeader& header,
                                    const std::function<void(const Frame&)>& on_frame) {
  Scan scan;
  scan.end = kHeaderBytes;
  scan.last = LogPosition{header.header.first.value - 1};
  scan.durable = scan.last;
  scan.oldest = header.header.oldest;
  while (!scan.ended) {
    const auto read = frame_at(segment, scan.end, header.seed);
    if (!read) return unexpected(read.error());
    if (!*read) break;
    const Frame& frame = **read;
    if (!follows(frame, scan, header.header)) {
      call_damaged(scan, scan.end, scan.end);
      return scan;
    }
    scan.last = frame.position;
    scan.durable = frame.durable;
    scan.oldest = frame.oldest;
    scan.ended = frame.kind == FrameKind::end;
    scan.end += frame_bytes(frame.record.size());
    on_frame(frame);
  }
  const bool shorter = segment.size() < header.header.file_bytes;
  if (!scan.ended && shorter && !PEAL_MUTANT(wm11_cut_not_noticed)) {
    // A crash does not shorten the file: its length was durable before the segment had its name.
    PEAL_PROBE("wal.cut_file");
    scan.tail = Tail::cut;
    scan.damage_at = scan.proof_at = scan.end;
    return scan;
  }
  const auto rest = find_head(segment, scan.end, header.seed);
  if (!rest) return unexpected(rest.error());
  if (*rest == segment.size()) return scan;
  const auto first = static_cast<std::size_t>(*rest);
  if (scan.ended) {
    call_damaged(scan, first, first);
    return scan;
  }
  // This case is rare, and frames may begin anywhere. So the whole segment is read at once.
  const auto whole = segment.at(0, static_cast<std::size_t>(segment.size()));
  if (!whole) return unexpected(whole.error());
  judge_rest(*whole, first, header.seed, scan);
  return scan;
}

}  // namespace peal::wal
