// SPDX-License-Identifier: Apache-2.0
#include "wire/paxos.h"

#include <algorithm>

#include "base/assert.h"
#include "wire/packet.h"
#include "wire/paxos_value.h"

namespace peal::wire {
namespace {

constexpr std::size_t kRoundBytes = 20;
constexpr std::size_t kRunBytes = 8 + 4 + kRoundBytes;
constexpr std::uint8_t kLeading = 1;
constexpr std::uint8_t kLeaving = 2;
constexpr std::uint8_t kJoined = 4;
constexpr std::uint8_t kVisiting = 8;
constexpr std::uint8_t kAsks = 16;
constexpr std::uint8_t kMisses = 32;
constexpr std::uint8_t kDiskHangs = 64;
constexpr std::uint8_t kAppFull = 128;
constexpr std::uint8_t kOwn = 1;

/// Reads a round, or no round (all fields zero).
Round read_any_round(ByteReader& in) {
  Round round;
  round.count = read_counter(in);
  round.coordinator.node.value = in.u<std::uint32_t>();
  round.coordinator.epoch = in.u<std::uint64_t>();
  const std::uint32_t node = round.coordinator.node.value;
  in.require(round == Round{} || (round.count >= 1 && node >= 1 && node <= kNodeMax),
             Drop::bad_value);
  return round;
}

PaxosKind kind_of(ByteView packet) {
  ByteReader in(packet);
  in.skip(3);
  return static_cast<PaxosKind>(in.u<std::uint8_t>());
}

}  // namespace

Round read_round(ByteReader& in) {
  const Round round = read_any_round(in);
  in.require(round.count >= 1, Drop::bad_value);
  return round;
}

void write_round(Writer& out, const Round& round) {
  out.u(round.count);
  out.member(round.coordinator);
}

Drop decode_value(ByteView packet, ValueFrame& out) {
  if (packet.size() < kDataHeaderBytes) return Drop::truncated;
  ByteReader in = body_of(packet.first(kDataHeaderBytes));
  const PaxosKind kind = kind_of(packet);
  out.count = read_counter(in);
  out.instance = read_counter(in);
  out.behind = in.u<std::uint32_t>();
  out.head = read_value_head(in);
  const bool proposed = kind == PaxosKind::propose;
  const bool stamped = kind == PaxosKind::submit && out.count <= kEarlyStampMax;
  in.require((out.count >= 1) == proposed || stamped, Drop::bad_value);
  in.require(proposed || out.behind == 0, Drop::bad_value);
  in.require((out.instance >= 1) == (kind != PaxosKind::submit), Drop::bad_value);
  in.require(out.behind < out.instance || out.behind == 0, Drop::bad_value);
  in.require(kind != PaxosKind::submit || out.head.kind == ValueKind::unit, Drop::bad_value);
  require_value(in, out.head.kind, packet.subspan(kDataHeaderBytes));
  return in.finish();
}

void encode_value_in_place(const Header& header, PaxosKind kind, const ValueFrame& in,
                           ByteSpan packet) {
  PEAL_ASSERT(packet.size() >= kDataHeaderBytes && packet.size() <= kPacketBytesMax);
  Writer out(packet.first(kDataHeaderBytes));
  write_paxos_header(out, kind, header);
  out.u(in.count);
  out.u(in.instance);
  out.u(in.behind);
  write_value_head(out, in.head);
  PEAL_ASSERT(!out.failed() && out.written() == kDataHeaderBytes);
  complete(packet, header.checksum);
}

Drop decode_state(ByteView packet, State& out) {
  ByteReader in = body_of(packet);
  out.round = read_any_round(in);
  const auto flags = in.u<std::uint8_t>();
  out.leading = (flags & kLeading) != 0;
  out.leaving = (flags & kLeaving) != 0;
  out.joined = (flags & kJoined) != 0;
  out.visiting = (flags & kVisiting) != 0;
  out.asks = (flags & kAsks) != 0;
  out.misses = (flags & kMisses) != 0;
  out.disk_hangs = (flags & kDiskHangs) != 0;
  out.app_full = (flags & kAppFull) != 0;
  out.voted_round = read_any_round(in);
  out.voted_upto = read_counter(in);
  out.decided_upto = read_counter(in);
  out.next = read_counter(in);
  out.oldest = read_counter(in);
  out.view = read_counter(in);
  out.list = in.u<std::uint64_t>();
  out.first_list = in.u<std::uint64_t>();
  out.next_list = in.u<std::uint64_t>();
  out.from = read_counter(in);
  out.beat = in.u<std::uint32_t>();
  const auto fitness = in.u<std::uint8_t>();
  in.require(fitness <= static_cast<std::uint8_t>(Fitness::chosen), Drop::bad_value);
  out.fitness = static_cast<Fitness>(fitness);
  out.life = in.u<std::uint64_t>();
  out.log = read_counter(in);
  const auto log_word = in.u<std::uint8_t>();
  in.require(log_word <= static_cast<std::uint8_t>(LogWord::put_back), Drop::bad_value);
  out.log_word = static_cast<LogWord>(log_word);
  const bool has_log = (out.life & kLogBit) != 0;
  in.require(has_log || (out.log == 0 && out.log_word == LogWord::sure), Drop::bad_value);
  for (std::uint64_t& word : out.unheard.words()) word = in.u<std::uint64_t>();
  in.require(out.next != 0 || out.unheard.empty(), Drop::bad_value);
  in.require(out.voted_round <= out.round, Drop::bad_value);
  in.require(out.voted_round.count != 0 || out.voted_upto == 0, Drop::bad_value);
  in.require(out.decided_upto <= out.voted_upto, Drop::bad_value);
  in.require(out.oldest <= out.next, Drop::bad_value);
  in.require(out.list <= kListMax && (out.next != 0 || out.list == 0), Drop::bad_value);
  in.require(!out.joined || (out.view != 0 && out.next != 0), Drop::bad_value);
  in.require(!out.leading || (out.round.count != 0 && out.round.coordinator == sender_of(packet)),
             Drop::bad_value);
  return in.finish();
}

std::size_t encode_state(const Header& header, const State& in, ByteSpan packet) {
  Writer out(packet);
  write_paxos_header(out, PaxosKind::state, header);
  write_round(out, in.round);
  const int flags = (in.leading ? kLeading : 0) | (in.leaving ? kLeaving : 0) |
                    (in.joined ? kJoined : 0) | (in.visiting ? kVisiting : 0) |
                    (in.asks ? kAsks : 0) | (in.misses ? kMisses : 0) |
                    (in.disk_hangs ? kDiskHangs : 0) | (in.app_full ? kAppFull : 0);
  out.u(static_cast<std::uint8_t>(flags));
  write_round(out, in.voted_round);
  out.u(in.voted_upto);
  out.u(in.decided_upto);
  out.u(in.next);
  out.u(in.oldest);
  out.u(in.view);
  out.u(in.list);
  out.u(in.first_list);
  out.u(in.next_list);
  out.u(in.from);
  out.u(in.beat);
  out.u(static_cast<std::uint8_t>(in.fitness));
  out.u(in.life);
  out.u(in.log);
  out.u(static_cast<std::uint8_t>(in.log_word));
  for (const std::uint64_t word : in.unheard.words()) out.u(word);
  return finish(out, packet, header.checksum);
}

Drop decode_link_check(ByteView packet, LinkCheck& out) {
  ByteReader in = body_of(packet);
  out.number = in.u<std::uint32_t>();
  in.require(out.number >= 1, Drop::bad_value);
  const ByteView rest = in.bytes(in.remaining());
  const bool zeros =
      std::all_of(rest.begin(), rest.end(), [](std::byte each) { return each == std::byte{0}; });
  in.require(zeros, Drop::bad_value);
  out.bytes = static_cast<std::uint32_t>(packet.size());
  return in.finish();
}

std::size_t encode_link_check(const Header& header, const LinkCheck& in, ByteSpan packet) {
  PEAL_ASSERT(in.bytes >= kLinkCheckHeaderBytes);
  if (packet.size() < in.bytes) return 0;
  packet = packet.first(in.bytes);
  Writer out(packet);
  write_paxos_header(out, PaxosKind::link_check, header);
  out.u(in.number);
  std::fill(packet.begin() + kLinkCheckHeaderBytes, packet.end(), std::byte{0});
  complete(packet, header.checksum);
  return in.bytes;
}

Drop decode_prepare(ByteView packet, Prepare& out) {
  ByteReader in = body_of(packet);
  out.count = read_instance(in);
  out.from = read_instance(in);
  return in.finish();
}

std::size_t encode_prepare(const Header& header, const Prepare& in, ByteSpan packet) {
  Writer out(packet);
  write_paxos_header(out, PaxosKind::prepare, header);
  out.u(in.count);
  out.u(in.from);
  return finish(out, packet, header.checksum);
}

Drop decode_promise(ByteView packet, Promise& out) {
  ByteReader in = body_of(packet);
  out.round = read_round(in);
  out.next = read_counter(in);
  out.runs.clear();
  const auto count = in.u<std::uint16_t>();
  in.require(count <= kVoteRunsMax, Drop::count_too_large);
  if (in.failed() || !in.holds(count, kRunBytes)) return in.finish();
  out.runs.reserve(count);
  Instance free = std::max<Instance>(out.next, 1);
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    VoteRun run;
    run.first = read_instance(in);
    run.length = in.u<std::uint32_t>();
    run.round = read_round(in);
    in.require(run.length >= 1 && run.length <= kVotesMax, Drop::bad_value);
    in.require(run.first >= free, Drop::not_sorted);
    in.require(run.round <= out.round, Drop::bad_value);
    // Adjacent runs of one round must be merged, because every frame has exactly one encoding.
    in.require(out.runs.empty() || run.first != free || out.runs.back().round != run.round,
               Drop::bad_value);
    free = run.first + run.length;
    in.require(free <= kCounterMax, Drop::bad_value);
    out.runs.push_back(run);
  }
  return in.finish();
}

