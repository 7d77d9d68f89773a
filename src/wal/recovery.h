// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "port/disk.h"
#include "port/log.h"
#include "wal/options.h"
#include "wal/scan.h"

namespace peal::wal {

/// The end of the error message for a damaged or incomplete log: what the person must do.
inline constexpr std::string_view kRestore =
    ": this node must not take part with it; keep a copy of the folder, empty it, and start the "
    "node: "
    "the others take it in with a new log";

/// A segment on disk.
struct Segment {
  std::uint64_t serial{};
  LogPosition first{};
  std::uint64_t bytes{};
};

struct Recovered {
  std::deque<Segment> segments;  ///< the needed segments, oldest first; at least one
  Found found;
  std::uint64_t log{};  ///< the log's id
};

/// Reads the whole folder. Fails unless the folder holds a complete log of this owner. On return,
/// every record of the log is durable, and every segment has its end frame. So no write goes to
/// these segments again.
Result<Recovered, Problem> recover(port::Disk& disk, const Options& options);
/// Creates the first segment of a new log.
Result<Recovered, Problem> create(port::Disk& disk, const Options& options);

/// Creates a segment and returns the segment's seed. On return, the segment's length, header and
/// name are durable; the name becomes durable last. `spare` names a file of a segment's size to
/// reuse, whatever the file holds. If `spare` is empty, creates a new file.
port::DiskResult<std::uint32_t> make_segment(port::Disk& disk, const SegmentHeader& header,
                                             const Options& options, const std::string& spare);
/// Replays the records of the segments that recover() returned.
Result<void, port::LogFailure> replay(port::Disk& disk, const Options& options,
                                      const std::deque<Segment>& segments, port::LogReader& reader);

}  // namespace peal::wal
