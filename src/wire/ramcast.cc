// SPDX-License-Identifier: Apache-2.0
#include "wire/ramcast.h"

#include "base/assert.h"
#include "wire/byte_reader.h"
#include "wire/packet.h"
#include "wire/ramcast_fields.h"
#include "wire/writer.h"

namespace peal::wire {
namespace {

constexpr std::uint8_t kAnswerFlag = 1;
constexpr std::uint8_t kBootstrapFlag = 1;
constexpr std::uint8_t kBodyFlag = 1;

std::uint8_t read_flags(ByteReader& in, std::uint8_t known) {
  const auto flags = in.u<std::uint8_t>();
  in.require((flags & ~known) == 0, Drop::bad_value);
  return flags;
}

/// A member, or none (all fields zero).
MemberId read_optional_member(ByteReader& in) {
  MemberId member;
  member.node.value = in.u<std::uint32_t>();
  member.epoch = in.u<std::uint64_t>();
  const bool named = member.node.value >= 1 && member.node.value <= kNodeMax;
  in.require(named || member == MemberId{}, Drop::bad_value);
  return member;
}

void write_view(Writer& out, const DomainView& in) {
  out.view(in.id);
  out.u(in.members);
  out.count(in.roster.size(), kDomainNodesMax);
  out.u(in.follows);
  PEAL_ASSERT(in.last_in.size() == in.roster.size());
  for (std::size_t i = 0; i < in.roster.size(); ++i) {
    out.member(in.roster[i]);
    out.u(in.last_in[i]);
  }
}

/// A view, or "no view": number 0, no representative and no members. A roster without a view is one
/// that is about to begin.
void read_view(ByteReader& in, DomainView& out) {
  out.id = read_any_view(in);
  out.members = in.u<std::uint16_t>();
  const auto count = in.u<std::uint16_t>();
  in.require(count <= kDomainNodesMax, Drop::count_too_large);
  out.follows = read_counter(in);
  out.roster.clear();
  out.last_in.clear();
  if (in.failed() || !in.holds(count, kMemberBytes + 8)) return;
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    const MemberId member = read_member(in);
    in.require(i == 0 || out.roster.back().node < member.node, Drop::not_sorted);
    out.roster.push_back(member);
    out.last_in.push_back(in.u<std::uint64_t>());
    in.require(out.last_in.back() <= out.follows, Drop::bad_value);
  }
  const bool formed = out.id.number >= 1;
  in.require(out.follows < out.id.number || (!formed && out.follows == 0), Drop::bad_value);
  in.require(formed || out.id == ViewId{}, Drop::bad_value);
  in.require(formed == (out.members != 0) && (!formed || count > 0), Drop::bad_value);
  in.require((out.members >> count) == 0, Drop::bad_value);
}

void write_head(Writer& out, const MessageHead& in) {
  out.u(in.number);
  out.u(in.after);
  out.u(in.to);
  out.u(static_cast<std::uint8_t>(in.service));
}

void read_head(ByteReader& in, MessageHead& out) {
  out.number = read_from_one(in);
  out.after = read_counter(in);
  out.to = read_domains(in);
  out.service = read_ordered_service(in);
}

void read_relay(ByteReader& in, MessageRelay& out) {
  out.sender = read_member(in);
  read_head(in, out.head);
  in.require(in.u<std::uint8_t>() == 0 && in.u<std::uint32_t>() == 0, Drop::bad_value);
  read_indexes(in, out.head);
}

void write_relay(Writer& out, const MessageRelay& in) {
  out.member(in.sender);
  write_head(out, in.head);
  out.u(std::uint8_t{0});
  out.u(std::uint32_t{0});
  for (const std::uint64_t index : in.head.indexes) out.u(index);
}

/// What is left is the unit.
Drop finish_before_unit(const ByteReader& in) {
  if (in.failed()) return in.finish();
  return in.remaining() > 0 ? Drop::none : Drop::truncated;
}

}  // namespace

