// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace peal::cli {

/// Whole records on their way to one socket. Chunks may be shared with other queues.
class OutputQueue {
 public:
  using Chunk = std::shared_ptr<const std::vector<std::byte>>;

  bool empty() const { return chunks_.empty(); }
  std::uint64_t bytes() const { return bytes_; }
  void push(Chunk chunk);
  /// Forgets everything but a chunk that is sent in part: its records must not be torn.
  void forget_unsent();
  void clear();

  enum class Outcome {
    done,    ///< nothing is left
    full,    ///< the socket takes no more now
    broken,  ///< the other side is gone
  };
  /// Sends as much as the socket takes without waiting.
  Outcome write(int fd);

 private:
  std::deque<Chunk> chunks_;
  std::size_t used_ = 0;  ///< bytes of the first chunk that are sent
  std::uint64_t bytes_ = 0;
};

}  // namespace peal::cli
