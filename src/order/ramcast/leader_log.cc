// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/leader_log.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ramcast {
namespace {

constexpr std::uint64_t kGrantMask = (1ULL << 40) - 1;

}  // namespace

std::size_t log_entry_bytes_max(const Options& options) {
  const std::size_t unit = std::max<std::size_t>(options.inline_bytes, wire::kDomainViewBytesMax);
  return wire::log_entry_bytes(wire::kDomainsMax, unit);
}

LeaderLog::LeaderLog(const Parts& parts, Links& links) : parts_(parts), links_(links) {
  if (!parts.serves()) return;
  streams_.resize(parts.layout.nodes());
  for (const NodeIndex member : parts.layout.servers(parts.domain)) {
    if (member != parts.index)
      streams_[member].image.resize(bytes_of(Area::log, parts.options, parts.layout));
  }
  scratch_.resize(log_entry_bytes_max(parts.options));
}

void LeaderLog::begin(const wire::Round& round, std::uint32_t seed) {
  end();
  round_ = round;
  seed_ = seed;
  last_ = kFirstEntry - 1;
}

void LeaderLog::end() {
  for (NodeIndex member = 0; member < streams_.size(); ++member) drop(member);
}

void LeaderLog::drop(NodeIndex member) {
  Stream& stream = streams_[member];
  stream.grant = 0;
  stream.placed = stream.processed = stream.base_up_to = 0;
  stream.unsent.clear();
  stream.under_way.clear();
}

bool LeaderLog::is_current(NodeIndex member, std::uint64_t value) const {
  const std::uint64_t grant = streams_[member].grant;
  return grant != 0 && value == (grant & kGrantMask);
}

void LeaderLog::grant(NodeIndex member, std::uint64_t grant) {
  Stream& stream = streams_[member];
  stream.grant = grant;
  stream.stale = stream.based = false;
  stream.number = stream.tail = stream.sent = stream.consumed = 0;
  stream.placed = stream.processed = 0;
  stream.unsent.clear();
  stream.under_way.clear();
}

ByteView LeaderLog::encode(const wire::LogEntry& entry, ByteView unit) {
  const std::size_t bytes = wire::encode_log_entry(entry, unit, seed_, scratch_);
  PEAL_ASSERT(bytes > 0);
  return ByteView(scratch_).first(bytes);
}

void LeaderLog::base(NodeIndex member, wire::LogEntry& entry, ByteView unit) {
  Stream& stream = streams_[member];
  PEAL_ASSERT(stream.grant != 0 && !stream.based);
  entry.number = ++stream.number;
  entry.round = round_;
  PEAL_ASSERT(entry.number < kFirstEntry);
  push(stream, entry, encode(entry, unit), 0);
}

void LeaderLog::end_base(NodeIndex member, wire::LogEntry& entry, ByteView view) {
  entry.kind = wire::LogKind::base_end;
  entry.key = last_ + 1;
  base(member, entry, view);
  Stream& stream = streams_[member];
  stream.based = true;
  stream.base_up_to = last_;
  if (!stream.unsent.empty()) stream.unsent[stream.unsent.size() - 1].entry = last_;
}

bool LeaderLog::fits(const Stream& stream, std::size_t bytes) const {
  const std::uint64_t region = bytes_of(Area::log, parts_.options, parts_.layout);
  // In the worst case the entry begins at the begin of the region, behind a pad of its own size.
  return stream.tail + 2 * bytes + wire::kLogFixedBytes <= stream.consumed + region;
}

bool LeaderLog::takes(const Stream& stream, std::size_t bytes) const {
  return stream.grant != 0 && stream.based && !stream.stale && fits(stream, bytes);
}

bool LeaderLog::has_room(std::size_t bytes) const {
  unsigned with_room = 1;
  for (const NodeIndex member : parts_.layout.servers(parts_.domain)) {
    if (member == parts_.index) continue;
    if (takes(streams_[member], bytes)) ++with_room;
  }
  return with_room >= parts_.quorum();
}

bool LeaderLog::has_room_at(NodeIndex member) const {
  return takes(streams_[member], log_entry_bytes_max(parts_.options));
}

std::uint64_t LeaderLog::append(wire::LogEntry& entry, ByteView unit) {
  entry.number = ++last_;
  entry.round = round_;
  const ByteView bytes = encode(entry, unit);
  for (const NodeIndex member : parts_.layout.servers(parts_.domain)) {
    if (member == parts_.index) continue;
    Stream& stream = streams_[member];
    if (stream.grant != 0 && stream.based) push(stream, entry, bytes, entry.number);
  }
  return last_;
}

