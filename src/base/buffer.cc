// SPDX-License-Identifier: Apache-2.0
#include "base/buffer.h"

namespace peal {

BufferPool::BufferPool(std::uint32_t slab_bytes, std::uint32_t slab_count)
    : slab_bytes_(slab_bytes),
      slab_count_(slab_count),
      // Left uninitialised on purpose: pages that are never used never cost memory.
      memory_(new std::byte[static_cast<std::size_t>(slab_bytes) * slab_count]),
      slabs_(new detail::Slab[slab_count]) {
  PEAL_ASSERT(slab_bytes > 0 && slab_count > 0);
  for (std::uint32_t i = slab_count; i > 0; --i) {
    detail::Slab& slab = slabs_[i - 1];
    slab.pool = this;
    slab.bytes = memory_.get() + static_cast<std::size_t>(slab_bytes) * (i - 1);
    slab.next_free = free_;
    free_ = &slab;
  }
  free_count_.store(slab_count);
}

BufferPool::~BufferPool() { PEAL_VERIFY(free_count() == slab_count_); }

BufferRef BufferPool::take() { return take(0, slab_bytes_); }

BufferRef BufferPool::take(std::uint32_t headroom, std::uint32_t size) {
  PEAL_ASSERT(size <= slab_bytes_ && headroom <= slab_bytes_ - size);
  // Slabs that came back are taken again first: their bytes are warm, and those that were never
  // used need no memory.
  if (returned_.load(std::memory_order_relaxed) != nullptr) {
    detail::Slab* first = returned_.exchange(nullptr, std::memory_order_acquire);
    detail::Slab* last = first;
    while (last->next_free != nullptr) last = last->next_free;
    last->next_free = free_;
    free_ = first;
  }
  if (free_ == nullptr) return {};
  detail::Slab* slab = free_;
  free_ = slab->next_free;
  free_count_.fetch_sub(1, std::memory_order_relaxed);
  PEAL_ASSERT(slab->references.load(std::memory_order_relaxed) == 0);
  slab->references.store(1, std::memory_order_relaxed);
  return BufferRef(slab, headroom, size);
}

void BufferPool::give(detail::Slab* slab) {
  // Counted before the owner can take it again, so that the count never falls below zero.
  free_count_.fetch_add(1, std::memory_order_relaxed);
  // Any thread may push; only the owner takes, and it takes the whole list at once, so the push
  // cannot meet a slab that left and came back in between.
  slab->next_free = returned_.load(std::memory_order_relaxed);
  while (!returned_.compare_exchange_weak(slab->next_free, slab, std::memory_order_release,
                                          std::memory_order_relaxed)) {
  }
}

}  // namespace peal
