// SPDX-License-Identifier: Apache-2.0
#include "wal/segment_reader.h"

#include <algorithm>

#include "base/assert.h"
#include "wal/options.h"

namespace peal::wal {

port::DiskResult<ByteView> SegmentReader::open() {
  PEAL_ASSERT(disk_ != nullptr);
  if (auto done = read(0, piece_bytes_); !done) return unexpected(done.error());
  if (size_ <= kSegmentBytesMax) {
    return at(0, static_cast<std::size_t>(std::min<std::uint64_t>(kHeaderBytes, size_)));
  }
  return unexpected(port::DiskError{
      port::DiskError::Kind::other,
      "read " + disk_->path_of(name_) + ": longer than any segment: " + std::to_string(size_)});
}

port::DiskResult<ByteView> SegmentReader::at(std::uint64_t offset, std::size_t bytes) {
  PEAL_ASSERT(offset <= size_ && bytes <= size_ - offset);
  const bool there =
      offset >= window_at_ && offset - window_at_ + bytes <= std::uint64_t{window_.size()};
  if (!there) {
    const std::uint64_t size = size_;
    if (auto done = read(offset, std::max(bytes, piece_bytes_)); !done) {
      return unexpected(done.error());
    }
    if (size_ != size || window_.size() < bytes) {
      return unexpected(port::DiskError{
          port::DiskError::Kind::other,
          "read " + disk_->path_of(name_) + ": its length changed while it was read"});
    }
  }
  return window_.subspan(static_cast<std::size_t>(offset - window_at_), bytes);
}

port::DiskResult<void> SegmentReader::read(std::uint64_t offset, std::size_t bytes) {
  if (bytes > memory_bytes_) {
    memory_.reset();  // frees the old memory first, so that both never exist at once
    memory_.reset(new std::byte[bytes]);
    memory_bytes_ = bytes;
  }
  window_ = {};
  const auto got = disk_->read(name_, offset, {memory_.get(), bytes});
  if (!got) return unexpected(got.error());
  size_ = got->file_bytes;
  window_at_ = offset;
  window_ = {memory_.get(), got->bytes};
  return {};
}

}  // namespace peal::wal
