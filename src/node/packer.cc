// SPDX-License-Identifier: Apache-2.0
#include "node/packer.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "wire/headroom.h"

namespace peal::node {
namespace {

/// A message starts at the end of a unit only if at least this many of its bytes fit there.
constexpr std::size_t kPartBytesMin = 64;
constexpr std::uint32_t kUnitBytesMin = 64;

}  // namespace

bool Packer::next(std::uint32_t unit_bytes_max, order::Unit& out, Packed& packed) {
  PEAL_ASSERT(unit_bytes_max >= kUnitBytesMin);
  packed.completed = 0;
  unit_bytes_max_ =
      static_cast<std::uint32_t>(std::min<std::size_t>(unit_bytes_max, kUnitBytesMax));
  if (idle()) return false;
  const bool control = control_.waiting() > 0;
  SubmitQueue& queue = control ? control_ : queue_;
  // An engine with a shorter header asks for longer units, which leave less headroom.
  const auto headroom =
      std::min<std::uint32_t>(wire::kUnitHeadroomBytes, pool_.slab_bytes() - unit_bytes_max_);
  BufferRef unit = pool_.take(headroom, unit_bytes_max_);
  if (!unit) {
    ++pool_empty_;
    return false;
  }
  // A control message interrupts an ordinary message. Receivers then drop the unfinished ordinary
  // message, so it restarts.
  if (control != control_half_done_) {
    restart();
    control_half_done_ = control;
  }
  packed.continues = half_done();
  const Service service = unit_service(queue.front_service(), causal_);
  const DomainSet domains = queue.front_domains();
  packed.first_completed = queue.front_number() | (control ? kControlNumber : 0);
  UnitWriter writer({unit.data(), unit.size()}, packed.first_completed);
  while (queue.waiting() > 0 && unit_service(queue.front_service(), causal_) == service &&
         queue.front_domains() == domains && writer.chunks() < kChunksMax) {
    if (!add_front(queue, writer, packed)) break;
  }
  PEAL_ASSERT(writer.chunks() > 0);
  ++units_;
  unit.truncate(static_cast<std::uint32_t>(writer.size()));
  out.bytes = std::move(unit);
  out.service = packed.service = service;
  packed.domains = domains;
  return true;
}

bool Packer::add_front(SubmitQueue& queue, UnitWriter& writer, Packed& packed) {
  const ByteView payload = queue.front_payload();
  const Service service = queue.front_service();
  const std::size_t left = payload.size() - offset_;
  const bool fits_alone = kUnitHeaderBytes + kWholeHeaderBytes + payload.size() <= unit_bytes_max_;
  if (offset_ == 0 && fits_alone) {
    if (kWholeHeaderBytes + payload.size() > writer.room()) return false;
    writer.add_whole(service, payload);
  } else {
    if (writer.room() < kPartHeaderBytes + 1) return false;
    const std::size_t part = std::min(left, writer.room() - kPartHeaderBytes);
    if (writer.chunks() > 0 && part < kPartBytesMin) return false;
    const ByteView bytes = payload.subspan(offset_, part);
    if (offset_ == 0) {
      writer.add_first(service, static_cast<std::uint32_t>(payload.size()), bytes);
    } else {
      writer.add_rest(service, offset_, part == left, bytes);
    }
    ++parts_;
    if (part < left) {
      offset_ += static_cast<std::uint32_t>(part);
      return false;
    }
  }
  ++packed.completed;
  offset_ = 0;
  queue.take();
  return true;
}

void Packer::block(bool blocked) {
  if (blocked && !control_half_done_) restart();
  blocked_ = blocked;
}

void Packer::drop_control() {
  if (control_half_done_) restart();
  control_.forget();
}

void Packer::rewind() {
  restart();
  queue_.rewind();
  control_.rewind();
}

DomainSet Packer::next_domains() const {
  const SubmitQueue& queue = control_.waiting() > 0 ? control_ : queue_;
  return queue.waiting() == 0 ? DomainSet{} : queue.front_domains();
}

std::uint32_t Packer::backlog_units() const {
  if (idle()) return 0;
  std::uint64_t bytes = control_.waiting_bytes() + kWholeHeaderBytes * control_.waiting();
  if (!blocked_) bytes += queue_.waiting_bytes() + kWholeHeaderBytes * queue_.waiting();
  // offset_ belongs to a message that may go into a unit: otherwise block() or drop_control() has
  // reset offset_.
  const std::uint64_t units = 1 + (bytes - offset_) / (unit_bytes_max_ - kUnitHeaderBytes);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(units, std::numeric_limits<std::uint32_t>::max()));
}

void Packer::check_invariants() const {
  const SubmitQueue& queue = control_half_done_ ? control_ : queue_;
  PEAL_ASSERT(offset_ == 0 || (queue.waiting() > 0 && offset_ < queue.front_payload().size()));
  PEAL_ASSERT(offset_ == 0 || control_half_done_ || !blocked_);
}

}  // namespace peal::node
