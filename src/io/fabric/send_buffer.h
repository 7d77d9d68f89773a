// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/bytes.h"

namespace peal::io::fabric {

/// Memory from which a device reads what it writes elsewhere. Pieces are freed in the order in
/// which they were taken.
class SendBuffer {
 public:
  explicit SendBuffer(ByteSpan memory) : memory_(memory) {}

  /// The largest piece that can be taken now.
  std::size_t space() const {
    const std::size_t free = memory_.size() - used_;
    const std::size_t to_end = memory_.size() - next_;
    if (used_ == 0) return memory_.size();
    return free <= to_end ? free : std::max(to_end, free - to_end);
  }
  struct Piece {
    ByteSpan memory;
    std::size_t cost{};  ///< what release() gets back
  };
  /// At most space() bytes, which are in one piece.
  Piece take(std::size_t bytes) {
    PEAL_ASSERT(bytes > 0 && bytes <= space());
    if (used_ == 0) next_ = 0;
    std::size_t cost = bytes;
    if (bytes > memory_.size() - next_) {
      cost += memory_.size() - next_;
      next_ = 0;
    }
    const Piece piece{memory_.subspan(next_, bytes), cost};
    next_ = (next_ + bytes) % memory_.size();
    used_ += cost;
    return piece;
  }
  void release(std::size_t cost) {
    PEAL_ASSERT(cost <= used_);
    used_ -= cost;
  }

 private:
  ByteSpan memory_;
  std::size_t next_ = 0;
  std::size_t used_ = 0;
};

}  // namespace peal::io::fabric
