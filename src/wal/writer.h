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

/// Records that are committed together, in frames. Log has written each record into its frame; in
/// the frame's head, it has written only the record's length.
struct Batch {
  ByteSpan memory;                          ///< the frames, and room_behind() bytes behind them
  std::size_t bytes{};                      ///< of the frames
  LogPosition first{};                      ///< of the first record
  std::optional<LogPosition> keep_from;     ///< once the batch is durable, records before this
                                            ///< position are not needed
  const std::atomic<bool>* more = nullptr;  ///< true if records wait for the next commit already
};

/// Writes batches to the disk. Every call blocks. After an error, no call may follow. Thread: one
/// at a time.
class Writer {
 public:
  Writer(port::Disk& disk, const Options& options, std::deque<Segment> segments, LogPosition last);

  /// Writes and syncs the batch: without an error, all its records are durable on return. Returns
  /// the position up to which every record is durable.
  port::DiskResult<LogPosition> commit(const Batch& batch);
  /// Writes the end of the newest segment.
  port::DiskResult<void> close();

  /// How many bytes commit() needs behind the frames: room for a mark that fills the rest of the
  /// last block. If the mark's head does not fit there, the mark also fills the next block.
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
  bool open_ = false;       // the newest segment takes frames
  std::uint32_t seed_ = 0;  // if open_: the segment's seed
  std::uint64_t end_ = 0;   // if open_: offset behind the segment's last frame
  LogPosition written_;     // position of the last record written to the disk
  LogPosition durable_;
  std::vector<std::byte> filler_;  // memory for a frame without a record; zeros behind its head
};

}  // namespace peal::wal
