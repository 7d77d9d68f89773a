// SPDX-License-Identifier: Apache-2.0
#include "oracle/group_history.h"

#include <algorithm>
#include <utility>

namespace peal::oracle {
namespace {

std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 32;
  value *= 0x9e3779b97f4a7c15ULL;
  return value ^ (value >> 29);
}

std::uint64_t pair_key(Index a, Index b) { return (std::uint64_t{a} << 32) | b; }

Index next_index(std::size_t size) { return static_cast<Index>(size); }

}  // namespace

std::size_t GroupHistory::Hash::operator()(const ClientId& id) const {
  const std::uint64_t node = mix(id.node.epoch) + id.node.node.value;
  return mix(mix(node) + id.connection);
}

std::size_t GroupHistory::Hash::operator()(const GroupMessageId& id) const {
  return mix((*this)(id.sender) + id.number);
}

Index GroupHistory::client(const ClientId& id) {
  const auto [entry, added] = client_of_.try_emplace(id, next_index(clients.size()));
  if (added) clients.emplace_back().id = id;
  return entry->second;
}

std::vector<Index> GroupHistory::clients_of(const std::vector<ClientId>& ids) {
  std::vector<Index> indexes;
  indexes.reserve(ids.size());
  for (const ClientId& id : ids) indexes.push_back(client(id));
  return indexes;
}

Index GroupHistory::name(std::string_view text) {
  const auto known = name_of_.find(text);
  if (known != name_of_.end()) return known->second;
  names.emplace_back(text);
  states_of_.emplace_back();
  return name_of_.emplace(text, next_index(names.size() - 1)).first->second;
}

Index GroupHistory::message(const GroupMessageId& id) {
  const auto [entry, added] = message_of_.try_emplace(id, next_index(messages.size()));
  if (added) {
    const Index sender = client(id.sender);
    GroupMessage& message = messages.emplace_back();
    message.sender = sender;
    message.number = id.number;
  }
  return entry->second;
}

Index GroupHistory::targets_of(std::span<const std::string> given) {
  const auto [entry, added] = targets_.try_emplace(target_set(given), next_index(targets.size()));
  if (added) {
    GroupTargets& set = targets.emplace_back();
    set.names = entry->first;
    for (const std::string& text : set.names) {
      if (!is_private_name(text)) {
        set.groups.push_back(name(text));
        continue;
      }
      ++set.private_names;
      set.private_name = set.private_names == 1 ? name(text) : kNone;
    }
  }
  return entry->second;
}

Index GroupHistory::find_membership(Index client, Index group) const {
  const auto known = membership_of_.find(pair_key(client, group));
  return known == membership_of_.end() ? kNone : known->second;
}

Index GroupHistory::membership(Index client, Index group) {
  const auto [entry, added] =
      membership_of_.try_emplace(pair_key(client, group), next_index(memberships.size()));
  if (added) {
    Membership& membership = memberships.emplace_back();
    membership.client = client;
    membership.group = group;
  }
  return entry->second;
}

Index GroupHistory::find_state(Index group, const GroupViewId& id) const {
  const auto known = states_of_[group].find(id);
  return known == states_of_[group].end() ? kNone : known->second;
}

Index GroupHistory::find_variant(Index group, const GroupViewId& id,
                                 const std::vector<Index>& members) const {
  Index state = find_state(group, id);
  while (state != kNone && states[state].members != members) state = states[state].variant;
  return state;
}

Index GroupHistory::add_state(Index group, const GroupViewId& id, std::vector<Index> members) {
  const Index index = next_index(states.size());
  const auto [first, added] = states_of_[group].emplace(id, index);
  GroupState& state = states.emplace_back();
  if (!added) state.variant = std::exchange(first->second, index);
  state.group = group;
  state.id = id;
  state.members = std::move(members);
  state.sorted = state.members;
  std::sort(state.sorted.begin(), state.sorted.end());
  state.company_of.assign(state.sorted.size(), kNone);
  return index;
}

bool is_private_name(std::string_view name) { return name.starts_with('#'); }

std::vector<std::string> target_set(std::span<const std::string> given) {
  std::vector<std::string> names(given.begin(), given.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace peal::oracle
