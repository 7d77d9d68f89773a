// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/byte_ring.h"
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
  Result<std::uint64_t> push(ByteView payload, Service service);
  /// The same; takes `block`, in which `payload` lies, instead of copying.
  Result<std::uint64_t> push_block(ByteView payload, std::unique_ptr<std::byte[]>& block,
                                   Service service);
  /// The same; `payload` stays where it is until its message was popped.
  Result<std::uint64_t> push_lent(ByteView payload, Service service);

  bool empty() const { return count_ == 0; }
  std::uint64_t messages() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }

  /// Messages that are not here any more: the number of the last one.
  std::uint64_t popped() const { return pushed_ - count_; }

  /// The oldest message; not empty().
  std::uint64_t front_number() const { return pushed_ - count_ + 1; }
  ByteView front_payload() const;
  Service front_service() const;
  void pop();

  void check_invariants() const;

 private:
  enum class Place : std::uint8_t { ring, block, lent };
  struct Entry {
    const std::byte* bytes;
    std::uint64_t ring_tail;  ///< where the ring's tail stood after it
    std::uint32_t size;
    Service service;
    Place place;
  };

  Entry& entry(std::uint64_t position) const { return entries_[position & entry_mask_]; }
  /// Why `payload` cannot be queued, if so.
  Result<void> admit(ByteView payload) const;
  std::uint64_t add(const std::byte* bytes, std::size_t size, Service service, Place place);

  std::uint32_t message_bytes_max_;
  std::uint64_t bytes_max_;
  std::uint64_t messages_max_;
  ByteRing ring_;
  std::uint32_t small_bytes_max_;  ///< larger messages get a block
  std::uint64_t entry_mask_;
  std::unique_ptr<Entry[]> entries_;

  std::uint64_t pushed_ = 0;  ///< messages ever
  std::uint64_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace peal::node
