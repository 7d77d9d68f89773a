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
      // Uninitialised, like the ring: untouched pages cost no memory.
      entries_(new Entry[entry_mask_ + 1]) {}

SubmitQueue::~SubmitQueue() { remove(messages()); }

Result<void, Errc> SubmitQueue::admit(ByteView payload) const {
  if (payload.size() > message_bytes_max_) return unexpected(Errc::too_large);
  if (messages() == messages_max_) return unexpected(Errc::would_block);
  if (!empty() && bytes_ + payload.size() > bytes_max_) return unexpected(Errc::would_block);
  return {};
}

std::uint64_t SubmitQueue::add(const std::byte* bytes, std::size_t size, Service service,
                               DomainSet domains, Place place) {
  entry(pushed_) = {bytes, ring_.tail(), static_cast<std::uint32_t>(size), service, domains.bits(),
                    place, false};
  bytes_ += size;
  waiting_bytes_ += size;
  return ++pushed_;
}

Result<std::uint64_t, Errc> SubmitQueue::push(ByteView payload, Service service,
                                              DomainSet domains) {
  if (const auto admitted = admit(payload); !admitted) return unexpected(admitted.error());
  const auto size = static_cast<std::uint32_t>(payload.size());
  const Place place = size > small_bytes_max_ ? Place::block : Place::small;
  std::byte* bytes = nullptr;
  if (size > 0) {
    bytes = place == Place::block ? new std::byte[size] : ring_.take(size);
    if (bytes == nullptr) return unexpected(Errc::would_block);
    std::memcpy(bytes, payload.data(), size);
  }
  return add(bytes, size, service, domains, place);
}

Result<std::uint64_t, Errc> SubmitQueue::push_block(ByteView payload,
                                                    std::unique_ptr<std::byte[]>& block,
                                                    Service service, DomainSet domains) {
  if (const auto admitted = admit(payload); !admitted) return unexpected(admitted.error());
  PEAL_ASSERT(block != nullptr && payload.data() == block.get());
  return add(block.release(), payload.size(), service, domains, Place::block);
}

Result<std::uint64_t, Errc> SubmitQueue::push_lent(ByteView payload, Service service,
                                                   DomainSet domains) {
  if (const auto admitted = admit(payload); !admitted) return unexpected(admitted.error());
  return add(payload.data(), payload.size(), service, domains, Place::lent);
}

void SubmitQueue::pop(std::uint64_t count) {
  PEAL_ASSERT(count <= taken());
  remove(count);
  // Dropped messages directly behind the removed messages are in no unit, so no later pop() would
  // remove them.
  while (popped_ < forgotten_ && entry(popped_).forgotten) remove(1);
}

void SubmitQueue::rewind() {
  if (popped_ < forgotten_) remove(forgotten_ - popped_);
  next_ = popped_;
  waiting_bytes_ = bytes_;
}

void SubmitQueue::forget() {
  forgotten_ = pushed_;
  if (taken() == 0) return rewind();
  for (; next_ < pushed_; take()) entry(next_).forgotten = true;
}

void SubmitQueue::remove(std::uint64_t count) {
  if (count == 0) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Entry& oldest = entry(popped_);
    bytes_ -= oldest.size;
    if (oldest.place == Place::block) delete[] oldest.bytes;
    ++popped_;
  }
  ring_.give_back(entry(popped_ - 1).ring_tail);
}

void SubmitQueue::check_invariants() const {
  PEAL_ASSERT(popped_ <= next_ && next_ <= pushed_ && messages() <= messages_max_);
  PEAL_ASSERT(bytes_ <= std::max<std::uint64_t>(bytes_max_, message_bytes_max_));
  PEAL_ASSERT(!empty() || bytes_ == 0);
  PEAL_ASSERT(taken() > 0 ? waiting_bytes_ <= bytes_ : waiting_bytes_ == bytes_);
  PEAL_ASSERT(waiting() > 0 || waiting_bytes_ == 0);
  PEAL_ASSERT(forgotten_ <= next_);
}

}  // namespace peal::node
