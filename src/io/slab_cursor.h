// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/buffer.h"

namespace peal::io {

/// Allocates space for received datagrams in pooled slabs, one datagram behind the other. A
/// datagram takes only its own length, even if the kernel was offered more space. A slab without
/// other references is used again from its start, which keeps the memory of a fast receiver in the
/// processor's cache. A slab begins with kFront unused bytes. Each datagram begins at a cache line.
/// The kernel copies many times slower if the destination is, modulo the page size, a few bytes
/// above the source. Memory behind an allocator's header is often such a destination.
class SlabCursor {
 public:
  static constexpr std::uint32_t kFront = 64;

  explicit SlabCursor(BufferPool& pool) : pool_(pool) {}

  /// Space for `bytes` bytes, at most room_max(); null if the pool is used up.
  std::byte* room(std::uint32_t bytes) {
    if (slab_.unique()) used_ = start();
    if (!slab_ || slab_.size() - used_ < bytes) {
      slab_.reset();
      slab_ = pool_.take();
      if (!slab_) return nullptr;
      used_ = start();
    }
    return slab_.data() + used_;
  }

  /// Takes the `bytes` bytes that start at `offset` in the space that room() returned. Take from
  /// front to back: earlier takes from this space must end before `offset`. With `close_up`, first
  /// moves the bytes to the front, next to the earlier takes.
  enum class Place { as_is, close_up };
  BufferRef take(std::uint32_t offset, std::uint32_t bytes, Place place) {
    PEAL_ASSERT(taken_ <= offset && offset + bytes <= slab_.size() - used_);
    std::byte* room = slab_.data() + used_;
    if (place == Place::close_up && bytes > 0 && offset != taken_) {
      std::memmove(room + taken_, room + offset, bytes);
    }
    const std::uint32_t start = place == Place::close_up ? taken_ : offset;
    taken_ = std::min(aligned(start + bytes), slab_.size() - used_);
    return slab_.slice(used_ + start, bytes);
  }
  /// Makes the next room() start behind the bytes taken so far.
  void advance() { used_ += std::exchange(taken_, 0); }

  /// If one take() ends at `bytes`: the lowest offset at which the next take() may start.
  static constexpr std::uint32_t aligned(std::uint32_t bytes) {
    return (bytes + kAlign - 1) / kAlign * kAlign;
  }
  /// The largest space that always fits into one slab.
  static constexpr std::uint32_t room_max(std::uint32_t slab_bytes) {
    return slab_bytes - kFront - (kAlign - 1);
  }
  bool pool_empty() const { return pool_.free_count() == 0; }

 private:
  static constexpr std::uint32_t kAlign = 64;
  static_assert(kFront % kAlign == 0);

  std::uint32_t start() const {
    const auto address = reinterpret_cast<std::uintptr_t>(slab_.data());
    return kFront + static_cast<std::uint32_t>((kAlign - address % kAlign) % kAlign);
  }

  BufferPool& pool_;
  BufferRef slab_;
  std::uint32_t used_ = 0;
  std::uint32_t taken_ = 0;
};

}  // namespace peal::io
