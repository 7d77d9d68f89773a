// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "wire/frames.h"
#include "wire/packet.h"

namespace peal::wire {
namespace {

constexpr std::size_t kRangeBytes = 16;
constexpr std::size_t kSectionBytes = kViewBytes + 2;
constexpr std::uint64_t kRangeSpan = 64;

std::uint16_t read_index(ByteReader& in) {
  const auto index = in.u<std::uint16_t>();
  in.require(index < kMembersMax || index == kNoIndex, Drop::bad_value);
  return index;
}

RequestRange read_range(ByteReader& in) {
  RequestRange range{};
  range.first = read_counter(in);
  range.bitmap = in.u<std::uint64_t>();
  in.require(range.first >= 1 && (range.bitmap & 1) != 0, Drop::bad_value);
  if (in.failed()) return range;
  const auto last_bit = static_cast<std::uint64_t>(std::bit_width(range.bitmap)) - 1;
  in.require(range.first <= kCounterMax - last_bit, Drop::bad_value);
  return range;
}

void read_section(ByteReader& in, RequestSection& out) {
  out.view = read_formed_view(in);
  const auto count = in.u<std::uint16_t>();
  in.require(count <= kRangesMax, Drop::count_too_large);
  if (in.failed() || !in.holds(count, kRangeBytes)) return;
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    const RequestRange range = read_range(in);
    if (!out.ranges.empty()) {
      const Seq before = out.ranges.back().first;
      in.require(range.first > before && range.first - before >= kRangeSpan, Drop::not_sorted);
    }
    out.ranges.push_back(range);
  }
}

void read_sections(ByteReader& in, Token& out) {
  static const RequestSection kNothing{};
  out.sections.clear();
  const auto count = in.u<std::uint16_t>();
  in.require(count <= kSectionsMax, Drop::count_too_large);
  if (in.failed() || !in.holds(count, kSectionBytes)) return;
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    out.sections.push_back(kNothing);
    RequestSection& section = out.sections.back();
    read_section(in, section);
    for (std::uint16_t j = 0; j < i; ++j) {
      in.require(out.sections[j].view != section.view, Drop::not_sorted);
    }
  }
}

}  // namespace

Drop decode_token(ByteView packet, Token& out) {
  ByteReader in = body_of(packet);
  out.view = read_formed_view(in);
  out.hop = read_counter(in);
  out.seq = read_counter(in);
  out.aru = read_counter(in);
  in.require(out.aru <= out.seq, Drop::bad_value);
  out.aru_index = read_index(in);
  out.fcc = in.u<std::uint32_t>();
  out.recovery_run = in.u<std::uint16_t>();
  out.recovery_block = read_index(in);
  out.window = in.u<std::uint32_t>();
  out.losses = in.u<std::uint32_t>();
  out.limited = in.u<std::uint32_t>();
  out.backlog = in.u<std::uint32_t>();
  out.credit = in.u<std::uint32_t>();
  out.credit_index = read_index(in);
  out.list = in.u<std::uint64_t>();
  out.list_run = in.u<std::uint16_t>();
  out.list_block = read_index(in);
  in.require(out.list_run <= kListRunMax, Drop::bad_value);
  in.require(out.list != 0 || (out.list_run == 0 && out.list_block == kNoIndex), Drop::bad_value);
  read_sections(in, out);
  return in.finish();
}

std::size_t encode_token(const Header& header, const Token& in, ByteSpan packet) {
  Writer out(packet);
  write_header(out, FrameKind::token, header);
  out.view(in.view);
  out.u(in.hop);
  out.u(in.seq);
  out.u(in.aru);
  out.u(in.aru_index);
  out.u(in.fcc);
  out.u(in.recovery_run);
  out.u(in.recovery_block);
  out.u(in.window);
  out.u(in.losses);
  out.u(in.limited);
  out.u(in.backlog);
  out.u(in.credit);
  out.u(in.credit_index);
  out.u(in.list);
  out.u(in.list_run);
  out.u(in.list_block);
  out.count(in.sections.size(), kSectionsMax);
  for (const RequestSection& section : in.sections) {
    out.view(section.view);
    out.count(section.ranges.size(), kRangesMax);
    for (const RequestRange& range : section.ranges) {
      out.u(range.first);
      out.u(range.bitmap);
    }
  }
  return finish(out, packet, header.checksum);
}

}  // namespace peal::wire
