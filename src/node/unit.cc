// SPDX-License-Identifier: Apache-2.0
#include "node/unit.h"

#include <cstring>
#include <limits>

#include "base/assert.h"

namespace peal::node {
namespace {

constexpr std::uint8_t kFirst = 1;
constexpr std::uint8_t kLast = 2;
constexpr unsigned kServiceShift = 2;
constexpr std::uint8_t kFlagsMax = 0x0f;

std::uint8_t flags_of(bool first, bool last, Service service) {
  const unsigned flags = (first ? kFirst : 0U) | (last ? kLast : 0U) |
                         (static_cast<unsigned>(service) << kServiceShift);
  return static_cast<std::uint8_t>(flags);
}

/// Decodes the chunk at the front of `rest` and removes it from there.
wire::Drop decode_chunk(ByteView& rest, std::uint32_t message_bytes_max, Chunk& chunk) {
  if (rest.size() < kWholeHeaderBytes) return wire::Drop::truncated;
  const auto flags = std::to_integer<std::uint8_t>(rest[0]);
  if (flags > kFlagsMax) return wire::Drop::bad_value;
  chunk.first = (flags & kFirst) != 0;
  chunk.last = (flags & kLast) != 0;
  chunk.service = static_cast<Service>(flags >> kServiceShift);
  const std::uint32_t length = load<std::uint16_t>(rest.subspan(1));
  const std::size_t header = chunk.whole() ? kWholeHeaderBytes : kPartHeaderBytes;
  if (rest.size() < header || rest.size() - header < length) return wire::Drop::truncated;

  chunk.bytes = rest.subspan(header, length);
  chunk.total = 0;
  chunk.offset = 0;
  if (chunk.whole()) {
    chunk.total = length;
    if (length > message_bytes_max) return wire::Drop::bad_value;
  } else if (chunk.first) {
    chunk.total = load<std::uint32_t>(rest.subspan(kWholeHeaderBytes));
    if (chunk.total > message_bytes_max) return wire::Drop::bad_value;
    if (length == 0 || length >= chunk.total) return wire::Drop::bad_value;
  } else {
    chunk.offset = load<std::uint32_t>(rest.subspan(kWholeHeaderBytes));
    if (length == 0 || chunk.offset == 0) return wire::Drop::bad_value;
    if (std::uint64_t{chunk.offset} + length > message_bytes_max) return wire::Drop::bad_value;
  }
  rest = rest.subspan(header + length);
  return wire::Drop::none;
}

}  // namespace

wire::Drop decode_unit(ByteView unit, Service service, std::uint32_t message_bytes_max,
                       Chunks& out) {
  out.clear();
  if (unit.size() <= kUnitHeaderBytes) return wire::Drop::truncated;
  const auto number = load<std::uint64_t>(unit);
  if (number == 0 || number > std::numeric_limits<std::uint64_t>::max() - kChunksMax) {
    return wire::Drop::bad_value;
  }
  ByteView rest = unit.subspan(kUnitHeaderBytes);
  while (!rest.empty()) {
    if (out.full()) return wire::Drop::count_too_large;
    if (!out.empty() && !out.back().last) return wire::Drop::bad_value;
    const std::size_t index = out.size();
    Chunk& chunk = out.grow();  // filled in place: copying it takes longer than decoding
    chunk.number = number + index;
    const wire::Drop drop = decode_chunk(rest, message_bytes_max, chunk);
    if (drop != wire::Drop::none) return drop;
    if (!chunk.first && index > 0) return wire::Drop::bad_value;
    if (unit_service(chunk.service, service == Service::causal) != service) {
      return wire::Drop::bad_value;
    }
  }
  return wire::Drop::none;
}

UnitWriter::UnitWriter(ByteSpan out, std::uint64_t number) : out_(out) {
  PEAL_ASSERT(out.size() >= kUnitHeaderBytes && number > 0);
  store(out_, number);
  size_ = kUnitHeaderBytes;
}

void UnitWriter::add_whole(Service service, ByteView message) {
  add(flags_of(true, true, service), nullptr, message);
}

void UnitWriter::add_first(Service service, std::uint32_t total, ByteView part) {
  PEAL_ASSERT(!part.empty() && part.size() < total);
  add(flags_of(true, false, service), &total, part);
}

void UnitWriter::add_rest(Service service, std::uint32_t offset, bool last, ByteView part) {
  PEAL_ASSERT(!part.empty() && offset > 0 && chunks_ == 0);
  add(flags_of(false, last, service), &offset, part);
}

void UnitWriter::add(std::uint8_t flags, const std::uint32_t* extra, ByteView bytes) {
  const std::size_t header = extra == nullptr ? kWholeHeaderBytes : kPartHeaderBytes;
  PEAL_ASSERT(chunks_ < kChunksMax && bytes.size() <= 0xffff && header + bytes.size() <= room());
  ByteSpan at = out_.subspan(size_);
  at[0] = static_cast<std::byte>(flags);
  store(at.subspan(1), static_cast<std::uint16_t>(bytes.size()));
  if (extra != nullptr) store(at.subspan(kWholeHeaderBytes), *extra);
  if (!bytes.empty()) std::memcpy(at.data() + header, bytes.data(), bytes.size());
  size_ += header + bytes.size();
  ++chunks_;
}

}  // namespace peal::node
