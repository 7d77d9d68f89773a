// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "port/disk.h"

namespace peal::wal {

/// Reads a segment piece by piece into one small piece of memory. A log may be far larger than a
/// processor's caches. To get memory for the whole log would take longer than to read it.
class SegmentReader {
 public:
  /// The file must not change while it is read; open() finds its length.
  SegmentReader(port::Disk& disk, std::string name, std::size_t piece_bytes)
      : disk_(&disk), name_(std::move(name)), piece_bytes_(piece_bytes) {}
  /// Reads from bytes in memory instead of a file.
  explicit SegmentReader(ByteView whole) : size_(whole.size()), window_(whole) {}

  /// Reads the first piece. Returns the bytes of the header, or fewer bytes if the file is shorter.
  /// The bytes are valid until the next call. Errors: an error of the disk, or the file is longer
  /// than a segment may be.
  port::DiskResult<ByteView> open();
  std::uint64_t size() const { return size_; }
  /// The `bytes` bytes from `offset` on, which must exist; valid until the next call. A range
  /// longer than a piece is read in one call, into as much memory as the range needs.
  port::DiskResult<ByteView> at(std::uint64_t offset, std::size_t bytes);

 private:
  port::DiskResult<void> read(std::uint64_t offset, std::size_t bytes);

  port::Disk* disk_ = nullptr;
  std::string name_;
  std::size_t piece_bytes_ = 0;
  std::uint64_t size_ = 0;
  std::unique_ptr<std::byte[]> memory_;  // not initialised
  std::size_t memory_bytes_ = 0;
  std::uint64_t window_at_ = 0;
  ByteView window_;  // the bytes from offset window_at_ on that are in memory
};

}  // namespace peal::wal
