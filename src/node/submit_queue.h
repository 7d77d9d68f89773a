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

/// The messages that wait for their place, in the order submitted. The oldest messages may be
/// *taken*: they are in units already. A taken message stays in the queue until its unit gets its
/// place (pop) or its view ends (rewind). Until then, it counts and keeps its bytes like the other
/// messages. Small messages lie in a ring of bytes that the constructor allocates. Each large
/// message has a block of its own. Numbers count submissions from 1, without gaps.
class SubmitQueue {
 public:
  explicit SubmitQueue(const Limits& limits);
  ~SubmitQueue();
  SubmitQueue(const SubmitQueue&) = delete;
  SubmitQueue& operator=(const SubmitQueue&) = delete;

  /// Copies `payload` and returns the message's number. Errors: too_large, would_block. An empty
  /// queue takes any message that is not too large.
  Result<std::uint64_t, Errc> push(ByteView payload, Service service, DomainSet domains = {});
  /// As push(), but takes `block`, in which `payload` lies, instead of copying.
  Result<std::uint64_t, Errc> push_block(ByteView payload, std::unique_ptr<std::byte[]>& block,
                                         Service service, DomainSet domains = {});
  /// As push(), but without a copy: `payload` must stay valid until its message is popped.
  Result<std::uint64_t, Errc> push_lent(ByteView payload, Service service, DomainSet domains = {});

  bool empty() const { return popped_ == pushed_; }
  /// All messages in the queue, taken or not.
  std::uint64_t messages() const { return pushed_ - popped_; }
  std::uint64_t bytes() const { return bytes_; }

  /// The number of the last message that was removed.
  std::uint64_t popped() const { return popped_; }

  /// Messages that are not taken.
  std::uint64_t waiting() const { return pushed_ - next_; }
  std::uint64_t waiting_bytes() const { return waiting_bytes_; }

  /// The oldest message that is not taken; waiting() is not 0.
  std::uint64_t front_number() const { return next_ + 1; }
  ByteView front_payload() const { return {front().bytes, front().size}; }
  Service front_service() const { return front().service; }
  DomainSet front_domains() const { return DomainSet::of_bits(front().domains); }
  /// Takes the front message.
  void take() {
    waiting_bytes_ -= front().size;
    ++next_;
  }

  /// The number of the last message that was taken.
  std::uint64_t last_taken() const { return next_; }
  std::uint64_t taken() const { return next_ - popped_; }
  /// The service of the taken message with `index` older messages before it; index < taken().
  Service taken_service(std::uint64_t index) const {
    PEAL_ASSERT(index < taken());
    return entry(popped_ + index).service;
  }
  /// Removes the oldest `count` messages for good; count <= taken().
  void pop(std::uint64_t count);
  /// Undoes all takes: the oldest message that is not dropped is the front again.
  void rewind();
  /// Drops all messages that are not taken. They are removed at once if no message is taken, else
  /// together with the last taken message. A later rewind() drops the taken messages, too. No
  /// message that is in the queue now becomes the front again.
  void forget();
  /// The number of the last message submitted before the last forget(), or 0.
  std::uint64_t forgotten() const { return forgotten_; }

  void check_invariants() const;

 private:
  enum class Place : std::uint8_t { small, block, lent };
  struct Entry {
    const std::byte* bytes;
    /// ByteRing::tail() after this message was added. ByteRing::give_back() with this value frees
    /// the message's bytes in the ring.
    std::uint64_t ring_tail;
    std::uint32_t size;
    Service service;
    std::uint16_t domains;  ///< DomainSet::bits(), which needs no initialisation
    Place place;
    bool forgotten;  ///< dropped before it was taken: it is in no unit
  };

  Entry& entry(std::uint64_t position) const { return entries_[position & entry_mask_]; }
  const Entry& front() const {
    PEAL_ASSERT(next_ < pushed_);
    return entry(next_);
  }
  /// Checks the limits. Errors: too_large, would_block.
  Result<void, Errc> admit(ByteView payload) const;
  std::uint64_t add(const std::byte* bytes, std::size_t size, Service service, DomainSet domains,
                    Place place);
  void remove(std::uint64_t count);

  std::uint32_t message_bytes_max_;
  std::uint64_t bytes_max_;
  std::uint64_t messages_max_;
  ByteRing ring_;
  std::uint32_t small_bytes_max_;  ///< larger messages get a block
  std::uint64_t entry_mask_;
  std::unique_ptr<Entry[]> entries_;

  // Counts of messages: popped_ <= next_ <= pushed_.
  std::uint64_t pushed_ = 0;
  std::uint64_t next_ = 0;  ///< number of messages that no longer wait: popped, taken or dropped
  std::uint64_t popped_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t forgotten_ = 0;  ///< messages up to this number never wait again: see forget()
};

}  // namespace peal::node
