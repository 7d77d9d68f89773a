// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "wire/frames.h"
#include "wire/packet.h"

namespace peal::wire {
namespace {

// View, base, high, safe and two counts: what every old view takes at least.
constexpr std::size_t kOldViewBytes = kViewBytes + 3 * 8 + 2 * 2;
constexpr std::uint64_t kWordBits = 64;

bool contains(const std::vector<MemberId>& sorted, const MemberId& member) {
  return std::binary_search(sorted.begin(), sorted.end(), member);
}

bool is_subset(const std::vector<MemberId>& part, const std::vector<MemberId>& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

void read_have(Reader& in, OldView& out) {
  out.have.clear();
  const std::uint64_t span = out.high - out.base;
  const std::uint64_t words = (span + kWordBits - 1) / kWordBits;
  if (!in.holds(words, sizeof(std::uint64_t))) return;
  out.have.reserve(words);
  for (std::uint64_t i = 0; i < words; ++i) out.have.push_back(in.u<std::uint64_t>());
  const std::uint64_t used = span % kWordBits;
  if (used != 0) in.require(out.have.back() >> used == 0, Drop::bad_value);
}

void read_old_view(Reader& in, const std::vector<MemberId>& members, OldView& out) {
  out.view = read_any_view(in);
  in.require(out.view != ViewId{}, Drop::bad_value);
  out.base = read_counter(in);
  out.high = read_counter(in);
  out.safe = read_counter(in);
  in.require(out.safe <= out.base && out.base <= out.high, Drop::bad_value);
  in.require(out.high - out.base <= kSpanMax, Drop::count_too_large);
  const auto survivors = in.u<std::uint16_t>();
  const auto obligation = in.u<std::uint16_t>();
  read_members(in, survivors, kMembersMax, out.survivors);
  read_members(in, obligation, kMembersMax, out.obligation);
  if (in.failed()) return;
  in.require(!out.survivors.empty() && is_subset(out.survivors, members), Drop::bad_value);
  if (!in.failed()) read_have(in, out);
}

/// True if some member is said to come from two old views.
bool overlap(const OldView& a, const OldView& b) {
  return std::any_of(a.survivors.begin(), a.survivors.end(),
                     [&](const MemberId& member) { return contains(b.survivors, member); });
}

void read_old_views(Reader& in, Commit& out) {
  out.old_views.clear();
  const auto count = in.u<std::uint16_t>();
  // Each has a survivor of its own, so there are no more of them than members.
  in.require(count <= out.members.size(), Drop::count_too_large);
  if (in.failed() || !in.holds(count, kOldViewBytes)) return;
  out.old_views.reserve(count);
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    OldView& added = out.old_views.emplace_back();
    read_old_view(in, out.members, added);
    for (std::uint16_t j = 0; j < i && !in.failed(); ++j) {
      in.require(out.old_views[j].view != added.view, Drop::not_sorted);
      in.require(!overlap(out.old_views[j], added), Drop::bad_value);
    }
  }
}

void write_old_view(Writer& out, const OldView& in) {
  out.view(in.view);
  out.u(in.base);
  out.u(in.high);
  out.u(in.safe);
  out.count(in.survivors.size(), kMembersMax);
  out.count(in.obligation.size(), kMembersMax);
  out.members(in.survivors);
  out.members(in.obligation);
  // The number of words is not on the wire: the positions give it. Another number has no encoding.
  const std::uint64_t span = in.high - in.base;
  if (in.high < in.base || span > kSpanMax) return out.fail();
  if (in.have.size() != (span + kWordBits - 1) / kWordBits) return out.fail();
  for (const std::uint64_t word : in.have) out.u(word);
}

}  // namespace

Drop decode_join(ByteView packet, Join& out) {
  Reader in = body_of(packet);
  out.number = read_counter(in);
  out.committed = read_any_view(in);
  out.view_number_max = read_counter(in);
  out.list = in.u<std::uint64_t>();
  const auto leaving = in.u<std::uint8_t>();
  in.require(leaving <= 1, Drop::bad_value);
  out.leaving = leaving == 1;
  const auto processes = in.u<std::uint16_t>();
  const auto failed = in.u<std::uint16_t>();
  const auto heard = in.u<std::uint16_t>();
  read_members(in, processes, kProcessesMax, out.processes);
  read_members(in, failed, kProcessesMax, out.failed);
  read_members(in, heard, kProcessesMax, out.heard);
  if (in.failed()) return in.finish();
  in.require(is_subset(out.failed, out.processes), Drop::bad_value);
  in.require(!contains(out.failed, sender_of(packet)), Drop::bad_value);
  return in.finish();
}

std::size_t encode_join(const Header& header, const Join& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, FrameKind::join, header);
  out.u(in.number);
  out.view(in.committed);
  out.u(in.view_number_max);
  out.u(in.list);
  out.u(static_cast<std::uint8_t>(in.leaving ? 1 : 0));
  out.count(in.processes.size(), kProcessesMax);
  out.count(in.failed.size(), kProcessesMax);
  out.count(in.heard.size(), kProcessesMax);
  out.members(in.processes);
  out.members(in.failed);
  out.members(in.heard);
  return finish(out, packet, header.checksum);
}

