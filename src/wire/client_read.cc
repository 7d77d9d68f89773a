// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "wire/byte_reader.h"
#include "wire/client.h"

namespace peal::wire {
namespace {

constexpr std::size_t kGroupMemberBytesMin = 4 + 2;

std::string_view read_name(ByteReader& in, bool may_be_empty) {
  const std::size_t length = in.u<std::uint8_t>();
  in.require(length <= kClientNameMax, Drop::bad_value);
  in.require(may_be_empty || length > 0, Drop::bad_value);
  return as_text(in.bytes(length));
}
std::string_view read_name(ByteReader& in) { return read_name(in, false); }
std::string_view read_name_or_none(ByteReader& in) { return read_name(in, true); }

/// Reads the rest of the record as text.
std::string_view read_text(ByteReader& in, std::size_t bytes_max) {
  in.require(in.remaining() <= bytes_max, Drop::bad_value);
  return as_text(in.bytes(in.remaining()));
}

/// Reads the number of a message or event; numbers start at 1.
std::uint64_t read_number(ByteReader& in) {
  const std::uint64_t number = read_counter(in);
  in.require(number > 0, Drop::bad_value);
  return number;
}

/// Reads a byte, whose value must be from `first` to `last`.
template <class Enum>
Enum read_choice(ByteReader& in, Enum first, Enum last) {
  const auto value = in.u<std::uint8_t>();
  in.require(value >= static_cast<std::uint8_t>(first) && value <= static_cast<std::uint8_t>(last),
             Drop::bad_value);
  return in.failed() ? first : static_cast<Enum>(value);
}

bool read_flag(ByteReader& in) {
  const auto value = in.u<std::uint8_t>();
  in.require(value <= 1, Drop::bad_value);
  return value == 1;
}

SessionToken read_token(ByteReader& in) {
  SessionToken token{};
  const ByteView bytes = in.bytes(token.size());
  std::copy(bytes.begin(), bytes.end(), token.begin());
  return token;
}

/// Reads a place, or the position 0 and index 0 of a message without a place.
Place read_place(ByteReader& in) {
  Place place;
  place.view = read_formed_view(in);
  place.position = read_counter(in);
  place.index = in.u<std::uint32_t>();
  in.require(place.has_position() || place.index == 0, Drop::bad_value);
  return place;
}

using Targets = FixedVector<std::string_view, kClientTargetsMax>;
void read_targets(ByteReader& in, bool sorted, Targets& out) {
  out.clear();
  const std::size_t count = in.u<std::uint8_t>();
  in.require(count > 0, Drop::bad_value);
  in.require(count <= kClientTargetsMax, Drop::count_too_large);
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    const std::string_view target = read_name(in);
    in.require(!sorted || out.empty() || out.back() < target, Drop::not_sorted);
    out.push_back(target);
  }
}

/// Reads the protocol version. Notes the reason and returns false if the version is missing or not
/// kClientVersion: the layout of the other fields is then unknown.
bool read_version(ByteReader& in, std::uint16_t& out) {
  out = in.u<std::uint16_t>();
  in.require(in.failed() || out == kClientVersion, Drop::bad_version);
  return !in.failed();
}

}  // namespace

// ---- from the client ----

Drop decode(ByteView body, Hello& out) {
  ByteReader in(body);
  if (!read_version(in, out.version)) return in.finish();
  out.session = read_token(in);
  out.events_seen = read_counter(in);
  out.keep_ms = in.u<std::uint32_t>();
  out.shares = read_flag(in);
  out.name = read_name_or_none(in);
  out.secret = read_text(in, kSecretBytesMax);
  return in.finish();
}

Drop decode(ByteView body, JoinRequest& out) {
  ByteReader in(body);
  out.request = in.u<std::uint32_t>();
  out.limits.policy = read_choice(in, SlowPolicy::normal, SlowPolicy::evict);
  out.limits.memory_bytes = in.u<std::uint64_t>();
  out.limits.disk_bytes = in.u<std::uint64_t>();
  out.limits.age_ms = in.u<std::uint32_t>();
  out.group = read_name(in);
  return in.finish();
}

Drop decode(ByteView body, LeaveRequest& out) {
  ByteReader in(body);
  out.request = in.u<std::uint32_t>();
  out.group = read_name(in);
  return in.finish();
}

Drop decode(ByteView body, SendRequest& out) {
  ByteReader in(body);
  out.number = read_number(in);
  out.service = read_choice(in, Service::fifo, Service::safe);
  out.type = in.u<std::uint16_t>();
  out.self_discard = read_flag(in);
  read_targets(in, false, out.targets);
  out.payload = in.bytes(in.remaining());
  return in.finish();
}

Drop decode(ByteView body, AskRequest& out) {
  ByteReader in(body);
  out.request = in.u<std::uint32_t>();
  out.what = read_name(in);
  return in.finish();
}

// ---- from the daemon ----