/// Appends the entry to the member's image of the log, behind a pad if it does not fit at the end
/// of the region.
void LeaderLog::push(Stream& stream, const wire::LogEntry& entry, ByteView bytes,
                     std::uint64_t counts_as) {
  if (stream.stale) return;
  if (!fits(stream, bytes.size())) {
    stream.stale = true;
    return;
  }
  const std::uint64_t region = bytes_of(Area::log, parts_.options, parts_.layout);
  stream.tail = entry_offset(stream.tail, region);
  const std::uint64_t left = region - stream.tail % region;
  if (left < bytes.size()) {
    wire::encode_log_pad(entry.number, round_, seed_,
                         ByteSpan(stream.image).subspan(stream.tail % region, left));
    stream.tail += left;
    stream.unsent.push_back({stream.tail, 0});
  }
  std::copy(bytes.begin(), bytes.end(),
            stream.image.begin() + static_cast<std::ptrdiff_t>(stream.tail % region));
  stream.tail += bytes.size();
  stream.unsent.push_back({stream.tail, counts_as});
}

void LeaderLog::flush() {
  if (round_ == wire::Round{}) return;
  const std::uint64_t region = bytes_of(Area::log, parts_.options, parts_.layout);
  for (const NodeIndex member : parts_.layout.servers(parts_.domain)) {
    if (member == parts_.index || !links_.open(member)) continue;
    Stream& stream = streams_[member];
    while (stream.grant != 0 && !stream.unsent.empty()) {
      stream.sent = entry_offset(stream.sent, region);
      const std::uint64_t lap_end = (stream.sent / region + 1) * region;
      std::uint64_t end = stream.sent, last = 0;
      while (!stream.unsent.empty() && stream.unsent.front().end <= lap_end) {
        end = stream.unsent.front().end;
        last = std::max(last, stream.unsent.front().entry);
        stream.unsent.pop_front();
      }
      PEAL_ASSERT(end > stream.sent);
      links_.write(member, Area::log, stream.sent % region,
                   ByteView(stream.image).subspan(stream.sent % region, end - stream.sent),
                   stream.grant & kGrantMask, port::Epoch{stream.grant});
      stream.under_way.push_back(last);
      stream.sent = end;
    }
  }
}

/// What was under way when the link failed is written again, if the member has not read it.
void LeaderLog::on_open(NodeIndex member) {
  if (streams_.empty()) return;
  Stream& stream = streams_[member];
  if (stream.grant == 0) return;
  std::uint64_t last = stream.placed;
  for (std::size_t i = 0; i < stream.under_way.size(); ++i) {
    last = std::max(last, stream.under_way[i]);
  }
  stream.under_way.clear();
  if (stream.sent == stream.consumed) return;
  // One piece for each lap of the region; the entries count once all of it is there.
  const std::uint64_t region = bytes_of(Area::log, parts_.options, parts_.layout);
  RingQueue<Piece> again;
  const std::uint64_t lap_end = (stream.consumed / region + 1) * region;
  if (lap_end < stream.sent) again.push_back({lap_end, 0});
  again.push_back({stream.sent, last});
  for (std::size_t i = 0; i < stream.unsent.size(); ++i) again.push_back(stream.unsent[i]);
  stream.unsent = std::move(again);
  stream.sent = stream.consumed;
}

void LeaderLog::on_done(NodeIndex member, std::uint64_t value) {
  Stream& stream = streams_[member];
  if (!is_current(member, value) || stream.under_way.empty()) return;
  stream.placed = std::max(stream.placed, stream.under_way.front());
  stream.under_way.pop_front();
}

bool LeaderLog::on_consumed(NodeIndex member, std::uint64_t grant, std::uint64_t bytes,
                            std::uint64_t entry) {
  Stream& stream = streams_[member];
  if (stream.grant == 0 || grant != stream.grant) return true;
  // After a broken connection `sent` begins again with what was known to be read.
  if (bytes > stream.tail || entry > last_) return false;
  stream.consumed = std::max(stream.consumed, bytes);
  if (entry >= kFirstEntry - 1) stream.processed = std::max(stream.processed, entry);
  return true;
}

unsigned LeaderLog::holders(std::uint64_t entry, unsigned at_once) const {
  unsigned bits = 1U << parts_.place;
  for (const NodeIndex member : parts_.layout.servers(parts_.domain)) {
    if (member == parts_.index) continue;
    const Stream& stream = streams_[member];
    if (stream.grant == 0 || !stream.based) continue;
    const Place place = parts_.layout.role(member).place;
    const bool takes = ((at_once >> place) & 1U) != 0;
    const bool based = stream.processed >= kFirstEntry - 1;
    const bool placed = parts_.options.fast && takes && based;
    const bool any = parts_.options.fast && PEAL_MUTANT(rc_placed_is_held);
    // A member that has processed the entry has it, also if the write's completion was lost.
    const bool there = (placed || any) && stream.placed >= entry;
    if (there || stream.processed >= entry) bits |= 1U << place;
  }
  return bits;
}

unsigned LeaderLog::holders_of_unit(std::uint64_t entry, unsigned at_once) const {
  unsigned bits = holders(entry, at_once);
  for (const NodeIndex member : parts_.layout.servers(parts_.domain)) {
    const bool by_base = member != parts_.index && streams_[member].base_up_to >= entry;
    if (by_base && !PEAL_MUTANT(rc_base_has_units)) {
      bits &= ~(1U << parts_.layout.role(member).place);
    }
  }
  return bits;
}

}  // namespace peal::order::ramcast
