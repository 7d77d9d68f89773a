// SPDX-License-Identifier: Apache-2.0
#include "wal/recovery.h"
#include "wal/scan.h"
#include "wal/segment_reader.h"

namespace peal::wal {

Result<void, port::LogFailure> replay(port::Disk& disk, const Options& options,
                                      const std::deque<Segment>& segments,
                                      port::LogReader& reader) {
  for (const Segment& segment : segments) {
    const std::string name = segment_name(segment.serial);
    SegmentReader file(disk, name, options.read_bytes);
    const auto first = file.open();
    if (!first) return unexpected(port::LogFailure{name, first.error().message});
    const auto header = decode_header(*first);
    const bool same = header && file.size() == segment.bytes;
    // Recovery found the segment whole. Replay checks the segment again, so that no damaged record
    // is delivered.
    port::DiskResult<Scan> scan = Scan{};
    if (same) {
      scan = scan_segment(file, *header, [&reader](const Frame& frame) {
        if (frame.kind == FrameKind::record) reader.on_record(frame.position, frame.record);
      });
    }
    if (!scan) return unexpected(port::LogFailure{name, scan.error().message});
    if (!same || !scan->ended || scan->tail != Tail::clean) {
      return unexpected(port::LogFailure{
          name, disk.path_of(name) + " changed since it was opened" + std::string(kRestore)});
    }
  }
  return {};
}

}  // namespace peal::wal
