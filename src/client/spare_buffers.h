// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace peal::client {

/// Keeps the buffers of finished records for new records, so that a steady stream of messages
/// allocates no memory. Keeps only small buffers, and not many more than a steady stream uses at
/// once.
class SpareBuffers {
 public:
  std::vector<std::byte> take() {
    if (spare_.empty()) return {};
    std::vector<std::byte> buffer = std::move(spare_.back());
    spare_.pop_back();
    bytes_ -= buffer.capacity();
    buffer.clear();
    return buffer;
  }
  void give(std::vector<std::byte> buffer) {
    const std::size_t bytes = buffer.capacity();
    if (bytes == 0 || bytes > kBytesMax || bytes_ + bytes > kBytesMaxAll) return;
    bytes_ += bytes;
    spare_.push_back(std::move(buffer));
  }

 private:
  static constexpr std::size_t kBytesMax = 4'096;        ///< limit for one buffer
  static constexpr std::size_t kBytesMaxAll = 1U << 21;  ///< limit for all buffers together
  std::vector<std::vector<std::byte>> spare_;
  std::size_t bytes_ = 0;
};

}  // namespace peal::client
