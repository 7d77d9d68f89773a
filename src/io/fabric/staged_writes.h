// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ring_queue.h"
#include "base/time.h"
#include "io/fabric/byte_queue.h"
#include "port/memory.h"

namespace peal::io::fabric {

/// A write that has not left yet.
struct StagedWrite {
  port::Place place;
  std::uint64_t token{};
  std::uint64_t index{};  ///< counts the writes to the peer
  Instant staged{};       ///< when it was to leave; 0 before the turn's end
  std::size_t bytes{};
};

/// The writes to one peer that have not left, with copies of their bytes, in the order of the
/// calls. Allocates nothing once it has grown. Its user bounds it by size().
class StagedWrites {
 public:
  /// What a write costs besides its bytes.
  static constexpr std::size_t kCost = 64;

  bool empty() const { return writes_.empty(); }
  std::size_t count() const { return writes_.size(); }
  std::size_t size() const { return bytes_.size() + kCost * writes_.size(); }
  /// The index of the newest write.
  std::uint64_t newest() const { return pushed_; }

  void push(const port::Place& place, ByteView bytes, std::uint64_t token) {
    StagedWrite& write = writes_.push_back();
    write = {place, token, ++pushed_, {}, bytes.size()};
    bytes_.push(bytes);
  }
  const StagedWrite& operator[](std::size_t index) const { return writes_[index]; }
  const StagedWrite& front() const { return writes_.front(); }
  /// The bytes of all writes, one after the other.
  ByteView bytes() const { return bytes_.view(); }
  void pop() {
    bytes_.pop(writes_.front().bytes);
    writes_.pop_front();
    if (released_ > 0) --released_;
  }
  /// The turn has ended: the writes may leave from now on.
  void release(Instant now) {
    for (; released_ < writes_.size(); ++released_) writes_[released_].staged = now;
  }
  /// Writes that may leave.
  std::size_t released() const { return released_; }

 private:
  RingQueue<StagedWrite> writes_;
  ByteQueue bytes_;
  std::uint64_t pushed_ = 0;
  std::size_t released_ = 0;
};

}  // namespace peal::io::fabric
