// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "node/node.h"

namespace peal::node {

/// The messages that wait for their place, in the order submitted. Small ones live in a ring of
/// bytes that is taken in the constructor, so that they allocate nothing; each large one has a
/// block of its own. Numbers count submissions from 1 and have no holes.
class SubmitQueue {
 public:
  explicit SubmitQueue(const Limits& limits);
  ~SubmitQueue();
  SubmitQueue(const SubmitQueue&) = delete;
  SubmitQueue& operator=(const SubmitQueue&) = delete;

  /// Copies `payload` and returns its number; or too_large, or would_block. An empty queue takes
  /// any message that is not too large.
  Result<std::uint64_t> push(ByteView payload, Service service) {
    return push(payload, nullptr, service);
  }
  /// The same; if `block` is not null, `payload` lies in it, and it is taken instead of copied.
  Result<std::uint64_t> push(ByteView payload, std::unique_ptr<std::byte[]>* block,
                             Service service);

  bool empty() const { return count_ == 0; }
  std::uint64_t messages() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }

  /// The oldest message; not empty().
  std::uint64_t front_number() const { return pushed_ - count_ + 1; }
  ByteView front_payload() const;
  Service front_service() const;
  void pop();

  void check_invariants() const;

 private:
  struct Entry {
    std::byte* bytes;
    std::uint64_t ring_tail;  ///< where the ring's tail stood after it, if it lies there
    std::uint32_t size;
    Service service;
    bool block;  ///< `bytes` was allocated for this message alone
  };

  Entry& entry(std::uint64_t position) const { return entries_[position & entry_mask_]; }
  /// Room for `size` bytes in one piece, or null.
  std::byte* take_from_ring(std::uint32_t size);

  std::uint32_t message_bytes_max_;
  std::uint64_t bytes_max_;
  std::uint64_t messages_max_;
  std::uint64_t ring_bytes_;
  std::uint32_t small_bytes_max_;  ///< larger messages get a block
  std::uint64_t entry_mask_;
  std::unique_ptr<Entry[]> entries_;
  std::unique_ptr<std::byte[]> ring_;

  std::uint64_t ring_head_ = 0;  ///< offsets that only grow; the place is the offset modulo size
  std::uint64_t ring_tail_ = 0;
  std::uint64_t pushed_ = 0;  ///< messages ever
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace peal::node
