// SPDX-License-Identifier: Apache-2.0
#include "base/buffer.h"

namespace peal {

BufferPool::BufferPool(std::uint32_t slab_bytes, std::uint32_t slab_count)
    : slab_bytes_(slab_bytes),
      slab_count_(slab_count),
      // Uninitialised on purpose: untouched pages cost no memory.
      memory_(new std::byte[static_cast<std::size_t>(slab_bytes) * slab_count]),
      slabs_(new detail::Slab[slab_count]),
      free_count_(slab_count) {
  PEAL_ASSERT(slab_bytes > 0 && slab_count > 0);
  for (std::uint32_t i = slab_count; i > 0; --i) {
    detail::Slab& slab = slabs_[i - 1];
    slab.pool = this;
    slab.bytes = memory_.get() + static_cast<std::size_t>(slab_bytes) * (i - 1);
    slab.next_free = free_;
    free_ = &slab;
  }
}

BufferPool::~BufferPool() { PEAL_VERIFY(free_count() == slab_count_); }

BufferRef BufferPool::take() { return take(0, slab_bytes_); }

BufferRef BufferPool::take(std::uint32_t headroom, std::uint32_t size) {
  PEAL_ASSERT(size <= slab_bytes_ && headroom <= slab_bytes_ - size);
  if (free_ == nullptr) return {};
  detail::Slab* slab = free_;
  free_ = slab->next_free;
  --free_count_;
  PEAL_ASSERT(slab->references == 0);
  slab->references = 1;
  return BufferRef(slab, headroom, size);
}

}  // namespace peal
