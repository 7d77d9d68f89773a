// SPDX-License-Identifier: Apache-2.0
#include "oracle/arrival_judge.h"

namespace peal::oracle {

void ArrivalJudge::connected(const ClientId& id) {
  const Index client = v_.history.client(id);
  if (v_.history.clients[client].presence == Presence::connected) here_[id.node].insert(client);
}

void ArrivalJudge::gone(const ClientId& id) {
  const Index client = v_.history.client(id);
  here_[id.node].erase(client);
  const auto first = due_.lower_bound({client, 0});
  due_.erase(first, due_.lower_bound({client + 1, 0}));
}

/// The client has to get a message with this target, which its node orders now.
bool ArrivalJudge::concerns(Index client, const std::string& name, Index message) const {
  const GroupMessage& record = v_.history.messages[message];
  if (record.sender == client && record.own != OwnCopy::wanted) return false;
  const GroupClient& receiver = v_.history.clients[client];
  if (receiver.delivered.contains(message)) return false;
  const Index target = v_.history.name(name);
  if (is_private_name(name)) return receiver.private_name == target;
  const Index membership = v_.history.find_membership(client, target);
  return membership != kNone && v_.history.memberships[membership].state != kNone;
}

void ArrivalJudge::ordered(std::int64_t at, MemberId node, const GroupMessageId& id,
                           std::span<const std::string> groups) {
  const auto here = here_.find(node);
  if (here == here_.end()) return;
  const Index message = v_.history.message(id);
  for (const Index client : here->second) {
    for (const std::string& name : groups) {
      if (concerns(client, name, message))
        due_[{client, v_.history.name(name)}].emplace(message, at);
    }
  }
}

void ArrivalJudge::delivered(const ClientId& to, const GroupMessageId& id) {
  const Index client = v_.history.client(to);
  const Index message = v_.history.message(id);
  const auto end = due_.lower_bound({client + 1, 0});
  for (auto each = due_.lower_bound({client, 0}); each != end; ++each) each->second.erase(message);
}

void ArrivalJudge::left(const ClientId& to, const std::string& group) {
  due_.erase({v_.history.client(to), v_.history.name(group)});
}

void ArrivalJudge::finish() {
  for (const auto& [key, messages] : due_) {
    const Index client = key.first;
    if (!ended_.contains(v_.history.clients[client].id.node)) continue;
    const std::string& name = v_.history.names[key.second];
    for (const auto& due : messages) {
      v_.violate(GroupProperty::g10_arrival, due.second, [&] {
        return v_.name(client) + " does not get " + v_.message_text(due.first) + " to '" + name +
               "', which its node has ordered";
      });
    }
  }
}

}  // namespace peal::oracle
