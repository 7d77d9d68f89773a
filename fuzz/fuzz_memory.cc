// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as each record that RamCast keeps in the memory of other processes. The first
// byte chooses the record, the second one a domain. Each input is tried unchanged, and then with a
// right checksum, so that the code behind that check is reached. A record that is accepted is
// written again, to the same bytes, and so is the view that a log entry contains.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/assert.h"
#include "base/crc32c.h"
#include "wire/ramcast.h"
#include "wire/ramcast_memory.h"

namespace {

using peal::ByteSpan;
using peal::ByteView;
namespace wire = peal::wire;

constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kNumberAt = 8;  // the field that says which message or entry it is
constexpr std::size_t kRecordBytesMax = 4'096;
constexpr std::uint32_t kSeed = 77;

std::uint64_t number_at(ByteView record, std::size_t at) {
  return record.size() < at + 8 ? 0 : peal::load<std::uint64_t>(record.subspan(at));
}

/// `write` encodes into as many bytes as the record has.
template <class Write>
void expect_same(ByteView record, Write write) {
  const std::unique_ptr<std::byte[]> again(new std::byte[record.size()]());
  write(ByteSpan(again.get(), record.size()));
  PEAL_ASSERT(std::equal(record.begin(), record.end(), again.get()));
}

void read_slot(ByteView record, unsigned domain) {
  if (record.size() >= wire::kSlotFixedBytes) {
    wire::peek_slot(record, number_at(record, kNumberAt));
    wire::peek_slot_message(record);
  }
  wire::Slot slot;
  const auto drop = wire::decode_slot(record, number_at(record, kNumberAt), domain, slot);
  if (drop != wire::Drop::none) return;
  const ByteView unit = record.subspan(wire::slot_header_bytes(slot.head.indexes.size()));
  expect_same(record, [&](ByteSpan out) {
    PEAL_ASSERT(wire::encode_slot(slot, domain, unit, out) == record.size());
  });
}

bool has_view(wire::LogKind kind) {
  return kind == wire::LogKind::base_view || kind == wire::LogKind::view ||
         kind == wire::LogKind::base_end;
}

void read_view(ByteView unit) {
  // A block of its own, so that a read beyond the view is noticed.
  const std::unique_ptr<std::byte[]> block(new std::byte[unit.size()]);
  std::copy(unit.begin(), unit.end(), block.get());
  const ByteView view(block.get(), unit.size());
  wire::DomainView domain_view;
  if (wire::decode_domain_view(view, domain_view) != wire::Drop::none) return;
  expect_same(view, [&](ByteSpan out) {
    PEAL_ASSERT(wire::encode_domain_view(domain_view, out) == view.size());
  });
}

void read_log_entry(ByteView record) {
  const std::uint64_t number = number_at(record, kNumberAt);
  if (record.size() >= kNumberAt + 8) wire::peek_log_entry(record, number);
  wire::NamedEntry named;
  if (record.size() >= wire::kLogFixedBytes) named = wire::peek_log_names(record);
  wire::Round round;  // the one that the entry names
  if (record.size() >= 36) {
    round.count = number_at(record, 16);
    round.coordinator.node.value = peal::load<std::uint32_t>(record.subspan(24));
    round.coordinator.epoch = number_at(record, 28);
  }
  wire::LogEntry entry;
  ByteView unit;
  const auto drop = wire::decode_log_entry(record, number, round, kSeed, entry, unit);
  if (drop != wire::Drop::none) return;
  PEAL_ASSERT(named.bytes == record.size() && named.kind == entry.kind && named.key == entry.key);
  PEAL_ASSERT((named.message == wire::MessageId{entry.sender, entry.head.number}));
  expect_same(record, [&](ByteSpan out) {
    if (entry.kind == wire::LogKind::pad) return wire::encode_log_pad(number, round, kSeed, out);
    PEAL_ASSERT(wire::encode_log_entry(entry, unit, kSeed, out) == record.size());
  });
  if (has_view(entry.kind)) read_view(unit);
}

void read_cell(ByteView record) {
  if (record.size() >= wire::kCellBytes) wire::peek_cell_message(record);
  if (record.size() >= wire::kCellFrontBytes) wire::is_cell_of(record, 1);
  const wire::MessageId message{{{1}, number_at(record, 16)}, number_at(record, 24)};
  wire::Cell cell;
  const auto drop = wire::decode_cell(record, number_at(record, kNumberAt), message, cell);
  if (drop != wire::Drop::none) return;
  expect_same(record, [&](ByteSpan out) { wire::encode_cell(cell, out); });
}

void read_control(ByteView record) {
  wire::Control control;
  if (wire::decode_control(record, control) != wire::Drop::none) return;
  PEAL_ASSERT(wire::peek_beat(record) == control.beat);
  expect_same(record, [&](ByteSpan out) { wire::encode_control(control, out); });
}

void read_release(ByteView record) {
  wire::SenderRelease release;
  if (wire::decode_release(record, release) != wire::Drop::none) return;
  expect_same(record, [&](ByteSpan out) { wire::encode_release(release, out); });
}

void read_reply(ByteView record) {
  wire::SenderReply reply;
  if (wire::decode_reply(record, number_at(record, kNumberAt), reply) != wire::Drop::none) return;
  PEAL_ASSERT(wire::peek_reply(record) == reply.number);
  expect_same(record, [&](ByteSpan out) { wire::encode_reply(reply, out); });
}

void read(unsigned what, unsigned domain, ByteView record) {
  switch (what) {
    case 0: return read_slot(record, domain);
    case 1: return read_log_entry(record);
    case 2: return read_cell(record);
    case 3: return read_control(record);
    case 4: return read_release(record);
    default: return read_reply(record);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > kRecordBytesMax + 2) return -1;
  const unsigned what = data[0] % 6;
  const unsigned domain = 1 + data[1] % wire::kDomainsMax;
  // A block of exactly its size, so that a read beyond it is noticed.
  const std::size_t bytes = size - 2;
  const std::unique_ptr<std::byte[]> block(new std::byte[bytes]);
  if (bytes > 0) std::memcpy(block.get(), data + 2, bytes);
  const ByteSpan record(block.get(), bytes);
  read(what, domain, record);
  if (bytes < kChecksumBytes) return 0;
  const std::uint32_t seed = what == 1 ? kSeed : 0;
  peal::store(record, peal::crc32c(record.subspan(kChecksumBytes), seed));
  read(what, domain, record);
  return 0;
}
