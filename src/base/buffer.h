// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"

namespace peal {

class BufferPool;

namespace detail {
struct Slab {
  std::uint32_t references = 0;
  BufferPool* pool = nullptr;
  Slab* next_free = nullptr;
  std::byte* bytes = nullptr;
};
}  // namespace detail

/// A counted reference to a range of one pooled slab. Copies share the bytes; the slab returns to
/// its pool when the last reference is dropped. An empty reference refers to nothing. Only the
/// holder that took the slab may write bytes, and only bytes that it has not shared yet.
///
/// Thread: the pool owner's, for each copy and each release of a reference, so that the count of
/// references needs no lock. Other threads may read the bytes as long as the owner keeps a
/// reference to them.
class BufferRef {
 public:
  BufferRef() = default;
  BufferRef(const BufferRef& other) noexcept
      : slab_(other.slab_), offset_(other.offset_), size_(other.size_) {
    if (slab_ != nullptr) ++slab_->references;
  }
  BufferRef(BufferRef&& other) noexcept
      : slab_(std::exchange(other.slab_, nullptr)),
        offset_(std::exchange(other.offset_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  BufferRef& operator=(const BufferRef& other) noexcept {
    BufferRef copy(other);
    swap(copy);
    return *this;
  }
  BufferRef& operator=(BufferRef&& other) noexcept {
    BufferRef moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~BufferRef() { release(); }

  explicit operator bool() const { return slab_ != nullptr; }
  std::uint32_t size() const { return size_; }
  std::byte* data() const { return slab_->bytes + offset_; }
  ByteView view() const { return slab_ == nullptr ? ByteView{} : ByteView{data(), size_}; }

  /// The `size` bytes that begin at `offset` in this range; the range must contain all of them.
  BufferRef slice(std::uint32_t offset, std::uint32_t size) const {
    PEAL_ASSERT(offset <= size_ && size <= size_ - offset);
    BufferRef part(*this);
    part.offset_ += offset;
    part.size_ = size;
    return part;
  }
  /// Extends the range by `bytes` bytes at its front, into the slab's headroom.
  void grow_front(std::uint32_t bytes) {
    PEAL_ASSERT(bytes <= offset_);
    offset_ -= bytes;
    size_ += bytes;
  }
  /// Cuts the range to `size` bytes.
  void truncate(std::uint32_t size) {
    PEAL_ASSERT(size <= size_);
    size_ = size;
  }
  void reset() {
    release();
    slab_ = nullptr;
    offset_ = size_ = 0;
  }
  /// True if this is the only reference to the slab.
  bool unique() const { return slab_ != nullptr && slab_->references == 1; }
  /// True if both references point into the same slab.
  bool shares_slab_with(const BufferRef& other) const {
    return slab_ != nullptr && slab_ == other.slab_;
  }

 private:
  friend class BufferPool;
  BufferRef(detail::Slab* slab, std::uint32_t offset, std::uint32_t size)
      : slab_(slab), offset_(offset), size_(size) {}
  void swap(BufferRef& other) noexcept {
    std::swap(slab_, other.slab_);
    std::swap(offset_, other.offset_);
    std::swap(size_, other.size_);
  }
  inline void release();

  detail::Slab* slab_ = nullptr;
  std::uint32_t offset_ = 0;
  std::uint32_t size_ = 0;
};

/// A fixed number of slabs of equal size. The constructor allocates all memory. take() returns an
/// empty reference if no slab is free, which is back-pressure and not an error.
///
/// Thread: the owner's only. The pool must outlive every reference.
class BufferPool {
 public:
  BufferPool(std::uint32_t slab_bytes, std::uint32_t slab_count);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// A whole slab, or an empty reference if no slab is free.
  BufferRef take();
  /// A range of `size` bytes that starts `headroom` bytes into a slab, or an empty reference if no
  /// slab is free.
  BufferRef take(std::uint32_t headroom, std::uint32_t size);

  std::uint32_t slab_bytes() const { return slab_bytes_; }
  std::uint32_t slab_count() const { return slab_count_; }
  std::uint32_t free_count() const { return free_count_; }

 private:
  friend class BufferRef;
  /// take() returns the slab that was freed last, because its bytes are still in the cache. Slabs
  /// that are never taken cost no memory.
  void give(detail::Slab* slab) {
    slab->next_free = free_;
    free_ = slab;
    ++free_count_;
  }

  std::uint32_t slab_bytes_;
  std::uint32_t slab_count_;
  std::unique_ptr<std::byte[]> memory_;
  std::unique_ptr<detail::Slab[]> slabs_;
  detail::Slab* free_ = nullptr;
  std::uint32_t free_count_;
};

inline void BufferRef::release() {
  if (slab_ != nullptr && --slab_->references == 0) slab_->pool->give(slab_);
}

}  // namespace peal
