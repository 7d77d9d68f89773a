// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"

namespace peal::io::fabric {

/// Bytes in the order in which they came, in one piece. Keeps its memory, so that it allocates
/// nothing once it has grown. Its user bounds it.
class ByteQueue {
 public:
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  ByteSpan span() { return {memory_.data() + begin_, size()}; }
  ByteView view() const { return {memory_.data() + begin_, size()}; }

  /// Free memory behind the last byte. It is valid until the next call that is not const.
  ByteSpan room(std::size_t bytes) {
    if (memory_.size() - end_ < bytes) make_room(bytes);
    return {memory_.data() + end_, bytes};
  }
  /// Appends the first bytes of room().
  void commit(std::size_t bytes) {
    PEAL_ASSERT(bytes <= memory_.size() - end_);
    end_ += bytes;
  }
  void push(ByteView bytes) {
    if (bytes.empty()) return;
    std::memcpy(room(bytes.size()).data(), bytes.data(), bytes.size());
    commit(bytes.size());
  }
  void pop(std::size_t bytes) {
    PEAL_ASSERT(bytes <= size());
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void clear() { begin_ = end_ = 0; }

 private:
  void make_room(std::size_t bytes) {
    const std::size_t used = size();
    // A move is worth its time only if at least as many bytes have left the queue as are moved.
    if (begin_ < used || memory_.size() - used < bytes) {
      std::vector<std::byte> larger(std::max(2 * memory_.size(), used + bytes));
      if (used > 0) std::memcpy(larger.data(), memory_.data() + begin_, used);
      memory_.swap(larger);
    } else if (used > 0) {
      std::memcpy(memory_.data(), memory_.data() + begin_, used);
    }
    begin_ = 0;
    end_ = used;
  }

  std::vector<std::byte> memory_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace peal::io::fabric