std::size_t encode_domain_view(const DomainView& in, ByteSpan bytes) {
  Writer out(bytes);
  write_view(out, in);
  return out.failed() ? 0 : out.written();
}

Drop decode_domain_view(ByteView bytes, DomainView& out) {
  ByteReader in(bytes);
  read_view(in, out);
  return in.finish();
}

Drop decode_memory_hello(ByteView packet, MemoryHello& out) {
  ByteReader in = body_of(packet);
  out.heard = read_optional_member(in);
  out.message = read_counter(in);
  out.answer = (read_flags(in, kAnswerFlag) & kAnswerFlag) != 0;
  in.require(!out.answer || out.heard != MemberId{}, Drop::bad_value);
  return in.finish();
}

std::size_t encode_memory_hello(const Header& header, const MemoryHello& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, frame_kind(RamcastKind::hello), header);
  out.member(in.heard);
  out.u(in.message);
  out.u(static_cast<std::uint8_t>(in.answer ? kAnswerFlag : 0));
  return finish(out, packet, header.checksum);
}

Drop decode_takeover(ByteView packet, Takeover& out) {
  ByteReader in = body_of(packet);
  out.round = read_round(in);
  out.seed = in.u<std::uint32_t>();
  out.bootstrap = (read_flags(in, kBootstrapFlag) & kBootstrapFlag) != 0;
  out.grant = read_from_one(in);
  read_view(in, out.view);
  if (!in.failed()) in.require(!out.view.roster.empty(), Drop::bad_value);
  return in.finish();
}

std::size_t encode_takeover(const Header& header, const Takeover& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, frame_kind(RamcastKind::takeover), header);
  write_round(out, in.round);
  out.u(in.seed);
  out.u(static_cast<std::uint8_t>(in.bootstrap ? kBootstrapFlag : 0));
  out.u(in.grant);
  write_view(out, in.view);
  return finish(out, packet, header.checksum);
}

Drop decode_member_state(ByteView packet, MemberState& out) {
  ByteReader in = body_of(packet);
  out.round = read_round(in);
  out.grant = read_from_one(in);
  out.synchronized = read_optional_round(in);
  out.clock = read_counter(in);
  out.delivered = read_counter(in);
  read_view(in, out.view);
  read_view(in, out.proposed);
  out.part = in.u<std::uint16_t>();
  out.parts = in.u<std::uint16_t>();
  in.require(out.parts >= 1 && out.parts <= kStatePartsMax && out.part < out.parts,
             Drop::bad_value);
  const auto count = in.u<std::uint16_t>();
  in.require(count <= kStateRecordsMax, Drop::count_too_large);
  out.records.clear();
  if (in.failed() || !in.holds(count, state_record_bytes(1))) return in.finish();
  out.records.reserve(count);
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    StateRecord& record = out.records.emplace_back();
    record.sender = read_member(in);
    read_head(in, record.head);
    record.body = (read_flags(in, kBodyFlag) & kBodyFlag) != 0;
    record.stamp = read_counter(in);
    record.key = read_counter(in);
    read_indexes(in, record.head);
  }
  return in.finish();
}

std::size_t encode_member_state(const Header& header, const MemberState& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, frame_kind(RamcastKind::state), header);
  write_round(out, in.round);
  out.u(in.grant);
  write_round(out, in.synchronized);
  out.u(in.clock);
  out.u(in.delivered);
  write_view(out, in.view);
  write_view(out, in.proposed);
  out.u(in.part);
  out.u(in.parts);
  out.count(in.records.size(), kStateRecordsMax);
  for (const StateRecord& record : in.records) {
    out.member(record.sender);
    write_head(out, record.head);
    out.u(static_cast<std::uint8_t>(record.body ? kBodyFlag : 0));
    out.u(record.stamp);
    out.u(record.key);
    for (const std::uint64_t index : record.head.indexes) out.u(index);
  }
  return finish(out, packet, header.checksum);
}

Drop decode_nack(ByteView packet, Nack& out) {
  ByteReader in = body_of(packet);
  out.round = read_round(in);
  out.promised = read_optional_round(in);
  return in.finish();
}

