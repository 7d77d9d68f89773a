// SPDX-License-Identifier: Apache-2.0
#include "member/submit_stage.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/assert.h"

namespace peal::member {
namespace {

constexpr std::uint32_t kSmallMax = 16 * 1'024;

}  // namespace

SubmitStage::SubmitStage(const Limits& limits)
    : limits_(limits),
      small_max_(std::min(kSmallMax, node::small_message_bytes_max(limits.small_bytes_max))),
      mask_(std::bit_ceil(limits.messages_max) - 1),
      items_(new Item[mask_ + 1]),
      ring_(limits.small_bytes_max) {
  PEAL_ASSERT(limits.messages_max > 0 && limits.small_bytes_max > 0);
}

SubmitStage::~SubmitStage() {
  for (; handed_ < pushed_; ++handed_) {
    if (item(handed_).block) delete[] item(handed_).bytes;
  }
}

std::unique_ptr<std::byte[]> SubmitStage::copy_of(ByteView payload) const {
  if (payload.size() <= small_max_) return nullptr;
  std::unique_ptr<std::byte[]> block(new std::byte[payload.size()]);
  std::memcpy(block.get(), payload.data(), payload.size());
  return block;
}

Result<SubmitStage::Pushed, Errc> SubmitStage::push(ByteView payload, Service service,
                                                    DomainSet domains) {
  if (payload.size() > limits_.message_bytes_max) return unexpected(Errc::too_large);
  auto block = copy_of(payload);
  const std::lock_guard lock(mutex_);
  return push_locked(payload, service, domains, block);
}

Result<SubmitStage::Pushed, Errc> SubmitStage::push_until(
    ByteView payload, Service service, DomainSet domains,
    std::chrono::steady_clock::time_point deadline) {
  if (payload.size() > limits_.message_bytes_max) return unexpected(Errc::too_large);
  auto block = copy_of(payload);
  std::unique_lock lock(mutex_);
  while (true) {
    const auto pushed = push_locked(payload, service, domains, block);
    if (pushed || pushed.error() != Errc::would_block) return pushed;
    ++waiters_;
    const auto outcome = room_.wait_until(lock, deadline);
    --waiters_;
    // One more try after the deadline: there may be space by now.
    if (outcome == std::cv_status::timeout) return push_locked(payload, service, domains, block);
  }
}

Result<SubmitStage::Pushed, Errc> SubmitStage::push_locked(ByteView payload, Service service,
                                                           DomainSet domains,
                                                           std::unique_ptr<std::byte[]>& block) {
  if (closed_) return unexpected(Errc::closed);
  if (pushed_ - released_ == limits_.messages_max) return unexpected(Errc::would_block);
  const auto size = static_cast<std::uint32_t>(payload.size());
  Item next{nullptr, 0, size, service, domains.bits(), block != nullptr};
  if (next.block) {
    if (block_bytes_ > 0 && block_bytes_ + size > limits_.block_bytes_max) {
      return unexpected(Errc::would_block);
    }
    block_bytes_ += size;
    next.bytes = block.release();
  } else if (size > 0) {
    next.bytes = ring_.take(size);
    if (next.bytes == nullptr) return unexpected(Errc::would_block);
    std::memcpy(next.bytes, payload.data(), size);
  }
  next.ring_tail = ring_.tail();
  item(pushed_) = next;
  ++pushed_;
  const bool first = !waiting_.load(std::memory_order_relaxed);  // waiting_ changes under the lock
  if (first) waiting_.store(true, std::memory_order_release);
  return Pushed{pushed_, first};
}

void SubmitStage::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  room_.notify_all();
}

std::uint64_t SubmitStage::pushed() const {
  const std::lock_guard lock(mutex_);
  return pushed_;
}

void SubmitStage::turn(std::uint64_t released) {
  PEAL_ASSERT(released <= handed_);
  const std::lock_guard lock(mutex_);
  block_bytes_ -= std::exchange(handed_block_bytes_, 0);
  for (; released_ < released; ++released_) {
    const Item& each = item(released_);
    if (!each.block && each.size > 0) ring_.give_back(each.ring_tail);
  }
  visible_ = pushed_;
  waiting_.store(false, std::memory_order_release);
  if (waiters_ > 0) room_.notify_all();
}

void SubmitStage::pop() {
  const Item& front = item(handed_);
  if (front.block) handed_block_bytes_ += front.size;
  ++handed_;
}

}  // namespace peal::member
