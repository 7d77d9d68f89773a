// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace peal::client {

/// Buffers of records that nobody needs any more, for those to come: then messages of a steady
/// stream allocate nothing. As many as come and go at once in such a stream, and small ones.
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
  static constexpr std::size_t kBytesMax = 4'096;        ///< of one
  static constexpr std::size_t kBytesMaxAll = 1U << 21;  ///< of all
  std::vector<std::vector<std::byte>> spare_;
  std::size_t bytes_ = 0;
};

}  // namespace peal::client
