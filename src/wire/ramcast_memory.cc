// SPDX-License-Identifier: Apache-2.0
#include "wire/ramcast_memory.h"

#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/crc32c.h"
#include "base/hooks.h"
#include "wire/byte_reader.h"
#include "wire/ramcast_fields.h"
#include "wire/writer.h"

namespace peal::wire {
namespace {

constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kNumberOffset = 8;  // of the index or number of a slot, an entry and a cell

constexpr std::uint32_t kAcknowledged = 1;
constexpr std::uint32_t kCommitted = 2;
constexpr std::uint16_t kActive = 1;
constexpr std::uint16_t kFull = 2;
constexpr std::uint16_t kOutside = 4;
constexpr std::uint16_t kWaits = 8;

std::uint32_t checksum_of(ByteView record, std::uint32_t seed = 0) {
  return crc32c(record.subspan(kChecksumBytes), seed);
}

/// Writes the checksum of a record whose other bytes are complete.
void seal(ByteSpan record, std::uint32_t seed = 0) { store(record, checksum_of(record, seed)); }

/// A reader behind the checksum, or one that has failed.
ByteReader open_record(ByteView record, std::uint32_t seed = 0) {
  ByteReader in(record);
  const auto checksum = in.u<std::uint32_t>();
  if (in.failed()) return in;
  const bool right = checksum == checksum_of(record, seed);
  in.require(right || PEAL_MUTANT(rc_checksum_ignored), Drop::bad_checksum);
  return in;
}

/// Compares the number at kNumberOffset with the expected one. A record with another number is not
/// examined any further.
Drop compare_number(ByteView record, std::uint64_t expected) {
  if (record.size() < kNumberOffset + 8) return Drop::truncated;
  const auto number = load<std::uint64_t>(record.subspan(kNumberOffset));
  if (number == expected) return Drop::none;
  return number < expected ? Drop::stale : Drop::out_of_window;
}

void require_zero(ByteReader& in, std::size_t bytes) {
  for (const std::byte b : in.bytes(bytes)) in.require(b == std::byte{0}, Drop::bad_value);
}

void write_zero(Writer& out, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out.u(std::uint8_t{0});
}

bool has_message(LogKind kind) { return kind == LogKind::base || kind == LogKind::proposal; }
bool has_sender(LogKind kind) { return has_message(kind) || kind == LogKind::base_sender; }
bool has_record(LogKind kind) {
  return kind == LogKind::base_view || kind == LogKind::view || kind == LogKind::base_end;
}

/// The rules between the kind of an entry and its other fields.
bool fits_kind(const LogEntry& entry, std::size_t unit_bytes) {
  if (!has_sender(entry.kind) && entry.sender != MemberId{}) return false;
  if (!has_message(entry.kind) && entry.head != MessageHead{}) return false;
  if (has_record(entry.kind) != (unit_bytes > 0) && !has_message(entry.kind)) return false;
  switch (entry.kind) {
    case LogKind::pad:
    case LogKind::active: return entry.stamp == 0 && entry.key == 0;
    case LogKind::base: return entry.stamp > 0 || entry.key > 0;
    case LogKind::base_view: return entry.stamp > 0;
    case LogKind::base_sender:
    case LogKind::base_end: return entry.key > 0;
    case LogKind::proposal:
    case LogKind::view: return entry.stamp > 0 && entry.key == 0;
    case LogKind::commit: return entry.stamp == 0 && entry.key > 0;
  }
  return false;
}

void write_log_head(Writer& out, const LogEntry& in, std::size_t bytes, std::size_t unit_bytes) {
  out.u(std::uint32_t{0});  // checksum: seal() writes it
  out.u(static_cast<std::uint32_t>(bytes));
  out.u(in.number);
  write_round(out, in.round);
  out.u(static_cast<std::uint8_t>(in.kind));
  out.u(static_cast<std::uint8_t>(has_message(in.kind) ? in.head.service : Service{}));
  out.u(in.head.to);
  out.u(static_cast<std::uint32_t>(unit_bytes));
  out.member(in.sender);
  out.u(in.head.number);
  out.u(in.head.after);
  out.u(in.stamp);
  out.u(in.key);
  out.u(static_cast<std::uint32_t>(in.head.indexes.size()));
  out.u(std::uint32_t{0});
}

}  // namespace

unsigned count_of(DomainBits domains) { return static_cast<unsigned>(std::popcount(domains)); }

std::uint64_t index_in(const MessageHead& head, unsigned domain) {
  PEAL_ASSERT(domain >= 1 && domain <= kDomainsMax && ((head.to >> domain) & 1U) != 0);
  const auto below = static_cast<DomainBits>(head.to & ((1U << domain) - 1));
  return head.indexes[count_of(below)];
}

// ---- slots ----

std::size_t encode_slot(const Slot& in, unsigned domain, ByteView unit, ByteSpan out) {
  const std::size_t bytes = slot_header_bytes(in.head.indexes.size()) + unit.size();
  if (out.size() < bytes) return 0;
  Writer to(out.first(bytes));
  to.u(std::uint32_t{0});  // checksum
  to.u(static_cast<std::uint32_t>(bytes));
  to.u(index_in(in.head, domain));
  to.u(in.head.number);
  to.u(in.head.after);
  to.u(in.stable);
  to.u(in.head.to);
  to.u(static_cast<std::uint8_t>(in.head.service));
  write_zero(to, 5);
  for (const std::uint64_t index : in.head.indexes) to.u(index);
  to.bytes(unit);
  PEAL_ASSERT(!to.failed() && to.written() == bytes);
  seal(out.first(bytes));
  return bytes;
}

std::uint64_t peek_number(ByteView begin) {
  PEAL_ASSERT(begin.size() >= kNumberOffset + 8);
  return load<std::uint64_t>(begin.subspan(kNumberOffset));
}

std::size_t peek_slot(ByteView begin, std::uint64_t index) {
  PEAL_ASSERT(begin.size() >= kSlotFixedBytes);
  if (compare_number(begin, index) != Drop::none) return 0;
  return load<std::uint32_t>(begin.subspan(kChecksumBytes));
}

Drop decode_slot(ByteView slot, std::uint64_t index, unsigned domain, Slot& out) {
  if (const Drop other = compare_number(slot, index); other != Drop::none) return other;
  ByteReader in = open_record(slot);
  const auto bytes = in.u<std::uint32_t>();
  in.require(bytes == slot.size(), Drop::bad_length);
  in.skip(sizeof index);
  out.head.number = read_from_one(in);
  out.head.after = read_counter(in);
  out.stable = read_counter(in);
  in.require(out.stable <= out.head.number, Drop::bad_value);
  out.head.to = read_domains(in);
  out.head.service = read_ordered_service(in);
  require_zero(in, 5);
  read_indexes(in, out.head);
  if (in.failed()) return in.finish();
  const bool mine = ((out.head.to >> domain) & 1U) != 0;
  in.require(mine && index_in(out.head, domain) == index, Drop::bad_value);
  in.require(in.remaining() > 0, Drop::truncated);
  return in.failed() ? in.finish() : Drop::none;
}

// ---- log entries ----

std::size_t encode_log_entry(const LogEntry& in, ByteView unit, std::uint32_t seed, ByteSpan out) {
  PEAL_ASSERT(in.kind != LogKind::pad && fits_kind(in, unit.size()));
  const std::size_t bytes = log_entry_bytes(in.head.indexes.size(), unit.size());
  if (out.size() < bytes) return 0;
  Writer to(out.first(bytes));
  write_log_head(to, in, bytes, unit.size());
  for (const std::uint64_t index : in.head.indexes) to.u(index);
  to.bytes(unit);
  PEAL_ASSERT(!to.failed() && bytes - to.written() < kLogAlign);
  write_zero(to, bytes - to.written());
  seal(out.first(bytes), seed);
  return bytes;
}

void encode_log_pad(std::uint64_t number, const Round& round, std::uint32_t seed, ByteSpan out) {
  PEAL_ASSERT(out.size() >= kLogFixedBytes && out.size() % kLogAlign == 0);
  Writer to(out);
  LogEntry pad;
  pad.number = number;
  pad.round = round;
  write_log_head(to, pad, out.size(), 0);
  write_zero(to, out.size() - to.written());
  seal(out, seed);
}

NamedEntry peek_log_names(ByteView begin) {
  PEAL_ASSERT(begin.size() >= kLogFixedBytes);
  NamedEntry entry;
  const auto bytes = load<std::uint32_t>(begin.subspan(kChecksumBytes));
  const auto kind = load<std::uint8_t>(begin.subspan(36));
  if (bytes < kLogFixedBytes || bytes % kLogAlign != 0) return entry;
  if (kind < 1 || kind > static_cast<std::uint8_t>(LogKind::commit)) return entry;
  entry.bytes = bytes;
  entry.kind = static_cast<LogKind>(kind);
  entry.message.sender.node.value = load<std::uint32_t>(begin.subspan(44));
  entry.message.sender.epoch = load<std::uint64_t>(begin.subspan(48));
  entry.message.number = load<std::uint64_t>(begin.subspan(56));
  entry.key = load<std::uint64_t>(begin.subspan(80));
  return entry;
}

std::size_t peek_log_entry(ByteView begin, std::uint64_t number) {
  PEAL_ASSERT(begin.size() >= kNumberOffset + 8);
  if (compare_number(begin, number) != Drop::none) return 0;
  return load<std::uint32_t>(begin.subspan(kChecksumBytes));
}

Drop decode_log_entry(ByteView entry, std::uint64_t number, const Round& round, std::uint32_t seed,
                      LogEntry& out, ByteView& unit) {
  if (const Drop other = compare_number(entry, number); other != Drop::none) return other;
  ByteReader in = open_record(entry, seed);
  const auto bytes = in.u<std::uint32_t>();
  in.require(bytes == entry.size() && bytes % kLogAlign == 0, Drop::bad_length);
  out.number = read_from_one(in);
  out.round = read_round(in);
  if (!in.failed() && out.round != round) return Drop::foreign;
  const auto kind = in.u<std::uint8_t>();
  in.require(kind >= 1 && kind <= static_cast<std::uint8_t>(LogKind::commit), Drop::bad_value);
  if (in.failed()) return in.finish();
  out.kind = static_cast<LogKind>(kind);
  out.head = {};
  out.sender = {};
  const bool message = has_message(out.kind);
  if (message) {
    out.head.service = read_ordered_service(in);
    out.head.to = read_domains(in);
  } else {
    require_zero(in, 3);
  }
  const auto unit_bytes = in.u<std::uint32_t>();
  if (has_sender(out.kind)) {
    out.sender = read_member(in);
  } else {
    require_zero(in, 12);
  }
  if (message) {
    out.head.number = read_from_one(in);
    out.head.after = read_counter(in);
  } else {
    require_zero(in, 16);
  }
  out.stamp = read_counter(in);
  out.key = read_counter(in);
  in.require(in.u<std::uint32_t>() == count_of(out.head.to), Drop::bad_value);
  require_zero(in, 4);
  if (message) read_indexes(in, out.head);
  unit = in.bytes(unit_bytes);
  if (in.failed()) return in.finish();
  in.require(fits_kind(out, unit_bytes), Drop::bad_value);
  if (out.kind != LogKind::pad) in.require(in.remaining() < kLogAlign, Drop::trailing_bytes);
  require_zero(in, in.remaining());
  return in.finish();
}

// ---- cells ----

void encode_cell(const Cell& in, ByteSpan out) {
  PEAL_ASSERT(out.size() == kCellBytes);
  Writer to(out);
  to.u(std::uint32_t{0});  // checksum
  to.u((in.acknowledged ? kAcknowledged : 0) | (in.committed ? kCommitted : 0));
  to.u(in.index);
  to.u(in.sender_epoch);
  to.u(in.number);
  write_round(to, in.round);
  to.u(in.stamp);
  to.u(in.digest);
  to.u(in.key);
  to.u(in.mark_entry);
  to.u(in.mark_clock);
  write_zero(to, 4);
  PEAL_ASSERT(!to.failed() && to.written() == kCellBytes);
  seal(out);
}

NamedMessage peek_cell_message(ByteView cell) {
  PEAL_ASSERT(cell.size() >= kCellBytes);
  return {load<std::uint64_t>(cell.subspan(16)), load<std::uint64_t>(cell.subspan(24))};
}

NamedMessage peek_slot_message(ByteView slot) {
  PEAL_ASSERT(slot.size() >= kSlotFixedBytes);
  return {0, load<std::uint64_t>(slot.subspan(16))};
}

std::uint32_t peek_cell(ByteView cell) {
  PEAL_ASSERT(cell.size() >= kChecksumBytes);
  return load<std::uint32_t>(cell);
}

bool is_cell_of(ByteView front, std::uint64_t index) {
  PEAL_ASSERT(front.size() >= kCellFrontBytes);
  return load<std::uint64_t>(front.subspan(kNumberOffset)) == index;
}

Drop decode_cell(ByteView cell, std::uint64_t index, const MessageId& message, Cell& out) {
  if (const Drop other = compare_number(cell, index); other != Drop::none) return other;
  ByteReader in = open_record(cell);
  const auto flags = in.u<std::uint32_t>();
  in.require((flags & ~(kAcknowledged | kCommitted)) == 0, Drop::bad_value);
  out.acknowledged = (flags & kAcknowledged) != 0;
  out.committed = (flags & kCommitted) != 0;
  out.index = in.u<std::uint64_t>();
  out.sender_epoch = in.u<std::uint64_t>();
  out.number = read_from_one(in);
  if (!in.failed() && out.sender_epoch != message.sender.epoch) return Drop::foreign;
  in.require(out.number == message.number, Drop::bad_value);
  out.round = read_optional_round(in);
  out.stamp = read_counter(in);
  out.digest = in.u<std::uint64_t>();
  out.key = read_counter(in);
  out.mark_entry = read_counter(in);
  out.mark_clock = read_counter(in);
  require_zero(in, 4);
  if (in.failed()) return in.finish();
  const bool proposes = out.round != Round{};
  const bool keyed = out.acknowledged || out.committed;
  in.require(proposes == (out.stamp > 0) && (proposes || !out.acknowledged), Drop::bad_value);
  in.require(keyed == (out.key > 0) && (keyed || proposes), Drop::bad_value);
  in.require(out.acknowledged || out.digest == 0, Drop::bad_value);
  in.require(out.acknowledged || (out.mark_entry == 0 && out.mark_clock == 0), Drop::bad_value);
  in.require(out.mark_entry > 0 || out.mark_clock == 0, Drop::bad_value);
  return in.finish();
}

// ---- control ----

void encode_control(const Control& in, ByteSpan out) {
  PEAL_ASSERT(out.size() == kControlBytes);
  Writer to(out);
  to.u(std::uint32_t{0});  // checksum
  to.u(in.missing);
  to.u(static_cast<std::uint16_t>((in.active ? kActive : 0) | (in.full ? kFull : 0) |
                                  (in.outside ? kOutside : 0) | (in.waits ? kWaits : 0)));
  to.u(in.beat);
  write_round(to, in.promised);
  to.u(in.entry);
  to.u(in.bytes);
  to.u(in.grant);
  to.u(in.delivered);
  to.u(in.released);
  to.u(in.released_in);
  to.u(in.mark_entry);
  to.u(in.mark_clock);
  write_zero(to, kControlBytes - to.written());
  PEAL_ASSERT(!to.failed());
  seal(out);
}

std::uint64_t peek_beat(ByteView cell) {
  PEAL_ASSERT(cell.size() >= kNumberOffset + 8);
  return load<std::uint64_t>(cell.subspan(kNumberOffset));
}

Drop decode_control(ByteView cell, Control& out) {
  if (cell.size() != kControlBytes) return Drop::bad_length;
  ByteReader in = open_record(cell);
  out.missing = in.u<std::uint16_t>();
  in.require((out.missing >> kDomainNodesMax) == 0, Drop::bad_value);
  const auto flags = in.u<std::uint16_t>();
  in.require((flags & ~(kActive | kFull | kOutside | kWaits)) == 0, Drop::bad_value);
  out.active = (flags & kActive) != 0;
  out.full = (flags & kFull) != 0;
  out.outside = (flags & kOutside) != 0;
  out.waits = (flags & kWaits) != 0;
  out.beat = read_from_one(in);
  out.promised = read_optional_round(in);
  out.entry = read_counter(in);
  out.bytes = read_counter(in);
  out.grant = read_counter(in);
  out.delivered = read_counter(in);
  out.released = read_counter(in);
  out.released_in = read_counter(in);
  out.mark_entry = read_counter(in);
  out.mark_clock = read_counter(in);
  require_zero(in, in.remaining());
  if (in.failed()) return in.finish();
  in.require(out.bytes % kLogAlign == 0, Drop::bad_value);
  in.require(out.mark_entry > 0 || out.mark_clock == 0, Drop::bad_value);
  in.require(out.released <= out.delivered && out.released_in <= out.released, Drop::bad_value);
  return in.finish();
}

// ---- replies ----

void encode_release(const SenderRelease& in, ByteSpan out) {
  PEAL_ASSERT(out.size() == kReleaseBytes);
  Writer to(out);
  write_zero(to, 8);  // checksum and zeros
  to.u(in.index);
  to.u(in.delivered);
  seal(out);
}

Drop decode_release(ByteView cell, SenderRelease& out) {
  if (cell.size() != kReleaseBytes) return Drop::bad_length;
  ByteReader in = open_record(cell);
  require_zero(in, 4);
  out.index = read_counter(in);
  out.delivered = read_counter(in);
  return in.finish();
}

void encode_reply(const SenderReply& in, ByteSpan out) {
  PEAL_ASSERT(out.size() == kReplyBytes);
  Writer to(out);
  write_zero(to, 8);  // checksum and zeros
  to.u(in.number);
  to.u(in.key);
  seal(out);
}

std::uint64_t peek_reply(ByteView cell) {
  PEAL_ASSERT(cell.size() >= kNumberOffset + 8);
  return load<std::uint64_t>(cell.subspan(kNumberOffset));
}

Drop decode_reply(ByteView cell, std::uint64_t number, SenderReply& out) {
  if (cell.size() != kReplyBytes) return Drop::bad_length;
  if (const Drop other = compare_number(cell, number); other != Drop::none) return other;
  ByteReader in = open_record(cell);
  require_zero(in, 4);
  out.number = read_from_one(in);
  out.key = read_from_one(in);
  return in.finish();
}

}  // namespace peal::wire
