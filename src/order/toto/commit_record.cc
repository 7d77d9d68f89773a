// SPDX-License-Identifier: Apache-2.0
#include "order/toto/commit_record.h"

#include <optional>

#include "base/assert.h"
#include "wire/byte_reader.h"
#include "wire/toto.h"
#include "wire/writer.h"

namespace peal::order::toto {
namespace {

using wire::Drop;

constexpr std::size_t kOptionsBytes = 4;
constexpr std::size_t kCountBytes = 2;

Drop check_options(ByteView options) {
  wire::ByteReader in(options);
  const auto packet_bytes_max = in.u<std::uint32_t>();
  in.require(packet_bytes_max > wire::node_header_bytes(wire::kUnitAdvancesMax) &&
                 packet_bytes_max <= wire::kPacketBytesMax,
             Drop::bad_value);
  return in.finish();
}

std::size_t count_in(ByteView head) {
  wire::ByteReader in(head);
  return in.u<std::uint16_t>();
}

std::optional<std::size_t> tail_bytes(ByteView head) {
  const std::size_t count = count_in(head);
  if (count > wire::kMembersMax) return std::nullopt;
  return count * sizeof(Seq);
}

Drop check_tail(ByteView head, ByteView tail) {
  wire::ByteReader in(tail);
  for (std::size_t i = count_in(head); i > 0; --i) wire::read_counter(in);
  return in.finish();
}

}  // namespace

constinit const wire::CommitFormat kCommitFormat{
    .options_bytes = kOptionsBytes,
    .head_bytes = kCountBytes,
    .counts_bytes = kCountBytes,
    .check_options = &check_options,
    .tail_bytes = &tail_bytes,
    .check_tail = &check_tail,
};

wire::CommitOptions encode(const ViewOptions& options) {
  wire::CommitOptions bytes;
  for (std::size_t i = 0; i < kOptionsBytes; ++i) bytes.push_back({});
  wire::Writer out(ByteSpan(bytes.begin(), bytes.size()));
  out.u(options.packet_bytes_max);
  PEAL_ASSERT(!out.failed());
  return bytes;
}

std::vector<std::byte> encode(const OldViewRecord& record) {
  std::vector<std::byte> bytes(kCountBytes + sizeof(Seq) * record.size());
  wire::Writer out{ByteSpan(bytes)};
  out.u(static_cast<std::uint16_t>(record.size()));
  for (const Seq seq : record) out.u(seq);
  PEAL_ASSERT(!out.failed());
  return bytes;
}

ViewOptions decode_options(const wire::CommitOptions& options) {
  wire::ByteReader in(ByteView(options.begin(), options.size()));
  return {in.u<std::uint32_t>()};
}

OldViewRecord decode_record(ByteView record) {
  wire::ByteReader in(record);
  OldViewRecord out;
  for (std::size_t i = in.u<std::uint16_t>(); i > 0; --i) out.push_back(in.u<Seq>());
  return out;
}

Drop decode_commit(ByteView packet, wire::Commit& out) {
  return wire::decode_commit(packet, kCommitFormat, out);
}

std::size_t encode_commit(const wire::Header& header, const wire::Commit& in, ByteSpan out) {
  return wire::encode_commit(header, in, kCommitFormat, out);
}

}  // namespace peal::order::toto
