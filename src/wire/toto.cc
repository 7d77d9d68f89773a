// SPDX-License-Identifier: Apache-2.0
#include "wire/toto.h"

#include "base/assert.h"
#include "wire/byte_reader.h"
#include "wire/headroom.h"
#include "wire/packet.h"
#include "wire/writer.h"

namespace peal::wire {
namespace {

static_assert(node_header_bytes(kUnitAdvancesMax) <= kUnitHeadroomBytes);

constexpr std::uint8_t kNodeRetransmission = 1;
constexpr std::uint8_t kFullFlag = 1;
constexpr std::uint8_t kAllHaveFlag = 2;
constexpr std::size_t kNodeRangeBytes = 12;

std::uint16_t read_member_index(ByteReader& in) {
  const auto index = in.u<std::uint16_t>();
  in.require(index < kMembersMax, Drop::bad_value);
  return index;
}

Seq read_node_number(ByteReader& in) {
  const Seq seq = read_counter(in);
  in.require(seq >= 1, Drop::bad_value);
  return seq;
}

void read_advances(ByteReader& in, std::size_t most, Node& out) {
  out.advances.clear();
  const auto count = in.u<std::uint16_t>();
  in.require(count <= most, Drop::count_too_large);
  if (in.failed() || !in.holds(count, kAdvanceBytes)) return;
  for (std::uint16_t i = 0; i < count; ++i) {
    Advance advance;
    advance.index = read_member_index(in);
    advance.count = in.u<std::uint16_t>();
    in.require(advance.index != out.origin && advance.count >= 1, Drop::bad_value);
    if (i > 0) in.require(advance.index > out.advances.back().index, Drop::not_sorted);
    if (in.failed()) return;
    out.advances.push_back(advance);
  }
}

NodeRange read_node_range(ByteReader& in) {
  NodeRange range;
  range.origin = read_member_index(in);
  range.first = read_node_number(in);
  range.count = in.u<std::uint16_t>();
  in.require(range.count >= 1 && range.count <= kNodeRangeMax, Drop::bad_value);
  if (!in.failed()) in.require(range.first <= kCounterMax - range.count, Drop::bad_value);
  return range;
}

}  // namespace

Drop decode_node(ByteView packet, Node& out) {
  ByteReader in = body_of(packet);
  out.view = read_formed_view(in);
  out.origin = read_member_index(in);
  const auto kind = in.u<std::uint8_t>();
  in.require(kind <= static_cast<std::uint8_t>(NodeKind::safe), Drop::bad_value);
  const auto flags = in.u<std::uint8_t>();
  in.require((flags & ~kNodeRetransmission) == 0, Drop::bad_value);
  out.seq = read_node_number(in);
  out.decided = read_counter(in);
  if (in.failed()) return in.finish();
  out.kind = static_cast<NodeKind>(kind);
  out.retransmission = (flags & kNodeRetransmission) != 0;
  const bool control = out.kind == NodeKind::control;
  read_advances(in, control ? kMembersMax - 1 : kUnitAdvancesMax, out);
  if (in.failed() || control) return in.finish();
  return in.remaining() > 0 ? Drop::none : Drop::truncated;
}

void encode_node_in_place(const Header& header, const Node& in, ByteSpan packet) {
  const std::size_t bytes = node_header_bytes(in.advances.size());
  PEAL_ASSERT(packet.size() >= bytes && packet.size() <= kPacketBytesMax);
  PEAL_ASSERT((in.kind == NodeKind::control) == (packet.size() == bytes));
  Writer out(packet.first(bytes));
  write_header(out, frame_kind(TotoKind::node), header);
  out.view(in.view);
  out.u(in.origin);
  out.u(static_cast<std::uint8_t>(in.kind));
  out.u(static_cast<std::uint8_t>(in.retransmission ? kNodeRetransmission : 0));
  out.u(in.seq);
  out.u(in.decided);
  out.u(static_cast<std::uint16_t>(in.advances.size()));
  for (const Advance& advance : in.advances) {
    out.u(advance.index);
    out.u(advance.count);
  }
  PEAL_ASSERT(!out.failed() && out.written() == bytes);
  complete(packet, header.checksum);
}

Drop decode_toto_lacks(ByteView packet, TotoLacks& out) {
  ByteReader in = body_of(packet);
  out.view = read_formed_view(in);
  out.ranges.clear();
  const auto count = in.u<std::uint16_t>();
  in.require(count <= kNodeRangesMax, Drop::count_too_large);
  in.require(count >= 1, Drop::bad_value);
  if (in.failed() || !in.holds(count, kNodeRangeBytes)) return in.finish();
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    const NodeRange range = read_node_range(in);
    if (i > 0) {
      const NodeRange& before = out.ranges.back();
      in.require(range.origin > before.origin ||
                     (range.origin == before.origin && range.first >= before.first + before.count),
                 Drop::not_sorted);
    }
    out.ranges.push_back(range);
  }
  return in.finish();
}

std::size_t encode_toto_lacks(const Header& header, const TotoLacks& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, frame_kind(TotoKind::lacks), header);
  out.view(in.view);
  out.count(in.ranges.size(), kNodeRangesMax);
  for (const NodeRange& range : in.ranges) {
    out.u(range.origin);
    out.u(range.first);
    out.u(range.count);
  }
  return finish(out, packet, header.checksum);
}

Drop decode_toto_status(ByteView packet, TotoStatus& out) {
  ByteReader in = body_of(packet);
  out.view = read_formed_view(in);
  const auto flags = in.u<std::uint8_t>();
  in.require((flags & ~(kFullFlag | kAllHaveFlag)) == 0, Drop::bad_value);
  out.full = (flags & kFullFlag) != 0;
  out.all_have = (flags & kAllHaveFlag) != 0;
  out.list = in.u<std::uint64_t>();
  out.have.clear();
  const auto count = in.u<std::uint16_t>();
  in.require(count <= kMembersMax, Drop::count_too_large);
  in.require(count >= 1, Drop::bad_value);
  if (in.failed() || !in.holds(count, sizeof(Seq))) return in.finish();
  for (std::uint16_t i = 0; i < count; ++i) out.have.push_back(read_counter(in));
  return in.finish();
}

std::size_t encode_toto_status(const Header& header, const TotoStatus& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, frame_kind(TotoKind::status), header);
  out.view(in.view);
  const int flags = (in.full ? kFullFlag : 0) | (in.all_have ? kAllHaveFlag : 0);
  out.u(static_cast<std::uint8_t>(flags));
  out.u(in.list);
  out.count(in.have.size(), kMembersMax);
  for (const Seq seq : in.have) out.u(seq);
  return finish(out, packet, header.checksum);
}

Drop decode_toto_pass(ByteView packet, TotoPass& out) {
  ByteReader in = body_of(packet);
  out.view = read_formed_view(in);
  out.hop = read_counter(in);
  out.run = in.u<std::uint16_t>();
  in.require(out.run <= kPassRunMax, Drop::bad_value);
  out.block = in.u<std::uint16_t>();
  in.require(out.block < kMembersMax || out.block == kNoIndex, Drop::bad_value);
  out.missing = in.u<std::uint32_t>();
  return in.finish();
}

std::size_t encode_toto_pass(const Header& header, const TotoPass& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, frame_kind(TotoKind::pass), header);
  out.view(in.view);
  out.u(in.hop);
  out.u(in.run);
  out.u(in.block);
  out.u(in.missing);
  return finish(out, packet, header.checksum);
}

}  // namespace peal::wire
