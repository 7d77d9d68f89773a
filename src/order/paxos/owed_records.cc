// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/owed_records.h"

#include "base/assert.h"
#include "wire/byte_reader.h"
#include "wire/writer.h"

namespace peal::order::paxos {
namespace {

constexpr std::size_t kOwedFixedBytesMax = 256;
constexpr std::size_t kOwedMemberBytes = 12;

void read_members_of(wire::ByteReader& in, MemberSet& out) {
  out.clear();
  const auto count = in.u<std::uint16_t>();
  in.require(count >= 1 && count <= wire::kMembersMax, wire::Drop::count_too_large);
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    out.push_back(wire::read_member(in));
    in.require(i == 0 || out[i - 1] < out[i], wire::Drop::bad_value);
  }
}

void read_ids(wire::ByteReader& in, std::vector<std::uint64_t>& out) {
  out.clear();
  const auto count = in.u<std::uint16_t>();
  in.require(count <= OwedRanges::kRangesMax, wire::Drop::count_too_large);
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    out.push_back(wire::read_counter(in));
    in.require(out[i] >= 1 && (i == 0 || out[i - 1] < out[i]), wire::Drop::bad_value);
  }
}

}  // namespace

void write_owed_head(const OwedRecord& record, std::vector<std::byte>& bytes) {
  bytes.resize(kOwedFixedBytesMax + record.members.size() * kOwedMemberBytes +
               record.ids.size() * sizeof(std::uint64_t));
  wire::Writer out(bytes);
  out.u(static_cast<std::uint8_t>(record.kind));
  switch (record.kind) {
    case OwedRecord::Kind::head:
      out.u(record.id);
      out.u(record.part.ensemble);
      out.u(record.part.order);
      out.u(record.instance);
      out.count(record.members.size(), wire::kMembersMax);
      for (const MemberId& member : record.members) out.member(member);
      break;
    case OwedRecord::Kind::value:
      out.u(record.id);
      out.u(record.instance);
      wire::write_value_head(out, record.head);
      break;
    case OwedRecord::Kind::checkpoint:
      out.count(record.ids.size(), OwedRanges::kRangesMax);
      for (const std::uint64_t id : record.ids) out.u(id);
      break;
  }
  PEAL_ASSERT(!out.failed());
  bytes.resize(out.written());
}

bool read_owed(ByteView bytes, OwedRecord& out) {
  wire::ByteReader in(bytes);
  out.kind = static_cast<OwedRecord::Kind>(in.u<std::uint8_t>());
  switch (out.kind) {
    case OwedRecord::Kind::head:
      out.id = wire::read_counter(in);
      out.part.ensemble = in.u<std::uint8_t>();
      out.part.order = in.u<std::uint64_t>();
      out.instance = wire::read_counter(in);
      read_members_of(in, out.members);
      in.require(out.id >= 1 && out.instance >= 1, wire::Drop::bad_value);
      break;
    case OwedRecord::Kind::value:
      out.id = wire::read_counter(in);
      out.instance = wire::read_counter(in);
      out.head = wire::read_value_head(in);
      out.bytes = in.bytes(in.remaining());
      in.require(out.id >= 1 && out.instance >= 1, wire::Drop::bad_value);
      break;
    case OwedRecord::Kind::checkpoint: read_ids(in, out.ids); break;
    default: return false;
  }
  return in.finish() == wire::Drop::none;
}

}  // namespace peal::order::paxos
