// SPDX-License-Identifier: Apache-2.0
#include "oracle/group_core.h"
#include "trace/json.h"

// How violations speak of clients, groups and messages: `anna.1/3` is connection 3 of anna.1,
// `anna.1/3:7` its seventh message, and `2@anna.1+5` the fifth state of groups in view 2@anna.1.

namespace peal::oracle {
namespace {

const trace::Names& names_of(const GroupChecker::Options& options) {
  static const trace::Names nobody;
  return options.names == nullptr ? nobody : *options.names;
}

}  // namespace

std::string GroupCore::name(MemberId node) const {
  return trace::text_of(node, names_of(options_));
}

std::string GroupCore::name(Index client) const {
  const ClientId& id = history_.clients[client].id;
  return name(id.node) + "/" + std::to_string(id.connection);
}

std::string GroupCore::view_text(const ViewId& view) const {
  return trace::text_of(view, names_of(options_));
}

std::string GroupCore::id_text(const GroupViewId& id) const {
  return view_text(id.view) + "+" + std::to_string(id.index);
}

std::string GroupCore::state_text(Index state) const {
  const GroupState& record = history_.states[state];
  return id_text(record.id) + " of " + group_text(record.group);
}

std::string GroupCore::group_text(Index group) const {
  return "group '" + history_.names[group] + "'";
}

std::string GroupCore::message_text(Index message) const {
  const GroupMessage& record = history_.messages[message];
  return name(record.sender) + ":" + std::to_string(record.number);
}

std::string GroupCore::clients_text(const std::vector<Index>& clients) const {
  std::string text = "{";
  for (const Index client : clients) {
    if (text.size() > 1) text += ", ";
    text += name(client);
  }
  return text + "}";
}

// Who knew the state first.
std::string GroupCore::source_text(const GroupState& state) const {
  return state.told != kNone ? name(state.told) : "the table of " + name(state.table_of);
}

}  // namespace peal::oracle
