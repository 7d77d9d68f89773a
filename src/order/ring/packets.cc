// SPDX-License-Identifier: Apache-2.0
#include "order/ring/packets.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.h"

namespace peal::order::ring {

Packets::Packets(std::uint32_t capacity, Seq first)
    : slots_(std::bit_ceil(capacity)), mask_(slots_.size() - 1), first_(first) {
  PEAL_ASSERT(capacity > 0);
}

void Packets::put(const wire::Data& data, BufferRef unit) {
  PEAL_ASSERT(in_window(data.seq) && !has(data.seq) && unit);
  Packet& packet = slot(data.seq);
  packet.data = data;
  packet.unit = std::move(unit);
  packet.answers = 0;
  high_ = std::max(high_, data.seq);
  while (has(contiguous_ + 1)) ++contiguous_;
}

void Packets::discard_to(Seq seq) {
  PEAL_ASSERT(seq <= contiguous_);
  while (discarded_ < seq) {
    ++discarded_;
    slot(discarded_).unit.reset();
  }
}

void Packets::clear() {
  for (Seq seq = discarded_ + 1; seq <= high_; ++seq) slot(seq).unit.reset();
  discarded_ = contiguous_ = high_ = first_;
}

void Packets::forget(Seq seq) {
  PEAL_ASSERT(has(seq));
  slot(seq).unit.reset();
  contiguous_ = std::min(contiguous_, seq - 1);
}

}  // namespace peal::order::ring