std::size_t encode_promise(const Header& header, const Promise& in, ByteSpan packet) {
  Writer out(packet);
  write_paxos_header(out, PaxosKind::promise, header);
  write_round(out, in.round);
  out.u(in.next);
  out.count(in.runs.size(), kVoteRunsMax);
  for (const VoteRun& run : in.runs) {
    out.u(run.first);
    out.u(run.length);
    write_round(out, run.round);
  }
  return finish(out, packet, header.checksum);
}

Drop decode_relay(ByteView packet, Relay& out) {
  if (packet.size() < kRelayHeaderBytes) return Drop::truncated;
  ByteReader in = body_of(packet.first(kRelayHeaderBytes));
  out.round = read_round(in);
  out.instance = read_instance(in);
  out.behind = in.u<std::uint32_t>();
  out.chain = in.u<std::uint16_t>();
  const auto flags = in.u<std::uint8_t>();
  in.require((flags & ~kOwn) == 0, Drop::bad_value);
  out.own = (flags & kOwn) != 0;
  out.head = read_value_head(in);
  in.require(out.behind < out.instance, Drop::bad_value);
  in.require(out.chain != 0, Drop::bad_value);
  const ByteView value = packet.subspan(kRelayHeaderBytes);
  in.require(!out.own || out.head.kind == ValueKind::unit, Drop::bad_value);
  in.require(!out.own || value.empty(), Drop::trailing_bytes);
  require_value(in, out.head.kind, value);
  return in.finish();
}

