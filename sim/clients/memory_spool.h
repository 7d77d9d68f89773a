// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>

#include "base/assert.h"
#include "base/random.h"
#include "session/spool.h"

namespace peal::sim {

/// A daemon's spool in memory. append() fails with the probability `failures`.
class MemorySpool final : public session::Spool {
 public:
  MemorySpool(std::uint64_t seed, double failures) : random_(seed), failures_(failures) {}

  Result<void, Errc> append(session::SpoolId id, ByteView bytes) override {
    if (random_.chance(failures_)) return unexpected(Errc::system);
    Queue& queue = queues_[id];
    queue.bytes.insert(queue.bytes.end(), bytes.begin(), bytes.end());
    return {};
  }
  Result<void, Errc> read(session::SpoolId id, std::uint64_t offset, ByteSpan out) override {
    const Queue& queue = queues_.at(id);
    PEAL_ASSERT(offset >= queue.first && offset - queue.first + out.size() <= queue.bytes.size());
    const auto from = queue.bytes.begin() + static_cast<std::ptrdiff_t>(offset - queue.first);
    std::copy(from, from + static_cast<std::ptrdiff_t>(out.size()), out.begin());
    return {};
  }
  void discard(session::SpoolId id, std::uint64_t offset) override {
    Queue& queue = queues_.at(id);
    PEAL_ASSERT(offset >= queue.first && offset - queue.first <= queue.bytes.size());
    queue.bytes.erase(queue.bytes.begin(),
                      queue.bytes.begin() + static_cast<std::ptrdiff_t>(offset - queue.first));
    queue.first = offset;
  }
  void remove(session::SpoolId id) override { queues_.erase(id); }

 private:
  struct Queue {
    std::uint64_t first = 0;  ///< offset of the first byte that is still stored
    std::deque<std::byte> bytes;
  };
  Random random_;
  double failures_;
  std::map<session::SpoolId, Queue> queues_;
};

}  // namespace peal::sim
