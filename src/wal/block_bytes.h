// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/large_memory.h"
#include "port/disk.h"

namespace peal::wal {

/// Bytes that grow up to a limit, in memory that is aligned to blocks of a disk. Growing copies
/// nothing.
class BlockBytes {
 public:
  BlockBytes(std::size_t capacity, Pages pages) : memory_(capacity, pages), capacity_(capacity) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Appends `bytes` bytes for the caller to fill.
  ByteSpan grow(std::size_t bytes) {
    PEAL_ASSERT(bytes <= capacity_ - size_);
    size_ += bytes;
    return {memory_.data() + size_ - bytes, bytes};
  }
  void clear() { size_ = 0; }
  /// The bytes, followed by the unused memory behind them.
  ByteSpan whole() { return {memory_.data(), capacity_}; }

  friend void swap(BlockBytes& a, BlockBytes& b) noexcept {
    std::swap(a.memory_, b.memory_);
    std::swap(a.capacity_, b.capacity_);
    std::swap(a.size_, b.size_);
  }

 private:
  static_assert(LargeMemory::kAlignment % port::kDiskBlockBytes == 0);

  LargeMemory memory_;
  std::size_t capacity_;
  std::size_t size_ = 0;
};

}  // namespace peal::wal
