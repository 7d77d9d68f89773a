// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "port/disk.h"
#include "wal/options.h"
#include "wal/recovery.h"

namespace peal::wal {

/// Records that are committed together: frames whose heads are still empty but for their lengths,
/// as Log lays them out.
struct Batch {
  ByteSpan frames;
  LogPosition first{};                   ///< of its first record
  std::optional<LogPosition> keep_from;  ///< once durable: records before are not needed
};

/// Brings batches to the disk. Every call blocks. After an error nothing may be called any more.
/// Thread: one at a time.
class Writer {
 public:
  Writer(port::Disk& disk, const Options& options, std::deque<Segment> segments, LogPosition last);

  /// All records of the batch are durable when it comes back without an error. Returns the position
  /// up to which everything is.
  port::DiskResult<LogPosition> commit(const Batch& batch);
  /// The newest segment gets its end.
  port::DiskResult<void> close();

  const std::deque<Segment>& segments() const { return segments_; }
  std::uint64_t bytes_on_disk() const;
  /// The file that was worked on when an error came.
  const std::string& file() const { return file_; }

 private:
  using Done = port::DiskResult<void>;

  Done write(ByteView frames);
  Done write_frame(FrameKind kind);
  Done sync();
  Done end_segment();
  Done next_segment();
  Done remove_unneeded(LogPosition keep_from);

  port::Disk& disk_;
  const Options& options_;
  std::deque<Segment> segments_;
  std::uint64_t oldest_;    // serial of the first of them
  std::string file_;        // of the newest segment
  std::string spare_;       // a file for the next segment; empty: there is none
  bool open_ = false;       // it takes frames
  std::uint32_t seed_ = 0;  // if open
  std::uint64_t end_ = 0;   // if open: behind its last frame
  LogPosition written_;     // last record that was handed to the disk
  LogPosition durable_;
};

}  // namespace peal::wal
