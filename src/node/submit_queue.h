// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/assert.h"
#include "base/byte_ring.h"
#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "node/node.h"

namespace peal::node {

/// The messages that wait for their place, in the order submitted. Those in front may be taken:
/// they are in units already, but stay until their unit has its place (pop) or has lost its view
/// (rewind); until then they count and keep their bytes like the others. Small ones live in a ring
/// of bytes that is taken in the constructor, so that they allocate nothing; each large one has a
/// block of its own. Numbers count submissions from 1 and have no holes.
class SubmitQueue {
 public:
  explicit SubmitQueue(const Limits& limits);
  ~SubmitQueue();
  SubmitQueue(const SubmitQueue&) = delete;
  SubmitQueue& operator=(const SubmitQueue&) = delete;

  /// Copies `payload` and returns its number; or too_large, or would_block. An empty queue takes
  /// any message that is not too large.
  Result<std::uint64_t> push(ByteView payload, Service service, order::Domain domain = 0);
  /// The same; takes `block`, in which `payload` lies, instead of copying.
  Result<std::uint64_t> push_block(ByteView payload, std::unique_ptr<std::byte[]>& block,
                                   Service service, order::Domain domain = 0);
  /// The same; `payload` stays where it is until its message was popped.
  Result<std::uint64_t> push_lent(ByteView payload, Service service, order::Domain domain = 0);

  bool empty() const { return popped_ == pushed_; }
  /// All that is here, taken or not.
  std::uint64_t messages() const { return pushed_ - popped_; }
  std::uint64_t bytes() const { return bytes_; }

  /// Messages that are not here any more: the number of the last one.
  std::uint64_t popped() const { return popped_; }

  /// The messages that are not taken.
  std::uint64_t waiting() const { return pushed_ - next_; }
  std::uint64_t waiting_bytes() const { return waiting_bytes_; }

  /// The oldest message that is not taken; waiting() is not 0.
  std::uint64_t front_number() const { return next_ + 1; }
  ByteView front_payload() const { return {front().bytes, front().size}; }
  Service front_service() const { return front().service; }
  order::Domain front_domain() const { return front().domain; }
  /// Takes that one.
  void take() {
    waiting_bytes_ -= front().size;
    ++next_;
  }

  std::uint64_t taken() const { return next_ - popped_; }
  /// Of the oldest messages that are taken, the one with so many before it; fewer than taken().
  Service taken_service(std::uint64_t index) const {
    PEAL_ASSERT(index < taken());
    return entry(popped_ + index).service;
  }
  /// Removes the oldest `count` messages, at most taken(); they never come back.
  void pop(std::uint64_t count);
  /// Takes nothing after all: the oldest message of all is the front again.
  void rewind();
  /// Removes all messages that are not taken, at once or, if others are taken, together with the
  /// last of these; and those that are taken no later than by rewind(). None of them is ever a
  /// front again.
  void forget();
  /// The number of the last message that was forgotten, or 0.
  std::uint64_t forgotten() const { return forgotten_; }

  void check_invariants() const;

 private:
  enum class Place : std::uint8_t { ring, block, lent };
  struct Entry {
    const std::byte* bytes;
    std::uint64_t ring_tail;  ///< where the ring's tail stood after it
    std::uint32_t size;
    Service service;
    order::Domain domain;
    Place place;
    bool forgotten;  ///< while it was not taken: no unit will remove it
  };

  Entry& entry(std::uint64_t position) const { return entries_[position & entry_mask_]; }
  const Entry& front() const {
    PEAL_ASSERT(next_ < pushed_);
    return entry(next_);
  }
  /// Why `payload` cannot be queued, if so.
  Result<void> admit(ByteView payload) const;
  std::uint64_t add(const std::byte* bytes, std::size_t size, Service service, order::Domain domain,
                    Place place);
  void remove(std::uint64_t count);

  std::uint32_t message_bytes_max_;
  std::uint64_t bytes_max_;
  std::uint64_t messages_max_;
  ByteRing ring_;
  std::uint32_t small_bytes_max_;  ///< larger messages get a block
  std::uint64_t entry_mask_;
  std::unique_ptr<Entry[]> entries_;

  // Messages ever: popped_ <= next_ <= pushed_.
  std::uint64_t pushed_ = 0;
  std::uint64_t next_ = 0;  ///< taken, with those that were forgotten behind taken ones
  std::uint64_t popped_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t forgotten_ = 0;  ///< a number: all up to it
};

}  // namespace peal::node
