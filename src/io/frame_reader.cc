// SPDX-License-Identifier: Apache-2.0
#include "io/frame_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"

namespace peal::io {

void write_length(std::uint32_t length, ByteSpan out) {
  for (std::uint32_t i = 0; i < kLengthBytes; ++i) out[i] = std::byte(length >> (8 * i));
}

ByteSpan FrameReader::room() {
  if (begin_ == end_ && slab_.unique()) begin_ = end_ = 0;
  // A packet must lie in one slab. So the bytes of an incomplete packet move to the new slab, once
  // per slab.
  if (!slab_ || slab_.size() - begin_ < kLengthBytes + packet_bytes_max_) {
    BufferRef fresh = pool_.take();
    if (!fresh) return {};
    PEAL_ASSERT(fresh.size() / 4 >= packet_bytes_max_);
    const std::uint32_t part = end_ - begin_;
    if (part > 0) std::memcpy(fresh.data(), slab_.data() + begin_, part);
    slab_ = std::move(fresh);
    begin_ = 0;
    end_ = part;
  }
  return {slab_.data() + end_, std::min(slab_.size() - end_, kReadBytes)};
}

FrameReader::Found FrameReader::next(BufferRef& packet) {
  if (end_ - begin_ < kLengthBytes) return Found::nothing;
  std::uint32_t length = 0;
  for (std::uint32_t i = 0; i < kLengthBytes; ++i) {
    length |= std::to_integer<std::uint32_t>(slab_.data()[begin_ + i]) << (8 * i);
  }
  if (length == 0 || length > packet_bytes_max_) return Found::bad_length;
  if (end_ - begin_ - kLengthBytes < length) return Found::nothing;
  packet = slab_.slice(begin_ + kLengthBytes, length);
  begin_ += kLengthBytes + length;
  return Found::packet;
}

}  // namespace peal::io
