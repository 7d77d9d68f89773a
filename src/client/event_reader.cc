// SPDX-License-Identifier: Apache-2.0
#include "client/event_reader.h"

#include <chrono>
#include <string>
#include <utility>

#include "base/assert.h"
#include "wire/client.h"

namespace peal::client {
namespace {

using wire::RecordKind;

v0::Place place_of(const wire::Place& from) {
  return {from.view.number, from.position, from.index};
}

/// Decodes the item's body, which was checked when the item arrived.
template <class T>
T decoded(const Item& item) {
  T out;
  const wire::Drop drop = decode(item.body, out);
  PEAL_ASSERT(drop == wire::Drop::none);
  return out;
}

v0::GroupView view_of(const Item& item) {
  const auto from = decoded<wire::GroupViewEvent>(item);
  v0::GroupView to;
  to.group = from.group;
  to.id = std::to_string(from.view.number) + "@" +
          std::to_string(from.view.representative.node.value) + "." +
          std::to_string(from.view.representative.epoch) + "/" + std::to_string(from.index);
  to.cause = static_cast<v0::ViewCause>(from.cause);
  to.reason = static_cast<v0::Reason>(from.reason);
  to.changed = from.changed;
  to.members.reserve(from.members.size());
  for (const wire::GroupMember& member : from.members) {
    to.members.push_back({std::string(member.name), member.set == from.own_set});
  }
  return to;
}

v0::Gap gap_of(const Item& item) {
  const auto from = decoded<wire::GapEvent>(item);
  return {std::string(from.group), static_cast<v0::GapReason>(from.reason),
          from.messages,           from.bytes,
          place_of(from.first),    place_of(from.last)};
}

v0::SlowWarning warning_of(const Item& item) {
  const auto from = decoded<wire::Warning>(item);
  return {std::string(from.group),
          static_cast<v0::SlowPolicy>(from.policy),
          from.bytes,
          from.bytes_max,
          std::chrono::milliseconds(from.age_ms),
          std::chrono::milliseconds(from.age_max_ms)};
}

v0::Refused refused_of(const Item& item) {
  const auto from = decoded<wire::Refused>(item);
  return {from.number, static_cast<v0::Reason>(from.code), std::string(from.text)};
}

v0::Ended ended_of(const End& from) {
  return {from.code == wire::ClientCode::goodbye, static_cast<v0::Reason>(from.code), from.text,
          from.unsettled_first, from.unsettled};
}

}  // namespace

v0::ClientEvent EventReader::record() {
  switch (item_.record) {
    case RecordKind::group_view: return view_of(item_);
    case RecordKind::gap: return gap_of(item_);
    case RecordKind::warning: return warning_of(item_);
    case RecordKind::refused: return refused_of(item_);
    case RecordKind::transitional:
      return v0::Transitional{std::string(decoded<wire::GroupEvent>(item_).group)};
    case RecordKind::left: return v0::Left{std::string(decoded<wire::GroupEvent>(item_).group)};
    default: break;
  }
  PEAL_ASSERT(item_.record == RecordKind::message);
  v0::GroupMessage message;
  message.sender = message_.sender;
  message.targets = {message_.targets.begin(), message_.targets.size()};
  message.service = static_cast<Service>(message_.service);
  message.type = message_.type;
  message.place = place_of(message_.place);
  message.number = message_.number;
  message.payload = message_.payload;
  return message;
}

v0::ClientEvent EventReader::event(Item item) {
  item_ = std::move(item);
  switch (item_.kind) {
    case Item::Kind::disconnected: return v0::Disconnected{item_.end->text};
    case Item::Kind::reconnected: return v0::Reconnected{};
    case Item::Kind::ended: return ended_of(*item_.end);
    case Item::Kind::record: break;
  }
  return record();
}

}  // namespace peal::client
