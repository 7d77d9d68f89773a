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

/// Memory that clients of one person read, cut into blocks. It is divided into spans; a span has
/// blocks of one size, of which there are four between each power of two and the next, and goes to
/// another size once all its blocks are free. Taking and giving back a block is a handful of
/// steps, whatever is in use, and allocates nothing.
class Region {
 public:
  /// A span is a 64th of the memory, but as large as that.
  static constexpr std::uint32_t kSpanBytesMin = 4U << 10;
  static constexpr std::uint32_t kSpanBytesMax = 1U << 20;

  /// `memory` begins at a multiple of 8, has kSpanBytesMin to 4 GiB - 1, and outlives this.
  explicit Region(ByteSpan memory);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  /// Where a record lies.
  struct Block {
    wire::Shared at;
    std::uint32_t block_bytes{};  ///< that it takes
  };
  /// Takes a block for a record of so many bytes. Nothing if there is no room, or if it is too
  /// large for a block.
  std::optional<Block> reserve(std::size_t record_bytes);
  /// Writes the record, in two parts that are one, where clients can read it.
  void write(const Block& block, ByteView head, ByteView rest);
  /// The record that write() wrote and nobody gave back yet.
  ByteView record(const Block& block) const {
    return ByteView(memory_).subspan(block.at.offset + wire::kGenerationBytes, block.at.bytes);
  }
  /// Something else is there from now on, though it was not given back.
  void write_over(const Block& block);
  /// Nobody needs it any more; who reads it all the same sees that it is gone.
  void give_back(const Block& block);

  std::uint32_t bytes() const { return static_cast<std::uint32_t>(memory_.size()); }
  /// Of blocks in use.
  std::uint64_t bytes_in_use() const { return bytes_in_use_; }
  std::uint32_t span_bytes() const { return span_bytes_; }
  void check_invariants() const;

 private:
  static constexpr std::size_t kSizes = 49;  ///< 256 bytes to 1 MiB
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct Span {
    std::uint32_t size = kNone;  ///< index of its block size; kNone: all of it is free
    std::uint32_t used = 0;      ///< blocks
    std::uint32_t fresh = 0;     ///< offset in the span of blocks that were not used since it is so
    std::uint32_t given = kNone;   ///< offset in the memory of the block that was given back last
    std::uint32_t before = kNone;  ///< in the list of spans with room
    std::uint32_t next = kNone;
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
  std::vector<std::uint32_t> free_;            ///< spans that are free; the last is taken first
  std::array<std::uint32_t, kSizes> partial_;  ///< by block size: the first span with room
  std::uint64_t bytes_in_use_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace peal::session
