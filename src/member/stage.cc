// SPDX-License-Identifier: Apache-2.0
#include "member/stage.h"

#include <cstring>

#include "base/assert.h"

namespace peal::member {
namespace {

constexpr std::size_t kSmallMax = 16 * 1'024;  // larger messages get a block

std::unique_ptr<std::byte[]> copy_of(ByteView payload) {
  if (payload.size() <= kSmallMax) return nullptr;
  std::unique_ptr<std::byte[]> block(new std::byte[payload.size()]);
  std::memcpy(block.get(), payload.data(), payload.size());
  return block;
}

}  // namespace

Stage::Stage(std::uint32_t message_bytes_max, std::uint64_t block_bytes_max)
    : message_bytes_max_(message_bytes_max), block_bytes_max_(block_bytes_max) {
  for (Batch& batch : batches_) {
    batch.items.reserve(kMessagesMax);
    batch.bytes.reset(new std::byte[kSmallBytesMax]);
  }
}

Result<Stage::Pushed> Stage::push(ByteView payload, Service service) {
  if (payload.size() > message_bytes_max_) return unexpected(Errc::too_large);
  auto block = copy_of(payload);
  const std::lock_guard lock(mutex_);
  return push_locked(payload, service, block);
}

Result<Stage::Pushed> Stage::push_until(ByteView payload, Service service,
                                        std::chrono::steady_clock::time_point deadline) {
  if (payload.size() > message_bytes_max_) return unexpected(Errc::too_large);
  auto block = copy_of(payload);
  std::unique_lock lock(mutex_);
  while (true) {
    const auto pushed = push_locked(payload, service, block);
    if (pushed || pushed.error() != Errc::would_block) return pushed;
    ++waiters_;
    const auto outcome = room_.wait_until(lock, deadline);
    --waiters_;
    // One more try after the deadline: there may be room by now.
    if (outcome == std::cv_status::timeout) return push_locked(payload, service, block);
  }
}

Result<Stage::Pushed> Stage::push_locked(ByteView payload, Service service,
                                         std::unique_ptr<std::byte[]>& block) {
  if (closed_) return unexpected(Errc::closed);
  Batch& batch = *filling_;
  if (batch.items.size() == kMessagesMax) return unexpected(Errc::would_block);
  Item item;
  item.size = static_cast<std::uint32_t>(payload.size());
  item.service = service;
  if (block != nullptr) {
    if (batch.block_bytes > 0 && batch.block_bytes + item.size > block_bytes_max_) {
      return unexpected(Errc::would_block);
    }
    batch.block_bytes += item.size;
    item.block = std::move(block);
  } else {
    if (batch.used + item.size > kSmallBytesMax) return unexpected(Errc::would_block);
    item.offset = static_cast<std::uint32_t>(batch.used);
    if (item.size > 0) std::memcpy(batch.bytes.get() + batch.used, payload.data(), item.size);
    batch.used += item.size;
  }
  const bool first = batch.items.empty();
  batch.items.push_back(std::move(item));
  waiting_.store(true, std::memory_order_release);
  return Pushed{++pushed_, first};
}

void Stage::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  room_.notify_all();
}

std::uint64_t Stage::pushed() const {
  const std::lock_guard lock(mutex_);
  return pushed_;
}

Stage::Batch& Stage::take() {
  const std::lock_guard lock(mutex_);
  Batch& full = *filling_;
  filling_ = &full == &batches_[0] ? &batches_[1] : &batches_[0];
  filling_->items.clear();
  filling_->used = 0;
  filling_->block_bytes = 0;
  waiting_.store(false, std::memory_order_release);
  if (waiters_ > 0) room_.notify_all();
  return full;
}

}  // namespace peal::member
