// SPDX-License-Identifier: Apache-2.0
#include "base/assert.h"
#include "wire/packet.h"
#include "wire/paxos_value.h"

// Codecs of the packets by which a node requests and gets missing data.

namespace peal::wire {
namespace {

/// In a WORD, the byte after the instance has this value if there is a vote; else it is 0.
constexpr std::byte kVoted{1};

/// Reads a run of consecutive numbers: the first number, and the count, which is at most `most`.
void read_run(ByteReader& in, std::uint64_t& first, std::uint16_t& count, std::uint16_t most) {
  first = read_instance(in);
  count = in.u<std::uint16_t>();
  in.require(count >= 1 && count <= most, Drop::bad_value);
  in.require(first + count <= kCounterMax, Drop::bad_value);
}

}  // namespace

Drop decode_fetch(ByteView packet, Fetch& out) {
  ByteReader in = body_of(packet);
  out.round = read_round(in);
  out.instance = read_instance(in);
  return in.finish();
}

std::size_t encode_fetch(const Header& header, const Fetch& in, ByteSpan packet) {
  Writer out(packet);
  write_paxos_header(out, PaxosKind::fetch, header);
  write_round(out, in.round);
  out.u(in.instance);
  return finish(out, packet, header.checksum);
}

Drop decode_fetched(ByteView packet, Fetched& out) {
  if (packet.size() < kFetchedHeaderBytes) return Drop::truncated;
  ByteReader in = body_of(packet.first(kFetchedHeaderBytes));
  out.round = read_round(in);
  out.instance = read_instance(in);
  out.head = read_value_head(in);
  require_value(in, out.head.kind, packet.subspan(kFetchedHeaderBytes));
  return in.finish();
}

void encode_fetched_in_place(const Header& header, const Fetched& in, ByteSpan packet) {
  PEAL_ASSERT(packet.size() >= kFetchedHeaderBytes && packet.size() <= kPacketBytesMax);
  Writer out(packet.first(kFetchedHeaderBytes));
  write_paxos_header(out, PaxosKind::fetched, header);
  write_round(out, in.round);
  out.u(in.instance);
  write_value_head(out, in.head);
  PEAL_ASSERT(!out.failed() && out.written() == kFetchedHeaderBytes);
  complete(packet, header.checksum);
}

Drop decode_repeat(ByteView packet, Repeat& out) {
  ByteReader in = body_of(packet);
  read_run(in, out.first, out.count, kRepeatMax);
  const auto again = in.u<std::uint8_t>();
  in.require(again <= 1, Drop::bad_value);
  out.again = again != 0;
  return in.finish();
}

std::size_t encode_repeat(const Header& header, const Repeat& in, ByteSpan packet) {
  Writer out(packet);
  write_paxos_header(out, PaxosKind::repeat, header);
  out.u(in.first);
  out.u(in.count);
  out.u(static_cast<std::uint8_t>(in.again ? 1 : 0));
  return finish(out, packet, header.checksum);
}

Drop decode_recall(ByteView packet, Recall& out) {
  ByteReader in = body_of(packet);
  read_run(in, out.first, out.count, kRecallMax);
  return in.finish();
}

std::size_t encode_recall(const Header& header, const Recall& in, ByteSpan packet) {
  Writer out(packet);
  write_paxos_header(out, PaxosKind::recall, header);
  out.u(in.first);
  out.u(in.count);
  return finish(out, packet, header.checksum);
}

Drop decode_word(ByteView packet, Word& out) {
  if (packet.size() < kNoVoteBytes) return Drop::truncated;
  const bool voted = packet[kNoVoteBytes - 1] == kVoted;
  if (voted && packet.size() < kWordHeaderBytes) return Drop::truncated;
  ByteReader in = body_of(voted ? packet.first(kWordHeaderBytes) : packet);
  out = {};
  out.instance = read_instance(in);
  in.require(std::byte{in.u<std::uint8_t>()} <= kVoted, Drop::bad_value);
  if (voted) {
    out.round = read_round(in);
    out.head = read_value_head(in);
    require_value(in, out.head.kind, packet.subspan(kWordHeaderBytes));
  }
  return in.finish();
}

std::size_t encode_no_vote(const Header& header, const Word& in, ByteSpan packet) {
  // A WORD without a vote from a node that did vote would be dangerous: other nodes could abandon a
  // value that was decided with that vote.
  PEAL_ASSERT(in.round == Round{});
  Writer out(packet);
  write_paxos_header(out, PaxosKind::word, header);
  out.u(in.instance);
  out.u(std::uint8_t{0});
  return finish(out, packet, header.checksum);
}

void encode_word_in_place(const Header& header, const Word& in, ByteSpan packet) {
  PEAL_ASSERT(packet.size() >= kWordHeaderBytes && packet.size() <= kPacketBytesMax);
  Writer out(packet.first(kWordHeaderBytes));
  write_paxos_header(out, PaxosKind::word, header);
  out.u(in.instance);
  out.u(static_cast<std::uint8_t>(kVoted));
  write_round(out, in.round);
  write_value_head(out, in.head);
  PEAL_ASSERT(!out.failed() && out.written() == kWordHeaderBytes);
  complete(packet, header.checksum);
}

Drop decode_lacks(ByteView packet, Lacks& out) {
  ByteReader in = body_of(packet);
  out.view = read_counter(in);
  in.require(out.view >= 1, Drop::bad_value);
  read_run(in, out.first, out.count, kLacksMax);
  return in.finish();
}

std::size_t encode_lacks(const Header& header, const Lacks& in, ByteSpan packet) {
  Writer out(packet);
  write_paxos_header(out, PaxosKind::lacks, header);
  out.u(in.view);
  out.u(in.first);
  out.u(in.count);
  return finish(out, packet, header.checksum);
}

}  // namespace peal::wire
