// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
#include "session/core.h"

// Cuts the bytes of connections into records.

namespace peal::session {
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
constexpr std::size_t kControlBytesMax = 64 * 1'024;  ///< unread replies, at which reading stops
constexpr std::size_t kInputKept = 64 * 1'024;        ///< of a buffer, after its record
/// Every connection may have an unfinished record of this length, whatever others do.
constexpr std::size_t kSmallRecordBytes = 16 * 1'024;
constexpr std::int64_t kRecordSeconds = 10;                  ///< to complete a record, plus its
constexpr std::int64_t kBytesPerSecondLeast = 64 * 1'024;    ///< bytes divided by this rate,
constexpr std::int64_t kBytesPerSecondBusy = 1'024 * 1'024;  ///< or by this one while others wait

}  // namespace

std::uint64_t Sessions::Core::length_max(const Connection& from) const {
  if (from.state == State::hello) return wire::kHelloLengthMax;
  return std::uint64_t{wire::kRequestLengthMax} + payload_bytes_max();
}

std::size_t Sessions::Core::received(Instant now, ConnectionId id, ByteView bytes) {
  now_ = now;
  Connection* from = connection(id);
  if (from == nullptr || from->state == State::closing) return bytes.size();
  from->last_heard = now;
  if (from->pause != Pause::none) {  // the owner called too early: the pause goes on
    return 0;
  }
  std::size_t taken = 0;
  for (;;) {
    if (!from->input.empty()) {
      taken += complete(*from, bytes.subspan(taken));
      if (from->pause != Pause::none) return taken;
    }
    const ByteView rest = from->input.empty() ? bytes.subspan(taken) : ByteView(from->input);
    const wire::Framed framed = wire::next_record(rest, length_max(*from));
    if (framed.state == wire::Framed::State::bad_length) {
      bad_record(*from, "the length of a record is 0, or more than any may have");
      return bytes.size();
    }
    if (framed.state == wire::Framed::State::incomplete) {
      if (!from->input.empty()) return taken;
      if (framed.bytes > 0 && !reserve(*from, framed.bytes)) return taken;
      from->input.assign(rest.begin(), rest.end());
      return bytes.size();
    }
    const Handled handled = handle(*from, framed.record);
    if (handled == Handled::closed) return bytes.size();
    if (handled == Handled::paused) return taken;
    if (from->input.empty()) {
      taken += framed.bytes;
    } else {
      release(*from);
    }
  }
}

/// Appends bytes to the unfinished record until it is complete. Returns the number of bytes taken.
std::size_t Sessions::Core::complete(Connection& from, ByteView bytes) {
  std::size_t taken = 0;
  for (;;) {
    const wire::Framed framed = wire::next_record(from.input, length_max(from));
    if (framed.state != wire::Framed::State::incomplete) return taken;
    if (framed.bytes > 0 && from.record_bytes == 0 && !reserve(from, framed.bytes)) return taken;
    const std::size_t whole = framed.bytes > 0 ? framed.bytes : kLengthBytes;
    const std::size_t part = std::min(whole - from.input.size(), bytes.size() - taken);
    if (part == 0) return taken;
    const ByteView next = bytes.subspan(taken, part);
    from.input.insert(from.input.end(), next.begin(), next.end());
    taken += part;
  }
}

/// Reserves memory for an unfinished record. If there is none, pauses the connection, behind those
/// that wait already.
bool Sessions::Core::reserve(Connection& from, std::size_t bytes) {
  const bool small = bytes <= kSmallRecordBytes;
  if (!small && (input_waiters_ > 0 || input_bytes_ + bytes > options_.input_bytes_max)) {
    pause(from, Pause::input);
    return false;
  }
  from.record_bytes = bytes;
  from.reserved = small ? 0 : bytes;
  input_bytes_ += from.reserved;
  from.record_begun = now_;
  due(record_deadline(from));
  return true;
}

/// When an unfinished record must be complete; earlier while others wait for the memory that it
/// takes.
Instant Sessions::Core::record_deadline(const Connection& of) const {
  // Small records reserve no memory: they have the same time at either rate.
  static_assert(kSmallRecordBytes < kBytesPerSecondLeast);
  const std::int64_t rate = input_waiters_ > 0 ? kBytesPerSecondBusy : kBytesPerSecondLeast;
  return of.record_begun +
         seconds(kRecordSeconds + static_cast<std::int64_t>(of.record_bytes) / rate);
}

/// The record is finished or given up: frees its memory, and ends waiting for memory.
void Sessions::Core::release(Connection& from) {
  from.input.clear();
  if (from.input.capacity() > kInputKept) from.input.shrink_to_fit();
  const bool others_go_on = from.reserved > 0 || from.pause == Pause::input;
  input_bytes_ -= from.reserved;
  from.record_bytes = from.reserved = 0;
  if (from.state == State::closing) set_pause(from, Pause::none);
  if (others_go_on) resume_all(Pause::input);
}

Sessions::Core::Handled Sessions::Core::bad_record(Connection& from, std::string_view what) {
  ++counters_.bad_records;
  if (from.session == nullptr) return turn_away(from, wire::ClientCode::bad_record, what);
  end_session(*from.session, wire::ClientCode::bad_record, what);
  return Handled::closed;
}

Sessions::Core::Handled Sessions::Core::handle(Connection& from, const wire::Record& record) {
  if (from.state == State::hello) {
    if (record.kind == wire::RecordKind::hello) return on_hello(from, record.body);
    return bad_record(from, "the first record is no hello");
  }
  if (from.session->leaving) return bad_record(from, "a record came after the goodbye");
  // Repeated refusals precede new ones.
  if (from.repeat > 0 || from.control.size() - from.control_offset > kControlBytesMax) {
    pause(from, Pause::output);
    return Handled::paused;
  }
  switch (record.kind) {
    case wire::RecordKind::send: return on_send(from, record.body);
    case wire::RecordKind::seen: return on_seen(from, record.body);
    case wire::RecordKind::join: return on_join(from, record.body);
    case wire::RecordKind::leave: return on_leave(from, record.body);
    case wire::RecordKind::ask: return on_ask(from, record.body);
    case wire::RecordKind::ping: return on_ping(from, record.body);
    case wire::RecordKind::mapped: return on_mapped(from, record.body);
    case wire::RecordKind::goodbye:
      return record.body.empty() ? on_goodbye(from)
                                 : bad_record(from, "a goodbye has more than its kind");
    case wire::RecordKind::hello: return bad_record(from, "a second hello");
    default:
      return bad_record(from, "the kind of a record is " +
                                  std::to_string(static_cast<unsigned>(record.kind)) +
                                  ", which clients do not say");
  }
}

}  // namespace peal::session
