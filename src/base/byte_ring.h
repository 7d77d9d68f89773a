// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/assert.h"

namespace peal {

/// Memory for pieces of any size that are given back in the order taken. All of it is taken in the
/// constructor and left uninitialised: pages that are never used never cost memory. Of the rest,
/// little is used again and again, so that it stays in the processor's caches: about twice what is
/// in use, and an eighth of all. One thread at a time.
class ByteRing {
 public:
  explicit ByteRing(std::uint64_t bytes) : size_(bytes), bytes_(new std::byte[bytes]) {}

  /// Room for `size` bytes in one piece, or null: then there will be some when pieces have been
  /// given back. There is some as long as all pieces take an eighth at most, and for any piece if
  /// there is no other.
  std::byte* take(std::uint32_t size) {
    if (head_ == tail_) lap_ = last_lap_ = tail_;
    if (head_ >= lap_) last_lap_ = lap_;
    std::uint64_t at = tail_ - lap_;
    if (last_lap_ == lap_) {
      // All that is in use lies between two places. What is free before it is used first if that
      // is much, and at the end, if nothing else is left.
      const std::uint64_t before = head_ - lap_;
      const bool much = before >= size_ / kPart && before >= tail_ - head_ + size;
      if (much || size > size_ - at) {
        if (size > before) return nullptr;
        lap_ = tail_;
        at = 0;
      }
    } else if (size > head_ - last_lap_ - at) {
      return nullptr;
    }
    tail_ += size;
    return bytes_.get() + at;
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
  static constexpr std::uint64_t kPart = 8;

  std::uint64_t size_;
  std::unique_ptr<std::byte[]> bytes_;
  // Counts of bytes that only grow. The place of a byte is its count less that of its lap's first.
  std::uint64_t head_ = 0;      ///< the oldest that is in use
  std::uint64_t tail_ = 0;      ///< behind the newest
  std::uint64_t lap_ = 0;       ///< the newest lap began here
  std::uint64_t last_lap_ = 0;  ///< the one before it, whose pieces are in use; or the same
};

}  // namespace peal
