// SPDX-License-Identifier: Apache-2.0
#include "node/submit_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"

namespace peal::node {

SubmitQueue::SubmitQueue(const Limits& limits)
    : message_bytes_max_(limits.message_bytes_max),
      bytes_max_(limits.submit_bytes_max),
      messages_max_(std::max(1U, limits.submit_messages_max)),
      ring_(small_ring_bytes(limits)),
      small_bytes_max_(small_message_bytes_max(ring_.size())),
      entry_mask_(std::bit_ceil(messages_max_) - 1),
      // Left uninitialised, as the ring: pages that are never used never cost memory.
      entries_(new Entry[entry_mask_ + 1]) {}

SubmitQueue::~SubmitQueue() {
  while (!empty()) remove_oldest();
}

Result<void> SubmitQueue::admit(ByteView payload) const {
  if (payload.size() > message_bytes_max_) return unexpected(Errc::too_large);
  if (count_ == messages_max_) return unexpected(Errc::would_block);
  if (count_ > 0 && bytes_ + payload.size() > bytes_max_) return unexpected(Errc::would_block);
  return {};
}

std::uint64_t SubmitQueue::add(const std::byte* bytes, std::size_t size, Service service,
                               Place place) {
  entry(pushed_) = {bytes, ring_.tail(), static_cast<std::uint32_t>(size), service, place, false};
  ++count_;
  bytes_ += size;
  return ++pushed_;
}

Result<std::uint64_t> SubmitQueue::push(ByteView payload, Service service) {
  if (const auto admitted = admit(payload); !admitted) return unexpected(admitted.error());
  const auto size = static_cast<std::uint32_t>(payload.size());
  const Place place = size > small_bytes_max_ ? Place::block : Place::ring;
  std::byte* bytes = nullptr;
  if (size > 0) {
    bytes = place == Place::block ? new std::byte[size] : ring_.take(size);
    if (bytes == nullptr) return unexpected(Errc::would_block);
    std::memcpy(bytes, payload.data(), size);
  }
  return add(bytes, size, service, place);
}

Result<std::uint64_t> SubmitQueue::push_block(ByteView payload, std::unique_ptr<std::byte[]>& block,
                                              Service service) {
  if (const auto admitted = admit(payload); !admitted) return unexpected(admitted.error());
  PEAL_ASSERT(block != nullptr && payload.data() == block.get());
  return add(block.release(), payload.size(), service, Place::block);
}

Result<std::uint64_t> SubmitQueue::push_lent(ByteView payload, Service service) {
  if (const auto admitted = admit(payload); !admitted) return unexpected(admitted.error());
  return add(payload.data(), payload.size(), service, Place::lent);
}

ByteView SubmitQueue::front_payload() const {
  PEAL_ASSERT(taken_ < count_);
  const Entry& front = entry(popped() + taken_);
  return {front.bytes, front.size};
}

Service SubmitQueue::front_service() const {
  PEAL_ASSERT(taken_ < count_);
  return entry(popped() + taken_).service;
}

void SubmitQueue::take() {
  PEAL_ASSERT(taken_ < count_);
  taken_bytes_ += entry(popped() + taken_).size;
  ++taken_;
}

Service SubmitQueue::taken_service() const {
  PEAL_ASSERT(taken_ > 0);
  return entry(popped()).service;
}

void SubmitQueue::pop() {
  PEAL_ASSERT(taken_ > 0);
  const auto remove_taken = [&] {
    taken_bytes_ -= entry(popped()).size;
    --taken_;
    remove_oldest();
  };
  remove_taken();
  // What was forgotten behind it is in no unit that could remove it.
  while (popped() < forgotten_ && entry(popped()).forgotten) remove_taken();
}

void SubmitQueue::rewind() {
  taken_ = 0;
  taken_bytes_ = 0;
  while (popped() < forgotten_) remove_oldest();
}

void SubmitQueue::forget() {
  forgotten_ = pushed_;
  if (taken_ == 0) return rewind();
  for (; taken_ < count_; take()) entry(popped() + taken_).forgotten = true;
}

void SubmitQueue::remove_oldest() {
  const Entry& oldest = entry(popped());
  bytes_ -= oldest.size;
  if (oldest.place == Place::block) delete[] oldest.bytes;
  if (oldest.place == Place::ring && oldest.size > 0) ring_.give_back(oldest.ring_tail);
  --count_;
}

void SubmitQueue::check_invariants() const {
  PEAL_ASSERT(count_ <= messages_max_ && count_ <= pushed_);
  PEAL_ASSERT(bytes_ <= std::max<std::uint64_t>(bytes_max_, message_bytes_max_));
  PEAL_ASSERT(count_ > 0 || bytes_ == 0);
  PEAL_ASSERT(taken_ <= count_ && taken_bytes_ <= bytes_);
  PEAL_ASSERT(taken_ > 0 || taken_bytes_ == 0);
  PEAL_ASSERT(taken_ < count_ || taken_bytes_ == bytes_);
  PEAL_ASSERT(forgotten_ <= popped() + taken_);
}

}  // namespace peal::node
