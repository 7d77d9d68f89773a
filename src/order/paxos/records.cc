// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/records.h"

#include "base/assert.h"
#include "wire/byte_reader.h"
#include "wire/writer.h"

namespace peal::order::paxos {
namespace {

constexpr std::size_t kFixedBytesMax = 256;
constexpr std::size_t kMemberBytes = wire::kViewMemberBytes + 8;
constexpr std::size_t kNodeBytes = 4;
constexpr std::size_t kRangeBytes = 17;
constexpr std::size_t kTakenBytes = 8 + 12;
constexpr std::size_t kStartBytes = 8 + 8;

void write_ranges(wire::Writer& out, const std::vector<Record::Range>& ranges) {
  PEAL_ASSERT(ranges.size() <= Record::kRangesMax);
  out.u(static_cast<std::uint8_t>(ranges.size()));
  for (const Record::Range& range : ranges) {
    out.u(range.first);
    out.u(range.end);
    out.u(static_cast<std::uint8_t>(range.again));
  }
}

void read_ranges(wire::ByteReader& in, std::vector<Record::Range>& out) {
  out.clear();
  const auto count = in.u<std::uint8_t>();
  in.require(count <= Record::kRangesMax, wire::Drop::count_too_large);
  for (std::uint8_t i = 0; i < count && !in.failed(); ++i) {
    Record::Range range;
    range.first = wire::read_counter(in);
    range.end = wire::read_counter(in);
    const auto again = in.u<std::uint8_t>();
    range.again = again != 0;
    in.require(again <= 1 && range.first >= 1 && range.first < range.end, wire::Drop::bad_value);
    out.push_back(range);
  }
}

void write_starts(wire::Writer& out, const std::vector<Record::Start>& starts) {
  PEAL_ASSERT(starts.size() <= Record::kStartsMax);
  out.u(static_cast<std::uint8_t>(starts.size()));
  for (const Record::Start& start : starts) {
    out.u(start.epoch);
    out.u(start.at.value);
  }
}

void read_starts(wire::ByteReader& in, std::vector<Record::Start>& out) {
  const auto count = in.u<std::uint8_t>();
  in.require(count <= Record::kStartsMax, wire::Drop::count_too_large);
  out.clear();
  for (std::uint8_t i = 0; i < count && !in.failed(); ++i) {
    Record::Start start;
    start.epoch = in.u<std::uint64_t>();
    start.at.value = in.u<std::uint64_t>();
    const bool later = start.at.value > (out.empty() ? 0 : out.back().at.value);
    in.require(start.epoch != 0 && later, wire::Drop::bad_value);
    out.push_back(start);
  }
}

void write_taken(wire::Writer& out, const Record& record) {
  PEAL_ASSERT(record.lives.lives.size() == record.heard.size());
  out.u(record.lives.list);
  out.count(record.heard.size(), wire::kMembersMax);
  for (std::size_t i = 0; i < record.heard.size(); ++i) {
    out.u(record.lives.lives[i]);
    out.member(record.heard[i]);
  }
}

void read_taken(wire::ByteReader& in, Record& out) {
  out.lives.list = in.u<std::uint64_t>();
  out.lives.lives.clear();
  out.heard.clear();
  const auto count = in.u<std::uint16_t>();
  in.require(out.lives.list != 0 && count >= 1 && count <= wire::kMembersMax,
             wire::Drop::bad_value);
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    out.lives.lives.push_back(in.u<std::uint64_t>());
    out.heard.push_back(wire::read_member(in));
    const bool sorted = i == 0 || out.heard[i - 1].node < out.heard[i].node;
    in.require(out.lives.lives.back() != 0 && sorted, wire::Drop::bad_value);
  }
}

/// Writes a round, or that there is no round.
void write_any_round(wire::Writer& out, const wire::Round& round) {
  out.u(static_cast<std::uint8_t>(round.count != 0));
  if (round.count != 0) wire::write_round(out, round);
}

wire::Round read_any_round(wire::ByteReader& in) {
  return in.u<std::uint8_t>() != 0 ? wire::read_round(in) : wire::Round{};
}

void write_value_front(wire::Writer& out, const Record& record) {
  out.u(record.instance);
  wire::write_value_head(out, record.head);
}

void read_value(wire::ByteReader& in, Record& out) {
  out.instance = wire::read_counter(in);
  out.head = wire::read_value_head(in);
  out.bytes = in.bytes(in.remaining());
  in.require(out.instance >= 1, wire::Drop::bad_value);
}

}  // namespace

void write_record(const Record& record, std::vector<std::byte>& bytes) {
  write_record_head(record, bytes);
  bytes.insert(bytes.end(), record.bytes.begin(), record.bytes.end());
}

void write_record_head(const Record& record, std::vector<std::byte>& bytes) {
  bytes.resize(kFixedBytesMax + record.state.members.size() * kMemberBytes +
               record.state.nodes.all.size() * kNodeBytes +
               record.state.nodes.lives.size() * sizeof(std::uint64_t) +
               record.kept.size() * kRangeBytes + record.starts.size() * kStartBytes +
               record.heard.size() * kTakenBytes);
  wire::Writer out(bytes);
  out.u(static_cast<std::uint8_t>(record.kind));
  switch (record.kind) {
    case Record::Kind::promise: wire::write_round(out, record.round); break;
    case Record::Kind::vote:
      wire::write_round(out, record.round);
      write_value_front(out, record);
      break;
    case Record::Kind::decided: write_value_front(out, record); break;
    case Record::Kind::checkpoint:
      write_any_round(out, record.round);
      out.u(record.instance);
      write_ranges(out, record.kept);
      write_starts(out, record.starts);
      wire::write_checkpoint(out, record.state);
      break;
    case Record::Kind::taken: write_taken(out, record); break;
    case Record::Kind::started: out.u(record.epoch); break;
    case Record::Kind::put_back: break;
    case Record::Kind::kept:
      write_any_round(out, record.round);
      write_value_front(out, record);
      break;
  }
  PEAL_ASSERT(!out.failed());
  bytes.resize(out.written());
}

bool read_record(ByteView bytes, Record& out) {
  wire::ByteReader in(bytes);
  const auto kind = in.u<std::uint8_t>();
  out.kind = static_cast<Record::Kind>(kind);
  switch (out.kind) {
    case Record::Kind::promise: out.round = wire::read_round(in); break;
    case Record::Kind::vote:
      out.round = wire::read_round(in);
      read_value(in, out);
      break;
    case Record::Kind::decided: read_value(in, out); break;
    case Record::Kind::checkpoint:
      out.round = read_any_round(in);
      out.instance = wire::read_counter(in);
      read_ranges(in, out.kept);
      read_starts(in, out.starts);
      wire::read_checkpoint(in, out.state);
      in.require(out.instance <= out.state.next, wire::Drop::bad_value);
      break;
    case Record::Kind::taken: read_taken(in, out); break;
    case Record::Kind::started:
      out.epoch = in.u<std::uint64_t>();
      in.require(out.epoch != 0, wire::Drop::bad_value);
      break;
    case Record::Kind::put_back: break;
    case Record::Kind::kept:
      out.round = read_any_round(in);
      read_value(in, out);
      break;
    default: return false;
  }
  return in.finish() == wire::Drop::none;
}

}  // namespace peal::order::paxos
