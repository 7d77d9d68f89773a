// SPDX-License-Identifier: Apache-2.0
#include "node/packer.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace peal::node {
namespace {

/// A message is begun at the end of a unit only if at least this much of it fits.
constexpr std::size_t kPartBytesMin = 64;
constexpr std::uint32_t kUnitBytesMin = 64;

}  // namespace

bool Packer::next(std::uint32_t unit_bytes_max, order::Unit& out, Packed& packed) {
  PEAL_ASSERT(unit_bytes_max >= kUnitBytesMin);
  packed.completed = 0;
  unit_bytes_max_ =
      static_cast<std::uint32_t>(std::min<std::size_t>(unit_bytes_max, kUnitBytesMax));
  if (queue_.empty()) return false;
  BufferRef unit = pool_.take(wire::kDataHeaderBytes, unit_bytes_max_);
  if (!unit) {
    ++pool_empty_;
    return false;
  }
  const bool safe = is_safe(queue_.front_service());
  packed.first_completed = queue_.front_number();
  UnitWriter writer({unit.data(), unit.size()}, queue_.front_number());
  while (!queue_.empty() && is_safe(queue_.front_service()) == safe &&
         writer.chunks() < kChunksMax) {
    if (!add_front(writer, packed)) break;
  }
  PEAL_ASSERT(writer.chunks() > 0);
  ++units_;
  unit.truncate(static_cast<std::uint32_t>(writer.size()));
  out.bytes = std::move(unit);
  out.service = safe ? Service::safe : Service::agreed;
  return true;
}

bool Packer::add_front(UnitWriter& writer, Packed& packed) {
  const ByteView payload = queue_.front_payload();
  const Service service = queue_.front_service();
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
  packed.services[packed.completed] = service;
  ++packed.completed;
  offset_ = 0;
  queue_.pop();
  return true;
}

std::uint32_t Packer::backlog_units() const {
  if (queue_.empty()) return 0;
  const std::uint64_t bytes = queue_.bytes() - offset_ + kWholeHeaderBytes * queue_.messages();
  const std::uint64_t units = 1 + bytes / (unit_bytes_max_ - kUnitHeaderBytes);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(units, std::numeric_limits<std::uint32_t>::max()));
}

void Packer::check_invariants() const {
  PEAL_ASSERT(queue_.empty() ? offset_ == 0
                             : offset_ == 0 || offset_ < queue_.front_payload().size());
}

}  // namespace peal::node
