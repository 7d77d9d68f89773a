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

/// What a person is told to do with a log that is not whole any more.
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
  std::deque<Segment> segments;  ///< those that are needed, oldest first; at least one
  Found found;
  std::uint64_t log{};  ///< the log's id
};

/// Reads all that is there, refuses what is not a whole log of this owner, and leaves it so that
/// all that it holds is durable and every segment has its end: nothing is written to them any more.
Result<Recovered, Problem> recover(port::Disk& disk, const Options& options);
/// Makes the first segment of a new log.
Result<Recovered, Problem> create(port::Disk& disk, const Options& options);

/// Makes the segment, durable with its header and its name. Returns its seed. `spare`: a file of a
/// segment's size to make it of, whatever it holds; empty: of a new one. Its size, which the header
/// says, is durable before its name is there.
port::DiskResult<std::uint32_t> make_segment(port::Disk& disk, const SegmentHeader& header,
                                             const Options& options, const std::string& spare);
/// The records of segments that recover() left, again.
Result<void, port::LogFailure> replay(port::Disk& disk, const Options& options,
                                      const std::deque<Segment>& segments, port::LogReader& reader);

}  // namespace peal::wal
