// SPDX-License-Identifier: Apache-2.0
#include "allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::uint64_t> count{0};
std::atomic<std::uint64_t> bytes_asked{0};
std::atomic<std::int64_t> live{0};
}  // namespace

// Not inlined, because the compiler would warn that `delete` frees memory of malloc().
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  count.fetch_add(1, std::memory_order_relaxed);
  bytes_asked.fetch_add(bytes, std::memory_order_relaxed);
  live.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  std::abort();
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }

namespace peal {

std::uint64_t allocations() { return count.load(); }
std::uint64_t allocated_bytes() { return bytes_asked.load(); }
std::int64_t live_allocations() { return live.load(); }

}  // namespace peal
