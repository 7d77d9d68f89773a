// SPDX-License-Identifier: Apache-2.0
#include "wal/scan.h"

#include <algorithm>

#include "base/hooks.h"

namespace peal::wal {
namespace {

/// How many bytes, in sizes of the segment, are tried as frames behind a bad one: so that no file,
/// whatever it holds, is read for ever.
constexpr std::uint64_t kTriesMax = 64;

/// A frame that was written at this place says these things of what is before it.
bool follows(const Frame& frame, const Scan& scan, const SegmentHeader& header) {
  const LogPosition expected =
      frame.kind == FrameKind::record ? LogPosition{scan.last.value + 1} : scan.last;
  return frame.position == expected && frame.durable <= scan.last &&
         frame.durable >= scan.durable && frame.oldest >= scan.oldest &&
         frame.oldest <= header.serial;
}

/// How many bytes a checksum would have to read to say whether there is a frame here that calls
/// something durable that is missing; 0: by its head, there is not.
std::uint64_t cost_of_trying(ByteView segment, std::size_t at, LogPosition last) {
  const auto durable = load<std::uint64_t>(segment.subspan(at + 24));
  const auto length = load<std::uint32_t>(segment.subspan(at + 8));
  const std::uint64_t positions_max = segment.size() / kFrameBytes;
  if (durable <= last.value || durable - last.value > positions_max) return 0;
  if (length > segment.size() - at) return 0;
  return kFrameBytes + std::uint64_t{length};
}

void call_damaged(Scan& scan, std::size_t at, std::size_t proof_at) {
  scan.tail = Tail::damaged;
  scan.damage_at = at;
  scan.proof_at = proof_at;
}

/// Behind the last whole frame there may be parts of others: of a write that was cut off, or of
/// what was durable and is damaged. In the second case a frame behind it says so: each carries what
/// was durable when it was written.
void judge_tail(ByteView segment, std::uint32_t seed, Scan& scan) {
  std::uint64_t budget = kTriesMax * segment.size();
  for (std::size_t at = scan.end; at + kFrameBytes <= segment.size(); at += kAlign) {
    if (!looks_like_frame(segment, at, seed)) continue;
    if (scan.ended) {
      call_damaged(scan, at, at);
      return;
    }
    scan.tail = Tail::torn;
    PEAL_PROBE("wal.torn_tail");
    if (PEAL_MUTANT(wm6_damage_taken_for_torn)) return;
    const std::uint64_t cost = cost_of_trying(segment, at, scan.last);
    if (cost == 0) continue;
    const auto frame = cost <= budget ? read_frame(segment, at, seed) : std::nullopt;
    if (frame || cost > budget) {
      // Out of tries, nobody knows: what may have been durable is not cut off.
      PEAL_PROBE("wal.damage_proved");
      call_damaged(scan, scan.end, at);
      return;
    }
    budget -= cost;
  }
}

}  // namespace

Scan scan_segment(ByteView segment, const DecodedHeader& header,
                  const std::function<void(const Frame&)>& on_frame) {
  Scan scan;
  scan.end = kHeaderBytes;
  scan.last = LogPosition{header.header.first.value - 1};
  scan.durable = scan.last;
  scan.oldest = header.header.oldest;
  while (!scan.ended) {
    const auto frame = read_frame(segment, scan.end, header.seed);
    if (!frame) break;
    if (!follows(*frame, scan, header.header)) {
      call_damaged(scan, scan.end, scan.end);
      return scan;
    }
    scan.last = frame->position;
    scan.durable = frame->durable;
    scan.oldest = frame->oldest;
    scan.ended = frame->kind == FrameKind::end;
    scan.end += frame_bytes(frame->record.size());
    on_frame(*frame);
  }
  judge_tail(segment, header.seed, scan);
  return scan;
}

}  // namespace peal::wal
