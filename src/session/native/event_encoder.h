// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "session/chunk.h"
#include "wire/client.h"

namespace peal::session::native {

/// Encodes events as records of the native protocol. A message or view is encoded once for each
/// kind of memory: once in each region, and once in the daemon's own memory for the other clients.
class EventEncoder {
 public:
  explicit EventEncoder(ChunkPool& chunks) : chunks_(chunks) {}

  /// Starts an event, whose texts and payload must stay valid until end().
  void begin(const wire::MessageEvent& event) {
    start();
    append_head(head_, event);
    rest_ = event.payload;
  }
  void begin(const wire::GroupViewEvent& event) {
    start();
    append(head_, event);
    rest_ = {};
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

  // Small events, which need no begin() and end().
  ChunkRef transitional(std::string_view group) const {
    return of_group(wire::RecordKind::transitional, group);
  }
  ChunkRef left(std::string_view group) const { return of_group(wire::RecordKind::left, group); }
  ChunkRef gap(const wire::GapEvent& event) const {
    return chunks_.make(kGapBytes, [&](std::vector<std::byte>& out) { append(out, event); });
  }

  /// Total numbers of events put into a region, and of events for which a region had no room.
  std::uint64_t put() const { return put_; }
  std::uint64_t no_room() const { return no_room_; }

 private:
  static constexpr std::size_t kGapBytes =
      wire::kRecordHeaderBytes + 2 + wire::kClientNameMax + 16 + 64;

  void start() {
    PEAL_ASSERT(!plain_ && shared_.empty());
    head_.clear();
  }
  ChunkRef of_group(wire::RecordKind kind, std::string_view group) const {
    return chunks_.make(
        wire::kRecordHeaderBytes + 1 + group.size(),
        [&](std::vector<std::byte>& out) { append(out, kind, wire::GroupEvent{group}); });
  }

  ChunkPool& chunks_;
  std::vector<std::byte> head_;
  ByteView rest_;
  ChunkRef plain_;
  std::vector<std::pair<Region*, ChunkRef>> shared_;
  std::uint64_t put_ = 0;
  std::uint64_t no_room_ = 0;
};

}  // namespace peal::session::native
