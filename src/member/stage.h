// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "node/node.h"

namespace peal::member {

/// Messages on their way from the application's threads to the loop: two batches, one being filled
/// by whoever sends and one being emptied by the loop. Small messages are copied into memory taken
/// at start; large ones into a block each, before the lock is taken.
class Stage {
 public:
  static constexpr std::size_t kMessagesMax = 16'384;
  static constexpr std::size_t kSmallBytesMax = 1U << 20;  ///< of all small messages together

  /// `block_bytes_max`: of large messages together; one is always taken if there is no other.
  Stage(std::uint32_t message_bytes_max, std::uint64_t block_bytes_max);

  /// A message of a batch: its bytes are in the batch, or in `block`.
  struct Item {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    Service service{};
    std::unique_ptr<std::byte[]> block;
  };
  struct Batch {
    std::vector<Item> items;
    std::unique_ptr<std::byte[]> bytes;
    std::size_t used = 0;
    std::uint64_t block_bytes = 0;

    ByteView payload(const Item& item) const {
      return {item.block != nullptr ? item.block.get() : bytes.get() + item.offset, item.size};
    }
  };
  struct Pushed {
    std::uint64_t number{};  ///< counts messages, from 1
    bool first = false;      ///< the batch was empty: the loop needs a wake-up
  };

  /// Copies a message. Errors: would_block, too_large, closed. Thread: any.
  Result<Pushed> push(ByteView payload, Service service);
  /// The same, waiting until there is room, at most until `deadline`.
  Result<Pushed> push_until(ByteView payload, Service service,
                            std::chrono::steady_clock::time_point deadline);
  /// No more messages: push says closed. Thread: any.
  void close();
  /// Messages ever taken in. Thread: any.
  std::uint64_t pushed() const;

  /// Everything since the last take, in order; no items if there is nothing. Valid until the next
  /// call. Thread: the loop's.
  Batch& take();
  /// Something was pushed since the last take. Thread: any.
  bool waiting() const { return waiting_.load(std::memory_order_acquire); }

 private:
  Result<Pushed> push_locked(ByteView payload, Service service,
                             std::unique_ptr<std::byte[]>& block);

  const std::uint32_t message_bytes_max_;
  const std::uint64_t block_bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::uint32_t waiters_ = 0;
  bool closed_ = false;
  std::uint64_t pushed_ = 0;
  std::atomic<bool> waiting_{false};
  Batch batches_[2];
  Batch* filling_ = &batches_[0];
};

}  // namespace peal::member
