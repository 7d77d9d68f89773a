// SPDX-License-Identifier: Apache-2.0
#include "wire/shared.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::wire {
namespace {

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free, "readers write nothing");

/// The generation is little-endian, like all integers on the wire, and is stored in the processor's
/// own byte order.
static_assert(std::endian::native == std::endian::little);

std::atomic_ref<std::uint64_t> generation_of(const std::byte* block) {
  // Readers only load through this reference: they have mapped the memory read-only.
  return std::atomic_ref<std::uint64_t>(
      *reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(block)));
}

}  // namespace

void write_shared(ByteSpan block, std::uint64_t generation, ByteView head, ByteView rest) {
  PEAL_ASSERT(generation > 0);
  PEAL_ASSERT(block.size() >= kGenerationBytes + head.size() + rest.size());
  generation_of(block.data()).store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  std::byte* to = std::copy(head.begin(), head.end(), block.data() + kGenerationBytes);
  std::copy(rest.begin(), rest.end(), to);
  generation_of(block.data()).store(generation, std::memory_order_release);
}

void clear_shared(ByteSpan block) {
  PEAL_ASSERT(block.size() >= kGenerationBytes);
  generation_of(block.data()).store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

SharedRead look_at_shared(ByteView memory, const Shared& at) {
  const std::uint64_t end = std::uint64_t{at.offset} + kGenerationBytes + at.bytes;
  if (at.offset % kSharedAlign != 0 || at.bytes < kRecordHeaderBytes || end > memory.size()) {
    return SharedRead::bad;
  }
  const auto generation = generation_of(memory.data() + at.offset);
  const bool ignored = PEAL_MUTANT(sm8_generation_ignored);
  const bool there = generation.load(std::memory_order_acquire) == at.generation || ignored;
  return there ? SharedRead::ok : SharedRead::gone;
}

SharedRead read_shared(ByteView memory, const Shared& at, RecordKind& kind,
                       std::vector<std::byte>& body) {
  if (const SharedRead seen = look_at_shared(memory, at); seen != SharedRead::ok) return seen;
  const std::byte* block = memory.data() + at.offset;
  // Copy first, then check the copy: the daemon may overwrite the block at any time.
  const ByteView record(block + kGenerationBytes, at.bytes);
  std::array<std::byte, kRecordHeaderBytes> header;
  std::copy_n(record.begin(), header.size(), header.begin());
  body.assign(record.begin() + header.size(), record.end());
  std::atomic_thread_fence(std::memory_order_acquire);
  const bool ignored = PEAL_MUTANT(sm8_generation_ignored);
  if (generation_of(block).load(std::memory_order_relaxed) != at.generation && !ignored) {
    return SharedRead::gone;
  }
  if (load<std::uint32_t>(header) != at.bytes - sizeof(std::uint32_t)) return SharedRead::bad;
  kind = static_cast<RecordKind>(header[sizeof(std::uint32_t)]);
  return SharedRead::ok;
}

}  // namespace peal::wire
