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

/// A segment that is read piece by piece. A log may be far larger than the caches of a processor,
/// and to give a process memory for it takes longer than to read it: so one small piece of memory
/// is used again and again.
class SegmentReader {
 public:
  /// The file is as long as open() finds it, and of one user: it does not change meanwhile.
  SegmentReader(port::Disk& disk, std::string name, std::size_t piece_bytes)
      : disk_(&disk), name_(std::move(name)), piece_bytes_(piece_bytes) {}
  /// Bytes that are there already, in the place of a file.
  explicit SegmentReader(ByteView whole) : size_(whole.size()), window_(whole) {}

  /// Reads the first piece. Returns the bytes of the header, as far as they are there, valid until
  /// the next call. Error: the file is longer than a segment may be.
  port::DiskResult<ByteView> open();
  std::uint64_t size() const { return size_; }
  /// These bytes, which are there: valid until the next call. What is longer than a piece is read
  /// at once, into as much memory as it takes.
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
  ByteView window_;  // what lies at window_at_
};

}  // namespace peal::wal
