// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "wire/frames.h"
#include "wire/packet.h"

namespace peal::wire {
namespace {

bool contains(const std::vector<MemberId>& sorted, const MemberId& member) {
  return std::binary_search(sorted.begin(), sorted.end(), member);
}

bool is_subset(const std::vector<MemberId>& part, const std::vector<MemberId>& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

template <std::size_t Max>
void append(FixedVector<std::byte, Max>& to, ByteView bytes) {
  for (const std::byte each : bytes) to.push_back(each);
}

template <std::size_t Max>
ByteView view_of(const FixedVector<std::byte, Max>& bytes) {
  return {bytes.begin(), bytes.size()};
}

void read_old_view(ByteReader& in, const std::vector<MemberId>& members, const CommitFormat& format,
                   OldView& out) {
  out.view = read_any_view(in);
  in.require(out.view != ViewId{}, Drop::bad_value);
  const ByteView fields = in.bytes(format.head_bytes - format.counts_bytes);
  const auto survivors = in.u<std::uint16_t>();
  const ByteView counts = in.bytes(format.counts_bytes);
  if (in.failed()) return;
  FixedVector<std::byte, kRecordHeadMax> head;
  append(head, fields);
  append(head, counts);
  if (const Drop bad = format.check_head(view_of(head)); bad != Drop::none) return in.reject(bad);
  const std::optional<std::size_t> tail_bytes = format.tail_bytes(view_of(head));
  if (!tail_bytes) return in.reject(Drop::count_too_large);
  read_members(in, survivors, kMembersMax, out.survivors);
  if (in.failed()) return;
  in.require(!out.survivors.empty() && is_subset(out.survivors, members), Drop::bad_value);
  const ByteView tail = in.bytes(*tail_bytes);
  if (in.failed()) return;
  if (const Drop bad = format.check_tail(view_of(head), tail); bad != Drop::none) {
    return in.reject(bad);
  }
  out.record.reserve(head.size() + tail.size());
  out.record.assign(head.begin(), head.end());
  out.record.insert(out.record.end(), tail.begin(), tail.end());
}

/// True if a member is listed as a survivor of both old views.
bool overlap(const OldView& a, const OldView& b) {
  return std::any_of(a.survivors.begin(), a.survivors.end(),
                     [&](const MemberId& member) { return contains(b.survivors, member); });
}

void read_old_views(ByteReader& in, const CommitFormat& format, Commit& out) {
  out.old_views.clear();
  const auto count = in.u<std::uint16_t>();
  // Each old view has a survivor of its own, so there are at most as many old views as members.
  in.require(count <= out.members.size(), Drop::count_too_large);
  // Every old view has at least a view id, the head of a record, and the count of survivors.
  const std::size_t least = kViewBytes + format.head_bytes + sizeof(std::uint16_t);
  if (in.failed() || !in.holds(count, least)) return;
  out.old_views.reserve(count);
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    OldView& added = out.old_views.emplace_back();
    read_old_view(in, out.members, format, added);
    for (std::uint16_t j = 0; j < i && !in.failed(); ++j) {
      in.require(out.old_views[j].view != added.view, Drop::not_sorted);
      in.require(!overlap(out.old_views[j], added), Drop::bad_value);
    }
  }
}

void write_old_view(Writer& out, const OldView& in, const CommitFormat& format) {
  const ByteView record(in.record);
  if (record.size() < format.head_bytes) return out.fail();
  const ByteView head = record.first(format.head_bytes);
  const ByteView tail = record.subspan(format.head_bytes);
  if (format.tail_bytes(head) != tail.size()) return out.fail();
  out.view(in.view);
  out.bytes(head.first(head.size() - format.counts_bytes));
  out.count(in.survivors.size(), kMembersMax);
  out.bytes(head.last(format.counts_bytes));
  out.members(in.survivors);
  out.bytes(tail);
}

}  // namespace

Drop decode_join(ByteView packet, Join& out) {
  ByteReader in = body_of(packet);
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

Drop decode_commit(ByteView packet, const CommitFormat& format, Commit& out) {
  ByteReader in = body_of(packet);
  out.view = read_formed_view(in);
  out.hops = in.u<std::uint32_t>();
  const ByteView options = in.bytes(format.options_bytes);
  out.list = in.u<std::uint64_t>();
  if (in.failed()) return in.finish();
  if (const Drop bad = format.check_options(options); bad != Drop::none) return bad;
  out.options.clear();
  append(out.options, options);
  const auto members = in.u<std::uint16_t>();
  read_members(in, members, kMembersMax, out.members);
  in.require(!out.members.empty(), Drop::bad_value);
  in.require(out.hops <= 2 * std::uint64_t{members}, Drop::bad_value);
  read_old_views(in, format, out);
  return in.finish();
}

std::size_t encode_commit(const Header& header, const Commit& in, const CommitFormat& format,
                          ByteSpan packet) {
  Writer out(packet);
  if (in.options.size() != format.options_bytes) out.fail();
  write_header(out, FrameKind::commit, header);
  out.view(in.view);
  out.u(in.hops);
  out.bytes(view_of(in.options));
  out.u(in.list);
  out.count(in.members.size(), kMembersMax);
  out.members(in.members);
  out.count(in.old_views.size(), kMembersMax);
  for (const OldView& old : in.old_views) write_old_view(out, old, format);
  return finish(out, packet, header.checksum);
}

Drop decode_probe(ByteView packet, ProbeFrame& out) {
  ByteReader in = body_of(packet);
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
  ByteReader in = body_of(packet);
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
  ByteReader in = body_of(packet);
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