void encode_relay_in_place(const Header& header, PaxosKind kind, const Relay& in, ByteSpan packet) {
  PEAL_ASSERT(packet.size() >= kRelayHeaderBytes && packet.size() <= kPacketBytesMax);
  Writer out(packet.first(kRelayHeaderBytes));
  write_paxos_header(out, kind, header);
  write_round(out, in.round);
  out.u(in.instance);
  out.u(in.behind);
  out.u(in.chain);
  out.u(in.own ? kOwn : std::uint8_t{0});
  write_value_head(out, in.head);
  PEAL_ASSERT(!out.failed() && out.written() == kRelayHeaderBytes);
  complete(packet, header.checksum);
}

Drop decode_pass(ByteView packet, Pass& out) {
  ByteReader in = body_of(packet);
  out.key = read_counter(in);
  in.require(out.key >= 1 && out.key <= kStampMax, Drop::bad_value);
  return in.finish();
}

std::size_t encode_pass(const Header& header, const Pass& in, ByteSpan packet) {
  Writer out(packet);
  write_paxos_header(out, PaxosKind::pass, header);
  out.u(in.key);
  return finish(out, packet, header.checksum);
}

Drop decode_lives(ByteView packet, Lives& out) {
  ByteReader in = body_of(packet);
  out.list = in.u<std::uint64_t>();
  in.require(out.list != 0, Drop::bad_value);
  const auto count = in.u<std::uint16_t>();
  in.require(count <= kMembersMax, Drop::count_too_large);
  in.require(count >= 1, Drop::bad_value);
  read_lives(in, in.failed() ? 0 : count, out.lives);
  return in.finish();
}

