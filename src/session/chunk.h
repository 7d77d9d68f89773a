// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "session/region.h"
#include "wire/client.h"

namespace peal::session {

class ChunkPool;

/// The bytes of one record, shared by the queues of all sessions that get the record. The bytes are
/// in this chunk or in a region.
struct Chunk {
  ChunkPool* pool = nullptr;
  std::uint32_t references = 0;
  /// The record; or, if the record is in a region, a `shared` record that gives its place there.
  std::vector<std::byte> bytes;
  Region* region = nullptr;
  Region::Block block;
};

/// A counted reference to a chunk; may be empty.
class ChunkRef {
 public:
  ChunkRef() = default;
  explicit ChunkRef(Chunk* chunk) : chunk_(chunk) { take(); }
  ChunkRef(const ChunkRef& other) : chunk_(other.chunk_) { take(); }
  ChunkRef(ChunkRef&& other) noexcept : chunk_(std::exchange(other.chunk_, nullptr)) {}
  ChunkRef& operator=(ChunkRef other) noexcept {
    std::swap(chunk_, other.chunk_);
    return *this;
  }
  inline ~ChunkRef();

  explicit operator bool() const { return chunk_ != nullptr; }
  /// The record.
  ByteView view() const {
    return chunk_->region == nullptr ? ByteView(chunk_->bytes)
                                     : chunk_->region->record(chunk_->block);
  }
  std::size_t size() const {
    return chunk_->region == nullptr ? chunk_->bytes.size() : chunk_->block.at.bytes;
  }
  bool is_shared() const { return chunk_->region != nullptr; }
  /// The `shared` record, which is written to connections in place of the record itself. Requires
  /// is_shared().
  ByteView place() const { return chunk_->bytes; }
  /// The memory that the chunk uses, in bytes.
  std::uint64_t cost() const {
    return sizeof(Chunk) + chunk_->bytes.capacity() + chunk_->block.block_bytes;
  }
  /// Overwrites the block of a shared chunk, for a mutant.
  void write_over() const { chunk_->region->write_over(chunk_->block); }

 private:
  void take() {
    if (chunk_ != nullptr) ++chunk_->references;
  }
  Chunk* chunk_ = nullptr;
};

/// Allocates chunks, and counts their memory. Keeps small chunks for reuse, so that a steady stream
/// of messages allocates nothing. Must outlive all references.
class ChunkPool {
 public:
  ChunkPool() = default;
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool() { PEAL_ASSERT(bytes_in_use_ == 0); }

  /// Makes a chunk in the daemon's own memory. `fill` appends one record of at most `bytes` bytes
  /// to an empty buffer.
  template <class Fill>
  ChunkRef make(std::size_t bytes, Fill fill) {
    std::unique_ptr<Chunk> chunk = take(bytes);
    fill(chunk->bytes);
    ChunkRef made(chunk.release());
    bytes_in_use_ += made.cost();
    return made;
  }
  /// Puts a record, `head` followed by `rest`, into a region. Returns an empty reference if the
  /// region has no room.
  ChunkRef make_shared(Region& region, ByteView head, ByteView rest) {
    const auto block = region.reserve(head.size() + rest.size());
    if (!block) return {};
    std::unique_ptr<Chunk> chunk = take_place();
    chunk->region = &region;
    chunk->block = *block;
    append(chunk->bytes, block->at);
    ChunkRef made(chunk.release());
    bytes_in_use_ += made.cost();
    // Write to the region last: its memory is not in the cache, so any later read would wait for
    // these writes.
    region.write(*block, head, rest);
    return made;
  }
  /// Memory of all chunks that are referenced.
  std::uint64_t bytes_in_use() const { return bytes_in_use_; }

 private:
  friend class ChunkRef;
  static constexpr std::array<std::size_t, 5> kClasses{256, 512, 1'024, 2'048, 4'096};
  static constexpr std::size_t kKept = 1'024;  ///< limit of free chunks of each class
  /// Limit of free chunks whose records were in a region.
  static constexpr std::size_t kPlacesKept = 16'384;

  std::unique_ptr<Chunk> take(std::size_t bytes) {
    for (std::size_t i = 0; i < kClasses.size(); ++i) {
      if (bytes > kClasses[i]) continue;
      if (!free_[i].empty()) {
        std::unique_ptr<Chunk> chunk = std::move(free_[i].back());
        free_[i].pop_back();
        return chunk;
      }
      bytes = kClasses[i];
      break;
    }
    auto chunk = std::make_unique<Chunk>();
    chunk->pool = this;
    chunk->bytes.reserve(bytes);
    return chunk;
  }
  std::unique_ptr<Chunk> take_place() {
    if (places_.empty()) {
      auto chunk = std::make_unique<Chunk>();
      chunk->pool = this;
      return chunk;
    }
    std::unique_ptr<Chunk> chunk = std::move(places_.back());
    places_.pop_back();
    return chunk;
  }
  void give(std::unique_ptr<Chunk> chunk) {
    bytes_in_use_ -= sizeof(Chunk) + chunk->bytes.capacity() + chunk->block.block_bytes;
    if (chunk->region != nullptr) {
      chunk->region->give_back(chunk->block);
      chunk->bytes.clear();
      if (places_.size() < kPlacesKept) places_.push_back(std::move(chunk));
      return;
    }
    for (std::size_t i = 0; i < kClasses.size(); ++i) {
      if (chunk->bytes.capacity() != kClasses[i] || free_[i].size() >= kKept) continue;
      chunk->bytes.clear();
      free_[i].push_back(std::move(chunk));
      return;
    }
  }

  std::uint64_t bytes_in_use_ = 0;
  std::array<std::vector<std::unique_ptr<Chunk>>, kClasses.size()> free_;
  std::vector<std::unique_ptr<Chunk>> places_;  ///< free chunks of records that were in a region
};

inline ChunkRef::~ChunkRef() {
  if (chunk_ != nullptr && --chunk_->references == 0) {
    chunk_->pool->give(std::unique_ptr<Chunk>(chunk_));
  }
}

}  // namespace peal::session
