// SPDX-License-Identifier: Apache-2.0
#include "group/held_messages.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/assert.h"

namespace peal::group {
namespace {

void mark_changed(Table& table, std::string_view group) {
  if (Table::Map::value_type* entry = table.find(group)) entry->second.changed = true;
}

void apply(const Join& join, MemberId sender, Table& table) {
  const ClientKey client{sender, join.client.connection};
  if (table.join(client, join.client.name, join.group) != Table::Outcome::done) return;
  mark_changed(table, join.group);
}

void apply(const Leave& leave, MemberId sender, Table& table) {
  const ClientKey client{sender, leave.client.connection};
  if (table.leave(client, leave.client.name, leave.group) != Table::Outcome::done) return;
  mark_changed(table, leave.group);
}

void apply(const Disconnect& disconnect, MemberId sender, Table& table) {
  const ClientKey client{sender, disconnect.client.connection};
  std::vector<std::string> groups;
  for (const Table::Map::value_type* entry : table.groups_of(client, disconnect.client.name)) {
    groups.push_back(entry->first);
  }
  for (const std::string& group : groups) apply(Leave{disconnect.client, group}, sender, table);
}

template <class Message>
void apply_if(const HeldMessages::Held& held, Table& table) {
  Message message;
  if (decode(held.bytes, message) == wire::Drop::none) apply(message, held.from.sender, table);
}

}  // namespace

HeldMessages::List HeldMessages::take_earlier() {
  const auto end = held_.begin() + static_cast<std::ptrdiff_t>(earlier_);
  List taken(std::make_move_iterator(held_.begin()), std::make_move_iterator(end));
  held_.erase(held_.begin(), end);
  earlier_ = 0;
  for (const Held& each : taken) data_bytes_ -= data_cost_of(each.bytes);
  return taken;
}

HeldMessages::List HeldMessages::take() {
  PEAL_ASSERT(earlier_ == 0);
  data_bytes_ = 0;
  return std::exchange(held_, {});
}

std::uint64_t HeldMessages::drop_data() {
  const auto is_data = [](const Held& each) { return data_cost_of(each.bytes) > 0; };
  const auto end = held_.begin() + static_cast<std::ptrdiff_t>(earlier_);
  earlier_ -= static_cast<std::size_t>(std::count_if(held_.begin(), end, is_data));
  data_bytes_ = 0;
  return std::erase_if(held_, is_data);
}

void HeldMessages::apply_earlier(const order::MemberSet& set, const ViewId& view,
                                 Table& table) const {
  for (std::size_t i = 0; i < earlier_; ++i) {
    const Held& held = held_[i];
    if (!order::contains(set, held.from.sender)) continue;
    switch (static_cast<Kind>(kind_of(held.bytes))) {
      case Kind::join: apply_if<Join>(held, table); break;
      case Kind::leave: apply_if<Leave>(held, table); break;
      case Kind::disconnect: apply_if<Disconnect>(held, table); break;
      default: break;
    }
  }
  for (auto& [name, group] : table.groups()) {
    if (group.id == GroupId{}) group.id = {view, 1};
  }
}

}  // namespace peal::group
