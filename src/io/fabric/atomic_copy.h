// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

// Copies to and from memory that another process reads or writes at the same time. Such a copy may
// be torn at any byte, but is no data race: each access is atomic and relaxed, of 8 bytes where the
// shared address is aligned.

namespace peal::io::fabric {

void copy_to_shared(std::byte* shared, ByteView from);
void copy_from_shared(const std::byte* shared, ByteSpan to);

/// An integer in memory that two processes share. `at` must be aligned to 8 bytes.
inline std::atomic_ref<std::uint64_t> shared_word(std::byte* at) {
  static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free, "processes share it");
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at));
}

/// Orders all accesses to memory before it and all behind it, also a store before it and a load
/// behind it.
inline void full_fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace peal::io::fabric
