// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/byte_ring.h"
#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "node/node.h"

namespace peal::member {

/// Holds messages on their way from the application's threads to the loop. A small message is
/// copied into a ring, and stays there until it is ordered; the ring is allocated at start. A large
/// message is copied into a block of its own, before the lock is taken; the node takes over the
/// block.
class SubmitStage {
 public:
  /// Limits of the stored messages. A large message may exceed block_bytes_max if no other large
  /// message waits.
  struct Limits {
    std::uint32_t message_bytes_max{};
    std::uint64_t small_bytes_max{};  ///< all small messages together; the size of the ring
    std::uint64_t block_bytes_max{};  ///< large messages that the node has not taken yet
    std::uint32_t messages_max{};
  };
  explicit SubmitStage(const Limits& limits);
  ~SubmitStage();
  SubmitStage(const SubmitStage&) = delete;
  SubmitStage& operator=(const SubmitStage&) = delete;

  /// A message: its bytes are in the ring, or in a block of their own. Item has no initialisers, so
  /// that unused slots never cost memory.
  struct Item {
    std::byte* bytes;
    /// ByteRing::tail() after this message. ByteRing::give_back() of this value frees the message.
    std::uint64_t ring_tail;
    std::uint32_t size;
    Service service;
    std::uint16_t domain_bits;
    bool block;

    ByteView payload() const { return {bytes, size}; }
    /// The message's destinations.
    DomainSet domains() const { return DomainSet::of_bits(domain_bits); }
  };
  struct Pushed {
    std::uint64_t number{};  ///< counts messages, from 1
    bool first = false;      ///< true: no other message waited, so the loop needs a wake-up
  };

  /// Copies a message. Errors: would_block, too_large, closed. Thread: any.
  Result<Pushed, Errc> push(ByteView payload, Service service, DomainSet domains = {});
  /// Like push(), but waits for space until `deadline`.
  Result<Pushed, Errc> push_until(ByteView payload, Service service, DomainSet domains,
                                  std::chrono::steady_clock::time_point deadline);
  /// push() and push_until() return closed from now on. Thread: any.
  void close();
  /// Messages accepted so far. Thread: any.
  std::uint64_t pushed() const;

  /// Makes pushed messages visible to front(), and frees the ring's bytes of messages up to number
  /// `released`. Thread: the loop's, as for front() and pop().
  void turn(std::uint64_t released);
  /// The oldest visible message that was not handed over to the node, or null.
  Item* front() { return handed_ == visible_ ? nullptr : &item(handed_); }
  /// Call it when the front message, and its block if it has one, were handed over. Bytes in the
  /// ring stay until turn() frees them.
  void pop();
  /// True if blocks were handed over after the last turn(): the next turn() makes their space
  /// available.
  bool gave_blocks() const { return handed_block_bytes_ > 0; }
  /// True if a message was pushed after the last turn(). Thread: any.
  bool waiting() const { return waiting_.load(std::memory_order_acquire); }

 private:
  Result<Pushed, Errc> push_locked(ByteView payload, Service service, DomainSet domains,
                                   std::unique_ptr<std::byte[]>& block);

  Item& item(std::uint64_t position) { return items_[position & mask_]; }
  std::unique_ptr<std::byte[]> copy_of(ByteView payload) const;

  const Limits limits_;
  const std::uint32_t small_max_;  ///< larger messages get a block
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::uint32_t waiters_ = 0;
  bool closed_ = false;
  std::atomic<bool> waiting_{false};
  const std::uint64_t mask_;
  const std::unique_ptr<Item[]> items_;
  ByteRing ring_;
  std::uint64_t block_bytes_ = 0;
  std::uint64_t pushed_ = 0;
  std::uint64_t released_ = 0;

  // The loop's thread only.
  std::uint64_t visible_ = 0;
  std::uint64_t handed_ = 0;
  std::uint64_t handed_block_bytes_ = 0;  ///< bytes of blocks handed over since the last turn()
};

}  // namespace peal::member
