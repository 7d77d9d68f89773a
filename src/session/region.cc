// SPDX-License-Identifier: Apache-2.0
#include "session/region.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace peal::session {
namespace {

constexpr std::uint32_t kBlockBytesMin = 256;
constexpr std::uint32_t kBlockShiftMin = 8;
/// Offset, in a free block, of the link to the next free block.
constexpr std::size_t kNextAt = wire::kGenerationBytes;

static_assert(wire::kSharedRecordMax + wire::kGenerationBytes == Region::kSpanBytesMax);

}  // namespace

Region::Region(ByteSpan memory) : memory_(memory) {
  PEAL_ASSERT(memory.size() >= kSpanBytesMin && memory.size() <= 0xffff'ffff);
  PEAL_ASSERT(reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(std::uint64_t) == 0);
  const auto part = std::bit_floor(static_cast<std::uint32_t>(memory.size() / 64));
  span_bytes_ = std::clamp(part, kSpanBytesMin, kSpanBytesMax);
  spans_.resize(memory.size() / span_bytes_);
  // Take spans from the front, so that memory that is never needed is never touched.
  for (std::size_t i = spans_.size(); i > 0; --i)
    free_.push_back(static_cast<std::uint32_t>(i - 1));
  partial_.fill(kNone);
}

Region::~Region() { PEAL_ASSERT(bytes_in_use_ == 0); }

std::uint32_t Region::size_index(std::uint32_t bytes) {
  if (bytes <= kBlockBytesMin) return 0;
  const auto shift = static_cast<std::uint32_t>(std::bit_width(bytes - 1)) - 1;
  const std::uint32_t quarter = (bytes - 1 - (1U << shift)) >> (shift - 2);
  return 1 + (shift - kBlockShiftMin) * 4 + quarter;
}

std::uint32_t Region::size_bytes(std::uint32_t index) {
  if (index == 0) return kBlockBytesMin;
  const std::uint32_t shift = kBlockShiftMin + (index - 1) / 4;
  return (1U << shift) + (((index - 1) % 4 + 1) << (shift - 2));
}

bool Region::has_room(const Span& span) const {
  return span.given != kNone || span.fresh + size_bytes(span.size) <= span_bytes_;
}

void Region::link(std::uint32_t index) {
  Span& span = spans_[index];
  span.before = kNone;
  span.next = partial_[span.size];
  if (span.next != kNone) spans_[span.next].before = index;
  partial_[span.size] = index;
}

void Region::unlink(std::uint32_t index) {
  Span& span = spans_[index];
  if (span.next != kNone) spans_[span.next].before = span.before;
  (span.before != kNone ? spans_[span.before].next : partial_[span.size]) = span.next;
  span.before = span.next = kNone;
}

/// Takes a block of size index `size`. Returns the block's offset in the memory, or kNone if there
/// is no room.
std::uint32_t Region::take(std::uint32_t size) {
  if (partial_[size] == kNone) {
    if (free_.empty()) return kNone;
    spans_[free_.back()] = {size, 0, 0, kNone, kNone, kNone};
    link(free_.back());
    free_.pop_back();
  }
  const std::uint32_t index = partial_[size];
  Span& span = spans_[index];
  std::uint32_t offset = span.given;
  if (offset != kNone) {
    span.given = load<std::uint32_t>(memory_.subspan(offset + kNextAt));
  } else {
    offset = index * span_bytes_ + span.fresh;
    span.fresh += size_bytes(size);
  }
  ++span.used;
  if (!has_room(span)) unlink(index);
  return offset;
}

std::optional<Region::Block> Region::reserve(std::size_t record_bytes) {
  if (record_bytes + wire::kGenerationBytes > span_bytes_) return std::nullopt;
  const auto bytes = static_cast<std::uint32_t>(record_bytes);
  const std::uint32_t size = size_index(bytes + wire::kGenerationBytes);
  const std::uint32_t offset = take(size);
  if (offset == kNone) return std::nullopt;
  const Block block{{offset, bytes, ++generation_}, size_bytes(size)};
  bytes_in_use_ += block.block_bytes;
  return block;
}

void Region::write(const Block& block, ByteView head, ByteView rest) {
  PEAL_ASSERT(head.size() + rest.size() == block.at.bytes);
  wire::write_shared(memory_.subspan(block.at.offset, block.block_bytes), block.at.generation, head,
                     rest);
}

void Region::give_back(const Block& block) {
  const ByteSpan bytes = memory_.subspan(block.at.offset, block.block_bytes);
  wire::clear_shared(bytes);
  bytes_in_use_ -= block.block_bytes;
  const std::uint32_t index = block.at.offset / span_bytes_;
  Span& span = spans_[index];
  PEAL_ASSERT(span.used > 0 && size_bytes(span.size) == block.block_bytes);
  const bool had_room = has_room(span);
  --span.used;
  if (span.used == 0) {
    if (had_room) unlink(index);
    span = {};
    free_.push_back(index);
    return;
  }
  store(bytes.subspan(kNextAt), span.given);
  span.given = block.at.offset;
  if (!had_room) link(index);
}

void Region::write_over(const Block& block) {
  const ByteSpan bytes = memory_.subspan(block.at.offset, block.block_bytes);
  wire::write_shared(bytes, ++generation_, {}, {});
}

void Region::check_invariants() const {
  std::uint64_t in_use = 0;
  std::size_t free = 0;
  std::size_t with_room = 0;
  for (const Span& span : spans_) {
    if (span.size == kNone) {
      ++free;
      continue;
    }
    PEAL_ASSERT(span.used > 0 && span.used * size_bytes(span.size) <= span.fresh);
    PEAL_ASSERT(span.fresh <= span_bytes_);
    in_use += std::uint64_t{span.used} * size_bytes(span.size);
    if (has_room(span)) ++with_room;
  }
  PEAL_ASSERT(in_use == bytes_in_use_ && free == free_.size());
  std::size_t listed = 0;
  for (std::uint32_t size = 0; size < kSizes; ++size) {
    std::uint32_t before = kNone;
    for (std::uint32_t at = partial_[size]; at != kNone; before = at, at = spans_[at].next) {
      ++listed;
      PEAL_ASSERT(listed <= spans_.size());
      PEAL_ASSERT(spans_[at].size == size && spans_[at].before == before && has_room(spans_[at]));
    }
  }
  PEAL_ASSERT(listed == with_room);
}

}  // namespace peal::session
