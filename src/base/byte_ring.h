// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/assert.h"

namespace peal {

/// Memory for pieces of any size that are given back in the order taken. All of it is taken in the
/// constructor and left uninitialised: pages that are never used never cost memory. One thread at a
/// time.
class ByteRing {
 public:
  explicit ByteRing(std::uint64_t bytes) : size_(bytes), bytes_(new std::byte[bytes]) {}

  /// Room for `size` bytes in one piece, or null.
  std::byte* take(std::uint32_t size) {
    if (head_ == tail_) head_ = tail_ = 0;
    const std::uint64_t at = tail_ % size_;
    const std::uint64_t skip = at + size > size_ ? size_ - at : 0;
    if (tail_ - head_ + skip + size > size_) return nullptr;
    tail_ += skip;
    std::byte* bytes = bytes_.get() + tail_ % size_;
    tail_ += size;
    return bytes;
  }
  /// Where the newest piece ends, to give it back.
  std::uint64_t tail() const { return tail_; }
  /// Gives back the piece that ended at `tail`, and all before it.
  void give_back(std::uint64_t tail) {
    PEAL_ASSERT(head_ <= tail && tail <= tail_);
    head_ = tail;
  }
  std::uint64_t size() const { return size_; }

 private:
  std::uint64_t size_;
  std::unique_ptr<std::byte[]> bytes_;
  std::uint64_t head_ = 0;  ///< offsets that only grow; the place is the offset modulo size
  std::uint64_t tail_ = 0;
};

}  // namespace peal
