// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "group/message.h"
#include "group/message_parts.h"

// Encodes and decodes the traffic in messages of groups.

namespace peal::group {
namespace {

using wire::ByteReader;
using wire::Drop;
using wire::Writer;

// Flags of a record.
constexpr std::uint8_t kEveryName = 1;
constexpr std::uint8_t kOfSender = 2;

Place read_place(ByteReader& in) {
  Place place;
  place.seq = wire::read_counter(in);
  place.index = in.u<std::uint32_t>();
  return place;
}

void read_forgotten(ByteReader& in, Forgotten& out) {
  if (!read_flag(in)) return;
  out.upto = wire::read_formed_view(in);
  out.digest = in.u<std::uint64_t>();
  out.every_name = read_flag(in);
  if (out.every_name) return;
  const auto names = in.u<std::uint16_t>();
  in.require(names > 0, Drop::bad_value);
  in.require(names <= kTrafficNamesMax, Drop::count_too_large);
  if (in.failed() || !in.holds(names, 2)) return;
  out.names.reserve(names);
  for (std::uint16_t i = 0; i < names && !in.failed(); ++i) {
    const std::string_view name = read_name(in, is_target);
    in.require(out.names.empty() || out.names.back() < name, Drop::not_sorted);
    out.names.emplace_back(name);
  }
}

void read_names(ByteReader& in, ViewTraffic& out) {
  const auto names = in.u<std::uint16_t>();
  in.require(names <= kTrafficNamesMax, Drop::count_too_large);
  if (in.failed() || !in.holds(names, 2 + 8)) return;
  out.names.reserve(names);
  for (std::uint16_t i = 0; i < names && !in.failed(); ++i) {
    const std::string_view name = read_name(in, is_target);
    const std::uint64_t messages = wire::read_counter(in);
    in.require(messages > 0, Drop::bad_value);
    in.require(out.names.empty() || out.names.back().name < name, Drop::not_sorted);
    out.names.push_back({std::string(name), messages});
  }
  const auto late = in.u<std::uint16_t>();
  in.require(late <= kTrafficNamesMax, Drop::count_too_large);
  if (in.failed() || !in.holds(late, 12 + 2)) return;
  out.late.reserve(late);
  for (std::uint16_t i = 0; i < late && !in.failed(); ++i) {
    const Place place = read_place(in);
    const ViewTraffic::Late each{place, std::string(read_name(in, is_target))};
    in.require(place.seq > 0 && place > out.upto, Drop::bad_value);
    in.require(out.late.empty() || out.late.back() < each, Drop::not_sorted);
    out.late.push_back(each);
  }
  // For a unique encoding, `upto` is the place of the last counted message; zero if there is none.
  in.require(out.names.empty() == (out.upto == Place{}), Drop::bad_value);
  in.require(!out.names.empty() || !out.late.empty(), Drop::bad_value);
}

void read_view(ByteReader& in, ViewTraffic& out) {
  out.view = wire::read_formed_view(in);
  out.upto = read_place(in);
  in.require(out.upto.seq > 0 || out.upto.index == 0, Drop::bad_value);
  const auto flags = in.u<std::uint8_t>();
  in.require((flags & ~(kEveryName | kOfSender)) == 0, Drop::bad_value);
  out.every_name = (flags & kEveryName) != 0;
  if ((flags & kOfSender) != 0) {
    out.sender = wire::read_member(in);
    // All messages of a sender are counted: none is behind a gap.
    in.require(out.sender.epoch != 0 && out.upto.seq > 0 && out.upto.index == 0, Drop::bad_value);
  }
  if (!out.every_name) {
    read_names(in, out);
  } else {
    out.late_digest = in.u<std::uint64_t>();
    in.require(out.upto.seq > 0 || out.late_digest != 0, Drop::bad_value);
  }
  in.require(!out.of_one_sender() || (out.late.empty() && out.late_digest == 0), Drop::bad_value);
}

void write_place(Writer& out, const Place& place) {
  out.u(place.seq);
  out.u(place.index);
}

void write_forgotten(Writer& out, const Forgotten& forgotten) {
  write_flag(out, !forgotten.empty());
  if (forgotten.empty()) return;
  out.view(forgotten.upto);
  out.u(forgotten.digest);
  write_flag(out, forgotten.every_name);
  if (forgotten.every_name) return;
  out.count(forgotten.names.size(), kTrafficNamesMax);
  for (const std::string& name : forgotten.names) write_name(out, name);
}

void write_view(Writer& out, const ViewTraffic& view) {
  out.view(view.view);
  write_place(out, view.upto);
  out.u(static_cast<std::uint8_t>((view.every_name ? kEveryName : 0) |
                                  (view.of_one_sender() ? kOfSender : 0)));
  if (view.of_one_sender()) out.member(view.sender);
  if (view.every_name) return out.u(view.late_digest);
  out.count(view.names.size(), kTrafficNamesMax);
  for (const auto& each : view.names) {
    write_name(out, each.name);
    out.u(each.messages);
  }
  out.count(view.late.size(), kTrafficNamesMax);
  for (const auto& each : view.late) {
    write_place(out, each.place);
    write_name(out, each.name);
  }
}

}  // namespace

bool read_flag(ByteReader& in) {
  const auto value = in.u<std::uint8_t>();
  in.require(value <= 1, Drop::bad_value);
  return value == 1;
}

void read_traffic(ByteReader& in, std::vector<Traffic>& out) {
  out.clear();
  const auto domains = in.u<std::uint8_t>();
  for (std::uint8_t i = 0; i < domains && !in.failed(); ++i) {
    Traffic next;
    next.domain = in.u<std::uint8_t>();
    read_forgotten(in, next.forgotten);
    in.require(out.empty() || out.back().domain < next.domain, Drop::not_sorted);
    const auto views = in.u<std::uint16_t>();
    in.require(views <= kTrafficViewsMax, Drop::count_too_large);
    for (std::uint16_t v = 0; v < views && !in.failed(); ++v) {
      ViewTraffic view;
      read_view(in, view);
      in.require(next.views.empty() || comes_before(next.views.back(), view), Drop::not_sorted);
      next.views.push_back(std::move(view));
    }
    in.require(!next.empty(), Drop::bad_value);
    out.push_back(std::move(next));
  }
}

std::size_t bytes_of(const std::vector<Traffic>& traffic) {
  std::size_t bytes = 1;
  for (const Traffic& each : traffic) bytes += bytes_of(each);
  return bytes;
}

void write_name(Writer& out, std::string_view name) {
  out.u(static_cast<std::uint8_t>(name.size()));
  out.bytes(as_bytes_view(name));
}

void write_flag(Writer& out, bool flag) { out.u(static_cast<std::uint8_t>(flag ? 1 : 0)); }

void write_traffic(Writer& out, const std::vector<Traffic>& traffic) {
  out.u(static_cast<std::uint8_t>(traffic.size()));
  for (const Traffic& each : traffic) {
    out.u(each.domain);
    write_forgotten(out, each.forgotten);
    out.count(each.views.size(), kTrafficViewsMax);
    for (const ViewTraffic& view : each.views) write_view(out, view);
  }
}

}  // namespace peal::group