Drop decode(ByteView body, Welcome& out) {
  ByteReader in(body);
  if (!read_version(in, out.version)) return in.finish();
  out.session = read_token(in);
  out.resumed = read_flag(in);
  out.name = read_name(in);
  out.node = read_name(in);
  out.cluster = read_name(in);
  out.message_bytes_max = in.u<std::uint32_t>();
  out.unsettled_messages_max = in.u<std::uint32_t>();
  out.unsettled_bytes_max = in.u<std::uint64_t>();
  out.acked = read_counter(in);
  out.received = read_counter(in);
  in.require(out.acked <= out.received, Drop::bad_value);
  out.events_next = read_number(in);
  out.keep_ms = in.u<std::uint32_t>();
  out.ping_ms = in.u<std::uint32_t>();
  out.shared_bytes = in.u<std::uint32_t>();
  return in.finish();
}

Drop decode(ByteView body, MessageEvent& out) {
  ByteReader in(body);
  out.place = read_place(in);
  out.number = out.place.has_position() ? 0 : read_number(in);
  out.service = read_choice(in, Service::fifo, Service::safe);
  in.require(out.place.has_position() || !is_ordered(out.service), Drop::bad_value);
  out.type = in.u<std::uint16_t>();
  out.sender = read_name(in);
  read_targets(in, true, out.targets);
  out.payload = in.bytes(in.remaining());
  return in.finish();
}

Drop decode(ByteView body, GroupViewEvent& out) {
  ByteReader in(body);
  out.group = read_name(in);
  out.view = read_formed_view(in);
  out.index = read_number(in);
  out.cause = read_choice(in, ViewCause::join, ViewCause::network);
  out.reason = read_choice(in, ClientCode::ok, kLastClientCode);
  in.require(out.cause == ViewCause::disconnect || out.reason == ClientCode::ok, Drop::bad_value);
  out.changed = read_name_or_none(in);
  in.require((out.cause == ViewCause::network) == out.changed.empty(), Drop::bad_value);
  out.own_set = in.u<std::uint32_t>();
  const auto count = in.u<std::uint32_t>();
  in.require(count > 0, Drop::bad_value);
  out.members.clear();
  if (!in.holds(count, kGroupMemberBytesMin)) return in.finish();
  out.members.reserve(count);
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
    GroupMember member;
    member.set = in.u<std::uint32_t>();
    member.name = read_name(in);
    out.members.push_back(member);
  }
  return in.finish();
}

Drop decode(ByteView body, GroupEvent& out) {
  ByteReader in(body);
  out.group = read_name(in);
  return in.finish();
}

Drop decode(ByteView body, GapEvent& out) {
  ByteReader in(body);
  out.group = read_name_or_none(in);
  out.reason = read_choice(in, GapReason::slow, GapReason::away);
  if (out.reason == GapReason::away) {
    out = {out.group, 0, 0, {}, {}, GapReason::away};
    return in.finish();
  }
  out.messages = read_number(in);
  out.bytes = read_counter(in);
  out.first = read_place(in);
  out.last = read_place(in);
  in.require(out.first <= out.last, Drop::bad_value);
  in.require(out.first.has_position() == out.last.has_position(), Drop::bad_value);
  return in.finish();
}

Drop decode(ByteView body, Shared& out) {
  ByteReader in(body);
  out.offset = in.u<std::uint32_t>();
  in.require(out.offset % kSharedAlign == 0, Drop::bad_value);
  out.bytes = in.u<std::uint32_t>();
  in.require(out.bytes >= kRecordHeaderBytes && out.bytes <= kSharedRecordMax, Drop::bad_value);
  out.generation = read_number(in);
  return in.finish();
}

Drop decode(ByteView body, Acked& out) {
  ByteReader in(body);
  out.number = read_counter(in);
  return in.finish();
}

Drop decode(ByteView body, Refused& out) {
  ByteReader in(body);
  out.number = read_number(in);
  out.code = read_choice(in, ClientCode::bad_record, kLastClientCode);
  out.text = read_text(in, kTextBytesMax);
  return in.finish();
}

Drop decode(ByteView body, Reply& out) {
  ByteReader in(body);
  out.request = in.u<std::uint32_t>();
  out.code = read_choice(in, ClientCode::ok, kLastClientCode);
  out.text = read_text(in, kReplyTextBytesMax);
  return in.finish();
}

Drop decode(ByteView body, Warning& out) {
  ByteReader in(body);
  out.policy = read_choice(in, SlowPolicy::block, SlowPolicy::evict);
  out.bytes = in.u<std::uint64_t>();
  out.bytes_max = in.u<std::uint64_t>();
  out.age_ms = in.u<std::uint32_t>();
  out.age_max_ms = in.u<std::uint32_t>();
  out.group = read_name_or_none(in);
  return in.finish();
}

Drop decode(ByteView body, Closing& out) {
  ByteReader in(body);
  out.code = read_choice(in, ClientCode::bad_record, kLastClientCode);
  out.text = read_text(in, kTextBytesMax);
  return in.finish();
}

}  // namespace peal::wire