std::size_t encode_lives(const Header& header, const Lives& in, ByteSpan packet) {
  Writer out(packet);
  write_paxos_header(out, PaxosKind::lives, header);
  out.u(in.list);
  out.count(in.lives.size(), kMembersMax);
  for (const std::uint64_t life : in.lives) out.u(life);
  return finish(out, packet, header.checksum);
}

Drop decode_log_answer(ByteView packet, LogAnswer& out) {
  ByteReader in = body_of(packet);
  out.heard.clear();
  out.asker = in.u<std::uint64_t>();
  out.life = in.u<std::uint64_t>();
  in.require(out.asker != 0 && (out.life & kLogBit) != 0, Drop::bad_value);
  const auto count = in.u<std::uint16_t>();
  in.require(count <= kLogsHeardMax, Drop::count_too_large);
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    LogHeard heard;
    heard.epoch = in.u<std::uint64_t>();
    heard.position = read_counter(in);
    const bool after = out.heard.empty() || out.heard.back().epoch < heard.epoch;
    in.require(heard.epoch != 0 && heard.position != 0 && after, Drop::bad_value);
    in.require(heard.epoch < out.asker, Drop::bad_value);
    out.heard.push_back(heard);
  }
  return in.finish();
}

std::size_t encode_log_answer(const Header& header, const LogAnswer& in, ByteSpan packet) {
  Writer out(packet);
  write_paxos_header(out, PaxosKind::log_heard, header);
  out.u(in.asker);
  out.u(in.life);
  out.count(in.heard.size(), kLogsHeardMax);
  for (const LogHeard& heard : in.heard) {
    out.u(heard.epoch);
    out.u(heard.position);
  }
  return finish(out, packet, header.checksum);
}

Drop decode_checkpoint_get(ByteView packet) { return body_of(packet).finish(); }

std::size_t encode_checkpoint_get(const Header& header, ByteSpan packet) {
  Writer out(packet);
  write_paxos_header(out, PaxosKind::checkpoint_get, header);
  return finish(out, packet, header.checksum);
}

Drop decode_checkpoint(ByteView packet, Checkpoint& out) {
  ByteReader in = body_of(packet);
  read_checkpoint(in, out);
  return in.finish();
}

std::size_t encode_checkpoint(const Header& header, const Checkpoint& in, ByteSpan packet) {
  Writer out(packet);
  write_paxos_header(out, PaxosKind::checkpoint, header);
  write_checkpoint(out, in);
  return finish(out, packet, header.checksum);
}

}  // namespace peal::wire
