// SPDX-License-Identifier: Apache-2.0
#include "cabi/event.h"

#include <utility>

namespace peal::cabi {
namespace {

peal_text text_of(std::string_view text) { return {text.data(), text.size()}; }

peal_place place_of(const Place& place) { return {place.view, place.position, place.index, 0}; }

std::uint64_t ms_of(std::chrono::milliseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

}  // namespace

void EventView::show(ClientEvent event, peal_event& out) {
  out = {};
  out.kind = static_cast<std::int32_t>(event.index());
  event_ = std::move(event);
  std::visit([&](const auto& each) { fill(each, out); }, *event_);
}

void EventView::fill(const GroupMessage& from, peal_event& out) {
  targets_.clear();
  for (const std::string_view target : from.targets) targets_.push_back(text_of(target));
  out.sender = text_of(from.sender);
  out.targets = targets_.data();
  out.target_count = targets_.size();
  out.service = static_cast<std::int32_t>(from.service);
  out.type = from.type;
  out.place = place_of(from.place);
  out.number = from.number;
  out.payload = from.payload.data();
  out.payload_bytes = from.payload.size();
}

void EventView::fill(const GroupView& from, peal_event& out) {
  members_.clear();
  for (const GroupMember& member : from.members) {
    members_.push_back({text_of(member.name), member.came_with_us ? 1 : 0, 0});
  }
  out.group = text_of(from.group);
  out.id = text_of(from.id);
  out.cause = static_cast<std::int32_t>(from.cause);
  out.reason = static_cast<std::int32_t>(from.reason);
  out.changed = text_of(from.changed);
  out.members = members_.data();
  out.member_count = members_.size();
}

void EventView::fill(const Transitional& from, peal_event& out) { out.group = text_of(from.group); }

void EventView::fill(const Left& from, peal_event& out) { out.group = text_of(from.group); }

void EventView::fill(const Gap& from, peal_event& out) {
  out.group = text_of(from.group);
  out.gap_reason = static_cast<std::int32_t>(from.reason);
  out.messages = from.messages;
  out.bytes = from.bytes;
  out.place = place_of(from.first);
  out.last = place_of(from.last);
}

void EventView::fill(const SlowWarning& from, peal_event& out) {
  out.group = text_of(from.group);
  out.policy = static_cast<std::int32_t>(from.policy);
  out.bytes = from.bytes;
  out.bytes_max = from.bytes_max;
  out.age_ms = ms_of(from.age);
  out.age_ms_max = ms_of(from.age_max);
}

void EventView::fill(const Refused& from, peal_event& out) {
  out.number = from.number;
  out.reason = static_cast<std::int32_t>(from.reason);
  out.text = text_of(from.message);
}

void EventView::fill(const Disconnected& from, peal_event& out) {
  out.text = text_of(from.message);
}

void EventView::fill(const Reconnected&, peal_event&) {}

void EventView::fill(const Ended& from, peal_event& out) {
  out.on_request = from.on_request ? 1 : 0;
  out.reason = static_cast<std::int32_t>(from.reason);
  out.text = text_of(from.message);
  out.number = from.unsettled_first;
  out.messages = from.unsettled_messages;
}

}  // namespace peal::cabi
