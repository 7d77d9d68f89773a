// SPDX-License-Identifier: Apache-2.0
#include "oracle/group_verdict.h"

#include <algorithm>

#include "trace/json.h"

namespace peal::oracle {
namespace {

const trace::Names& names_of(const GroupChecker::Options& options) {
  static const trace::Names nobody;
  return options.names == nullptr ? nobody : *options.names;
}

}  // namespace

std::string GroupVerdict::name(MemberId node) const {
  return trace::text_of(node, names_of(options));
}

std::string GroupVerdict::name(Index client) const {
  const ClientId& id = history.clients[client].id;
  return name(id.node) + "/" + std::to_string(id.connection);
}

std::string GroupVerdict::view_text(const ViewId& view) const {
  return trace::text_of(view, names_of(options));
}

std::string GroupVerdict::id_text(const GroupViewId& id) const {
  return view_text(id.view) + "+" + std::to_string(id.index);
}

std::string GroupVerdict::state_text(Index state) const {
  const GroupState& record = history.states[state];
  return id_text(record.id) + " of " + group_text(record.group);
}

std::string GroupVerdict::group_text(Index group) const {
  return "group '" + history.names[group] + "'";
}

std::string GroupVerdict::message_text(Index message) const {
  const GroupMessage& record = history.messages[message];
  return name(record.sender) + ":" + std::to_string(record.number);
}

std::string GroupVerdict::clients_text(const std::vector<Index>& clients) const {
  std::string text = "{";
  for (const Index client : clients) {
    if (text.size() > 1) text += ", ";
    text += name(client);
  }
  return text + "}";
}

// Names the first client that got the state. If no client got it, names the first table that has
// the state.
std::string GroupVerdict::source_text(const GroupState& state) const {
  return state.told != kNone ? name(state.told) : "the table of " + name(state.table_of);
}

// G6: a client gets events only while it is connected.
bool GroupVerdict::listens(Index client, std::int64_t at) {
  GroupClient& record = history.clients[client];
  record.last_at = at;
  last_at = at;
  if (record.presence == Presence::connected) return true;
  violate(GroupProperty::g6_members_only, at, [&] {
    return name(client) + " is told something " +
           (record.presence == Presence::gone ? "after it was gone" : "before it connected");
  });
  return false;
}

// True if the list is sorted by node and has each member once. The order among clients of one node
// is not checked, because the clients' names are unknown here.
bool GroupVerdict::well_formed(const std::vector<Index>& members) const {
  const auto node = [&](Index client) { return history.clients[client].id.node; };
  std::vector<Index> sorted = members;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() &&
         std::is_sorted(members.begin(), members.end(),
                        [&](Index a, Index b) { return node(a) < node(b); });
}

}  // namespace peal::oracle
