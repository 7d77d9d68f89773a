// SPDX-License-Identifier: Apache-2.0
#include "order/ring/commit_record.h"

#include <array>
#include <optional>

#include "base/assert.h"
#include "wire/packet.h"

namespace peal::order::ring {
namespace {

using wire::ByteReader;
using wire::Drop;
using wire::kMemberBytes;
using wire::Writer;

constexpr std::size_t kOptionsBytes = 3 * sizeof(std::uint32_t);
constexpr std::size_t kCountsBytes = sizeof(std::uint16_t);
constexpr std::size_t kHeadBytes = 3 * sizeof(Seq) + kCountsBytes;
constexpr std::uint64_t kWordBits = 64;

/// The part of a record with a fixed length: positions, and the number of members in `obligation`.
struct Head {
  Seq base{}, high{}, safe{};
  std::uint16_t obligation{};

  std::uint64_t words() const { return (high - base + kWordBits - 1) / kWordBits; }
};

Head read_head(ByteReader& in) {
  Head head;
  head.base = in.u<Seq>();
  head.high = in.u<Seq>();
  head.safe = in.u<Seq>();
  head.obligation = in.u<std::uint16_t>();
  return head;
}

Head head_of(ByteView bytes) {
  ByteReader in(bytes);
  const Head head = read_head(in);
  PEAL_ASSERT(in.finish() == Drop::none);
  return head;
}

ViewOptions options_of(ByteView bytes) {
  ByteReader in(bytes);
  ViewOptions options;
  options.packet_bytes_max = in.u<std::uint32_t>();
  options.request_lag = in.u<std::uint32_t>();
  options.max_gap = in.u<std::uint32_t>();
  PEAL_ASSERT(in.finish() == Drop::none);
  return options;
}

// ---- bytes from the network ----

Drop check_options(ByteView bytes) {
  const ViewOptions options = options_of(bytes);
  const bool ok = options.packet_bytes_max > wire::kDataHeaderBytes &&
                  options.packet_bytes_max <= wire::kPacketBytesMax && options.max_gap >= 1;
  return ok ? Drop::none : Drop::bad_value;
}

Drop check_head(ByteView bytes) {
  const Head head = head_of(bytes);
  if (head.high > wire::kCounterMax) return Drop::bad_value;
  if (head.safe > head.base || head.base > head.high) return Drop::bad_value;
  return head.high - head.base <= kSpanMax ? Drop::none : Drop::count_too_large;
}

std::optional<std::size_t> tail_bytes(ByteView bytes) {
  const Head head = head_of(bytes);
  // If the positions of the head are out of order, the record has no valid encoding.
  if (head.base > head.high || head.high - head.base > kSpanMax) return std::nullopt;
  if (head.obligation > wire::kMembersMax) return std::nullopt;
  return head.obligation * kMemberBytes + head.words() * sizeof(std::uint64_t);
}

Drop check_tail(ByteView head_bytes, ByteView tail) {
  const Head head = head_of(head_bytes);
  ByteReader in(tail);
  wire::check_members(in, head.obligation, wire::kMembersMax);
  if (in.failed()) return in.finish();
  const std::uint64_t used = (head.high - head.base) % kWordBits;
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < head.words(); ++i) last = in.u<std::uint64_t>();
  if (used != 0) in.require(last >> used == 0, Drop::bad_value);
  return in.finish();
}

}  // namespace

constexpr wire::CommitFormat kCommitFormat{kOptionsBytes, kHeadBytes, kCountsBytes, check_options,
                                           check_head,    tail_bytes, check_tail};
static_assert(kCommitFormat.is_sound());

wire::CommitOptions encode(const ViewOptions& options) {
  std::array<std::byte, kOptionsBytes> bytes{};
  Writer out(bytes);
  out.u(options.packet_bytes_max);
  out.u(options.request_lag);
  out.u(options.max_gap);
  wire::CommitOptions result;
  for (const std::byte each : bytes) result.push_back(each);
  return result;
}

ViewOptions decode_options(const wire::CommitOptions& options) {
  return options_of({options.begin(), options.size()});
}

std::vector<std::byte> encode(const OldViewRecord& record) {
  std::vector<std::byte> bytes(kHeadBytes + record.obligation.size() * kMemberBytes +
                               record.have.size() * sizeof(std::uint64_t));
  Writer out(bytes);
  out.u(record.base);
  out.u(record.high);
  out.u(record.safe);
  out.count(record.obligation.size(), 0xffff);
  out.members(record.obligation);
  for (const std::uint64_t word : record.have) out.u(word);
  PEAL_ASSERT(!out.failed());
  return bytes;
}

OldViewRecord decode_record(ByteView bytes) {
  ByteReader in(bytes);
  const Head head = read_head(in);
  OldViewRecord record;
  record.base = head.base;
  record.high = head.high;
  record.safe = head.safe;
  wire::read_members(in, head.obligation, 0xffff, record.obligation);
  record.have.resize(in.remaining() / sizeof(std::uint64_t));
  for (std::uint64_t& word : record.have) word = in.u<std::uint64_t>();
  PEAL_ASSERT(in.finish() == Drop::none);
  return record;
}

wire::Drop decode_commit(ByteView packet, wire::Commit& out) {
  return wire::decode_commit(packet, kCommitFormat, out);
}

std::size_t encode_commit(const wire::Header& header, const wire::Commit& in, ByteSpan out) {
  return wire::encode_commit(header, in, kCommitFormat, out);
}

}  // namespace peal::order::ring
