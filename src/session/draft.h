// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "session/chunk.h"

namespace peal::session {

/// One event, encoded once for each kind of memory: once in each region, and once in the daemon's
/// own memory for the other clients.
class Draft {
 public:
  explicit Draft(ChunkPool& chunks) : chunks_(chunks) {}

  /// Starts an event: `head` followed by `rest`, which must stay valid until end().
  void begin(ByteView head, ByteView rest) {
    PEAL_ASSERT(!plain_ && shared_.empty());
    head_ = head;
    rest_ = rest;
  }
  std::size_t size() const { return head_.size() + rest_.size(); }
  /// The event in the daemon's own memory.
  const ChunkRef& plain() {
    if (plain_) return plain_;
    plain_ = chunks_.make(size(), [this](std::vector<std::byte>& out) {
      out.insert(out.end(), head_.begin(), head_.end());
      out.insert(out.end(), rest_.begin(), rest_.end());
    });
    return plain_;
  }
  /// The event in `region`, or plain() if the region has no room.
  const ChunkRef& shared(Region& region) {
    for (const auto& [where, chunk] : shared_) {
      if (where == &region) return chunk;
    }
    ChunkRef made = chunks_.make_shared(region, head_, rest_);
    ++(made ? put_ : no_room_);
    shared_.emplace_back(&region, made ? std::move(made) : plain());
    return shared_.back().second;
  }
  void end() {
    plain_ = {};
    shared_.clear();
  }

  /// Total numbers of events put into a region, and of events for which a region had no room.
  std::uint64_t put() const { return put_; }
  std::uint64_t no_room() const { return no_room_; }

 private:
  ChunkPool& chunks_;
  ByteView head_;
  ByteView rest_;
  ChunkRef plain_;
  std::vector<std::pair<Region*, ChunkRef>> shared_;
  std::uint64_t put_ = 0;
  std::uint64_t no_room_ = 0;
};

}  // namespace peal::session
