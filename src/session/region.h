// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "wire/shared.h"

namespace peal::session {

/// Memory that the clients of one person read, divided into spans. A span is divided into blocks of
/// one size. There are four sizes between each power of two and the next, the larger power
/// included. A span may change its block size once all its blocks are free. Taking or returning a
/// block takes constant time and allocates nothing.
class Region {
 public:
  /// Bounds for the size of a span. Within these bounds the size is the largest power of two that
  /// is at most 1/64 of the memory.
  static constexpr std::uint32_t kSpanBytesMin = 4U << 10;
  static constexpr std::uint32_t kSpanBytesMax = 1U << 20;

  /// `memory` is aligned to 8 bytes, has kSpanBytesMin bytes to 4 GiB - 1, and outlives this
  /// object.
  explicit Region(ByteSpan memory);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  /// The place of a record.
  struct Block {
    wire::Shared at;
    std::uint32_t block_bytes{};  ///< size of the block
  };
  /// Takes a block for a record of this size. Returns std::nullopt if no block is free, or if no
  /// block is large enough.
  std::optional<Block> reserve(std::size_t record_bytes);
  /// Writes a record, `head` followed by `rest`, for clients to read.
  void write(const Block& block, ByteView head, ByteView rest);
  /// The record in `block`. It must have been written, and the block must not have been given back.
  ByteView record(const Block& block) const {
    return ByteView(memory_).subspan(block.at.offset + wire::kGenerationBytes, block.at.bytes);
  }
  /// Overwrites a block that is still in use; for a mutant.
  void write_over(const Block& block);
  /// Frees the block. A client that still reads it notices that the record is gone.
  void give_back(const Block& block);

  std::uint32_t bytes() const { return static_cast<std::uint32_t>(memory_.size()); }
  /// Bytes of all blocks in use.
  std::uint64_t bytes_in_use() const { return bytes_in_use_; }
  std::uint32_t span_bytes() const { return span_bytes_; }
  void check_invariants() const;

 private:
  static constexpr std::size_t kSizes = 49;  ///< number of block sizes, from 256 bytes to 1 MiB
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct Span {
    std::uint32_t size = kNone;    ///< index of its block size; kNone: the span is free
    std::uint32_t used = 0;        ///< blocks in use
    std::uint32_t fresh = 0;       ///< first block that was never used: offset in the span
    std::uint32_t given = kNone;   ///< first block of the span's free list: offset in the memory
    std::uint32_t before = kNone;  ///< previous span in the list of spans with room
    std::uint32_t next = kNone;    ///< next span in the same list
  };

  static std::uint32_t size_index(std::uint32_t bytes);
  static std::uint32_t size_bytes(std::uint32_t index);
  bool has_room(const Span& span) const;
  std::uint32_t take(std::uint32_t index);
  void link(std::uint32_t span);
  void unlink(std::uint32_t span);

  ByteSpan memory_;
  std::uint32_t span_bytes_;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> free_;            ///< free spans; the last is taken first
  std::array<std::uint32_t, kSizes> partial_;  ///< for each block size: the first span with room
  std::uint64_t bytes_in_use_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace peal::session
