// SPDX-License-Identifier: Apache-2.0
#include "node/submit_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"

namespace peal::node {
namespace {

constexpr std::uint64_t kRingBytesMin = 4'096;
/// A ring takes at least this many of the largest messages that go into it.
constexpr std::uint64_t kSmallPerRing = 16;
constexpr std::uint64_t kSmallBytesMax = 64 * 1'024;

}  // namespace

SubmitQueue::SubmitQueue(const Limits& limits)
    : message_bytes_max_(limits.message_bytes_max),
      bytes_max_(limits.submit_bytes_max),
      messages_max_(std::max(1U, limits.submit_messages_max)),
      ring_bytes_(std::max(kRingBytesMin,
                           std::min(limits.submit_small_bytes_max, limits.submit_bytes_max))),
      small_bytes_max_(
          static_cast<std::uint32_t>(std::min(kSmallBytesMax, ring_bytes_ / kSmallPerRing))),
      entry_mask_(std::bit_ceil(messages_max_) - 1),
      // Both are left uninitialised: pages that are never used never cost memory.
      entries_(new Entry[entry_mask_ + 1]),
      ring_(new std::byte[ring_bytes_]) {}

SubmitQueue::~SubmitQueue() {
  while (!empty()) pop();
}

Result<std::uint64_t> SubmitQueue::push(ByteView payload, std::unique_ptr<std::byte[]>* block,
                                        Service service) {
  if (payload.size() > message_bytes_max_) return unexpected(Errc::too_large);
  if (count_ == messages_max_) return unexpected(Errc::would_block);
  if (count_ > 0 && bytes_ + payload.size() > bytes_max_) return unexpected(Errc::would_block);

  const auto size = static_cast<std::uint32_t>(payload.size());
  Entry next{nullptr, 0, size, service, block != nullptr || size > small_bytes_max_};
  if (block != nullptr) {
    next.bytes = block->release();
  } else if (size > 0) {
    next.bytes = next.block ? new std::byte[size] : take_from_ring(size);
    if (next.bytes == nullptr) return unexpected(Errc::would_block);
    std::memcpy(next.bytes, payload.data(), size);
  }
  next.ring_tail = ring_tail_;
  entry(pushed_) = next;
  ++pushed_;
  ++count_;
  bytes_ += size;
  return pushed_;
}

std::byte* SubmitQueue::take_from_ring(std::uint32_t size) {
  if (ring_head_ == ring_tail_) ring_head_ = ring_tail_ = 0;
  const std::uint64_t at = ring_tail_ % ring_bytes_;
  const std::uint64_t skip = at + size > ring_bytes_ ? ring_bytes_ - at : 0;
  if (ring_tail_ - ring_head_ + skip + size > ring_bytes_) return nullptr;
  ring_tail_ += skip;
  std::byte* bytes = ring_.get() + ring_tail_ % ring_bytes_;
  ring_tail_ += size;
  return bytes;
}

ByteView SubmitQueue::front_payload() const {
  PEAL_ASSERT(!empty());
  const Entry& front = entry(pushed_ - count_);
  return {front.bytes, front.size};
}

Service SubmitQueue::front_service() const {
  PEAL_ASSERT(!empty());
  return entry(pushed_ - count_).service;
}

void SubmitQueue::pop() {
  PEAL_ASSERT(!empty());
  const Entry& front = entry(pushed_ - count_);
  bytes_ -= front.size;
  if (front.block) {
    delete[] front.bytes;
  } else if (front.size > 0) {
    ring_head_ = front.ring_tail;
  }
  --count_;
}

void SubmitQueue::check_invariants() const {
  PEAL_ASSERT(count_ <= messages_max_ && count_ <= pushed_);
  PEAL_ASSERT(bytes_ <= std::max<std::uint64_t>(bytes_max_, message_bytes_max_));
  PEAL_ASSERT(ring_head_ <= ring_tail_ && ring_tail_ - ring_head_ <= ring_bytes_);
  PEAL_ASSERT(count_ > 0 || bytes_ == 0);
}

}  // namespace peal::node