Drop decode_commit(ByteView packet, Commit& out) {
  Reader in = body_of(packet);
  out.view = read_formed_view(in);
  out.hops = in.u<std::uint32_t>();
  out.packet_bytes_max = in.u<std::uint32_t>();
  out.request_lag = in.u<std::uint32_t>();
  out.max_gap = in.u<std::uint32_t>();
  out.list = in.u<std::uint64_t>();
  in.require(out.packet_bytes_max > kDataHeaderBytes && out.packet_bytes_max <= kPacketBytesMax,
             Drop::bad_value);
  in.require(out.max_gap >= 1, Drop::bad_value);
  const auto members = in.u<std::uint16_t>();
  read_members(in, members, kMembersMax, out.members);
  in.require(!out.members.empty(), Drop::bad_value);
  in.require(out.hops <= 2 * std::uint64_t{members}, Drop::bad_value);
  read_old_views(in, out);
  return in.finish();
}

std::size_t encode_commit(const Header& header, const Commit& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, FrameKind::commit, header);
  out.view(in.view);
  out.u(in.hops);
  out.u(in.packet_bytes_max);
  out.u(in.request_lag);
  out.u(in.max_gap);
  out.u(in.list);
  out.count(in.members.size(), kMembersMax);
  out.members(in.members);
  out.count(in.old_views.size(), kMembersMax);
  for (const OldView& old : in.old_views) write_old_view(out, old);
  return finish(out, packet, header.checksum);
}

Drop decode_probe(ByteView packet, ProbeFrame& out) {
  Reader in = body_of(packet);
  out.view = read_any_view(in);
  out.list = in.u<std::uint64_t>();
  const auto heard = in.u<std::uint16_t>();
  read_members(in, heard, kProcessesMax, out.heard);
  return in.finish();
}

std::size_t encode_probe(const Header& header, const ProbeFrame& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, FrameKind::probe, header);
  out.view(in.view);
  out.u(in.list);
  out.count(in.heard.size(), kProcessesMax);
  out.members(in.heard);
  return finish(out, packet, header.checksum);
}

Drop decode_hold_cancel(ByteView packet, HoldCancel& out) {
  Reader in = body_of(packet);
  out.view = read_formed_view(in);
  return in.finish();
}

std::size_t encode_hold_cancel(const Header& header, const HoldCancel& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, FrameKind::hold_cancel, header);
  out.view(in.view);
  return finish(out, packet, header.checksum);
}

Drop decode_epoch_notice(ByteView packet, EpochNotice& out) {
  Reader in = body_of(packet);
  out.newest = read_member(in);
  return in.finish();
}

std::size_t encode_epoch_notice(const Header& header, const EpochNotice& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, FrameKind::epoch_notice, header);
  out.member(in.newest);
  return finish(out, packet, header.checksum);
}

}  // namespace peal::wire