std::size_t encode_nack(const Header& header, const Nack& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, frame_kind(RamcastKind::nack), header);
  write_round(out, in.round);
  write_round(out, in.promised);
  return finish(out, packet, header.checksum);
}

Drop decode_message_relay(ByteView packet, MessageRelay& out) {
  ByteReader in = body_of(packet);
  read_relay(in, out);
  return finish_before_unit(in);
}

void encode_message_relay_in_place(const Header& header, const MessageRelay& in, ByteSpan packet) {
  const std::size_t bytes = relay_header_bytes(in.head.indexes.size());
  PEAL_ASSERT(packet.size() > bytes && packet.size() <= kPacketBytesMax);
  Writer out(packet.first(bytes));
  write_header(out, frame_kind(RamcastKind::relay), header);
  write_relay(out, in);
  PEAL_ASSERT(!out.failed() && out.written() == bytes);
  complete(packet, header.checksum);
}

Drop decode_about_message(ByteView packet, AboutMessage& out) {
  ByteReader in = body_of(packet);
  out.message.sender = read_member(in);
  out.message.number = read_from_one(in);
  out.key = read_counter(in);
  if (in.failed()) return in.finish();
  const bool answer = static_cast<RamcastKind>(packet[3]) == RamcastKind::answer;
  in.require(answer == (out.key > 0), Drop::bad_value);
  out.round = read_optional_round(in);
  if (!in.failed()) in.require(answer || out.round == Round{}, Drop::bad_value);
  return in.finish();
}

std::size_t encode_about_message(const Header& header, RamcastKind kind, const AboutMessage& in,
                                 ByteSpan packet) {
  PEAL_ASSERT(kind == RamcastKind::pull || kind == RamcastKind::query ||
              kind == RamcastKind::answer);
  Writer out(packet);
  write_header(out, frame_kind(kind), header);
  out.member(in.message.sender);
  out.u(in.message.number);
  out.u(in.key);
  write_round(out, in.round);
  return finish(out, packet, header.checksum);
}

Drop decode_backlog_request(ByteView packet, BacklogRequest& out) {
  ByteReader in = body_of(packet);
  out.delivered = read_counter(in);
  return in.finish();
}

std::size_t encode_backlog_request(const Header& header, const BacklogRequest& in,
                                   ByteSpan packet) {
  Writer out(packet);
  write_header(out, frame_kind(RamcastKind::backlog_request), header);
  out.u(in.delivered);
  return finish(out, packet, header.checksum);
}

Drop decode_backlog(ByteView packet, Backlog& out) {
  ByteReader in = body_of(packet);
  out.before = read_counter(in);
  out.key = read_from_one(in);
  in.require(out.key > out.before, Drop::bad_value);
  read_relay(in, out.message);
  // The unit may be missing.
  return in.failed() ? in.finish() : Drop::none;
}

void encode_backlog_in_place(const Header& header, const Backlog& in, ByteSpan packet) {
  const std::size_t bytes = backlog_header_bytes(in.message.head.indexes.size());
  PEAL_ASSERT(packet.size() >= bytes && packet.size() <= kPacketBytesMax);
  Writer out(packet.first(bytes));
  write_header(out, frame_kind(RamcastKind::backlog), header);
  out.u(in.before);
  out.u(in.key);
  write_relay(out, in.message);
  PEAL_ASSERT(!out.failed() && out.written() == bytes);
  complete(packet, header.checksum);
}

Drop decode_backlog_view(ByteView packet, BacklogView& out) {
  ByteReader in = body_of(packet);
  out.before = read_counter(in);
  read_view(in, out.view);
  if (!in.failed()) in.require(out.view.id.number > out.before, Drop::bad_value);
  return in.finish();
}

std::size_t encode_backlog_view(const Header& header, const BacklogView& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, frame_kind(RamcastKind::backlog_view), header);
  out.u(in.before);
  write_view(out, in.view);
  return finish(out, packet, header.checksum);
}

}  // namespace peal::wire
