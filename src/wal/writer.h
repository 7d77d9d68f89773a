// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "port/disk.h"
#include "wal/options.h"
#include "wal/recovery.h"

namespace peal::wal {

/// Records that are committed together, in frames. Log has copied each record into its frame. In
/// the frame's head, Log has written only the record's length.
struct Batch {
  ByteSpan memory;      ///< the frames, then room_behind() free bytes
  std::size_t bytes{};  ///< of the frames
  LogPosition first{};  ///< of the first record
  /// Once the batch is durable, the records before this position are not needed.
  std::optional<LogPosition> keep_from;
  const std::atomic<bool>* more = nullptr;  ///< true if more records wait for the next commit
};

/// Writes batches to the disk. Every call blocks until the disk is done. After an error, no call
/// may follow. Thread: one at a time.
class Writer {
 public:
  Writer(port::Disk& disk, const Options& options, std::deque<Segment> segments, LogPosition last);

  /// Writes and syncs the batch. On return without an error, all its records are durable. Returns
  /// the position up to which every record is durable.
  port::DiskResult<LogPosition> commit(const Batch& batch);
  /// Writes the end frame of the newest segment.
  port::DiskResult<void> close();

  /// The number of bytes that commit() needs behind the frames, for a mark that fills the rest of
  /// the last block. If the mark's head does not fit there, the mark also fills the next block.
  static std::size_t room_behind(const Options& options) {
    return options.block_bytes + kFrameBytes;
  }
  const std::deque<Segment>& segments() const { return segments_; }
  std::uint64_t bytes_on_disk() const;
  /// The file in use when an error occurred.
  const std::string& file() const { return file_; }

 private:
  using Done = port::DiskResult<void>;

  Done write_frames(const Batch& batch);
  Done write_last(ByteSpan memory, std::size_t frames, bool whole_blocks);
  Done write(ByteView bytes, std::size_t frames);
  void seal(FrameKind kind, ByteSpan frame) const;
  Done write_frame(FrameKind kind, std::size_t bytes);
  Done write_mark();
  Done fill_block(std::size_t next);
  bool fits(std::uint64_t bytes) const;
  std::size_t to_block_end(std::uint64_t place) const;
  std::size_t mark_to_fill(std::uint64_t place) const;
  Done sync();
  Done end_segment();
  Done next_segment();
  Done remove_unneeded(LogPosition keep_from);

  port::Disk& disk_;
  const Options& options_;
  std::deque<Segment> segments_;
  std::uint64_t oldest_;    // serial of the oldest needed segment
  std::string file_;        // name of the newest segment
  std::string spare_;       // name of a file for the next segment; empty if there is none
  bool open_ = false;       // frames may be added to the newest segment
  std::uint32_t seed_ = 0;  // if open_: the segment's seed
  std::uint64_t end_ = 0;   // if open_: offset behind the segment's last frame
  LogPosition written_;     // position of the last record written to the disk
  LogPosition durable_;
  std::vector<std::byte> filler_;  // memory for a frame without a record; zeros behind its head
};

}  // namespace peal::wal
