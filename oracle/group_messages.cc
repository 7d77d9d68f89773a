// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "oracle/group_core.h"

// Messages: G6, and what G3 and G7 need of them.

namespace peal::oracle {

void GroupCore::sent(std::int64_t at, const GroupMessageId& id, std::span<const std::string> groups,
                     std::uint64_t hash, OwnCopy own) {
  const Index message = history_.message(id);
  GroupMessage& record = history_.messages[message];
  if (record.targets != kNone) {
    violate(GroupProperty::g6_members_only, at,
            [&] { return message_text(message) + " is sent twice"; });
    return;
  }
  ++report_.figures.messages;
  record.targets = history_.targets_of(groups);
  record.hash = hash;
  record.own = own;
  if (own != OwnCopy::wanted) return;
  for (const Index group : history_.targets[record.targets].groups) {
    const Index index = history_.find_membership(record.sender, group);
    if (index == kNone || history_.memberships[index].state == kNone) continue;
    history_.memberships[index].owed.push_back(message);
  }
}

void GroupCore::delivered(std::int64_t at, const ClientId& to, const GroupMessageId& id,
                          std::span<const std::string> groups, std::uint64_t hash) {
  ++report_.figures.deliveries;
  const Index client = history_.client(to);
  if (!listens(client, at)) return;
  const Index message = history_.message(id);
  close_absences(client, at);
  check_place(client, message, at);
  if (history_.messages[message].targets == kNone) {
    violate(GroupProperty::g6_members_only, at, [&] {
      return name(client) + " delivers " + message_text(message) +
             ", which nobody was seen to send";
    });
    return;
  }
  if (!history_.clients[client].delivered.insert(message)) {
    violate(GroupProperty::g6_members_only, at,
            [&] { return name(client) + " delivers " + message_text(message) + " twice"; });
    return;
  }
  check_content(client, message, groups, hash, at);
  if (!collect(client, message)) check_stranger(client, message, at);
  follow(client, message);
}

// The order in which a message names its groups says nothing.
void GroupCore::check_content(Index client, Index message, std::span<const std::string> groups,
                              std::uint64_t hash, std::int64_t at) {
  const GroupMessage& record = history_.messages[message];
  const std::vector<std::string>& names = history_.targets[record.targets].names;
  if (!std::equal(groups.begin(), groups.end(), names.begin(), names.end()) &&
      target_set(groups) != names) {
    violate(GroupProperty::g6_members_only, at, [&] {
      return name(client) + " delivers " + message_text(message) +
             " with other groups than its sender named";
    });
  }
  if (record.hash != hash) {
    violate(GroupProperty::g6_members_only, at, [&] {
      return name(client) + " delivers " + message_text(message) +
             " with other bytes than its sender gave";
    });
  }
  if (record.sender == client && record.own == OwnCopy::unwanted) {
    violate(GroupProperty::g6_members_only, at, [&] {
      return name(client) + " delivers its own " + message_text(message) +
             ", which it did not want back";
    });
  }
}

// Notes the message in each group that it is for and the client is a member of. False if none is.
bool GroupCore::collect(Index client, Index message) {
  bool member = false;
  for (const Index group : history_.targets[history_.messages[message].targets].groups) {
    const Index index = history_.find_membership(client, group);
    if (index == kNone || history_.memberships[index].state == kNone) continue;
    history_.memberships[index].since.push_back(message);
    member = true;
  }
  return member;
}

// G6: who is a member of none of the groups may get a message only by its private name. Whose name
// that is shows when a message to it alone arrives; two at a time cannot have the same one.
void GroupCore::check_stranger(Index client, Index message, std::int64_t at) {
  GroupMessage& record = history_.messages[message];
  const GroupTargets& targets = history_.targets[record.targets];
  if (record.strangers++ >= targets.private_names) {
    violate(GroupProperty::g6_members_only, at, [&] {
      std::string text = name(client) + " delivers " + message_text(message) + " to {";
      for (const std::string& target : targets.names) {
        if (text.back() != '{') text += ", ";
        text += "'" + target + "'";
      }
      return text + "} and is a member of none" +
             (targets.private_names == 0 ? "" : "; others had got it by their private names");
    });
    return;
  }
  if (targets.private_names != 1) return;
  Index& holder = private_names_.try_emplace(targets.private_name, client).first->second;
  if (holder == client) return;
  if (history_.clients[holder].presence == Presence::connected) {
    violate(GroupProperty::g6_members_only, at, [&] {
      return name(client) + " delivers " + message_text(message) + " to '" +
             history_.names[targets.private_name] + "', which is the private name of " +
             name(holder);
    });
    return;
  }
  holder = client;
}

void GroupCore::follow(Index client, Index message) {
  GroupClient& record = history_.clients[client];
  const Index last = record.last;
  record.last = message;
  if (last == kNone) return;
  if (last >= next_.size()) next_.resize(history_.messages.size());
  Follower& next = next_[last];
  if (next.message == kNone) next = {message, client};
  if (next.message != message) edges_.push_back({last, message, client});
}

// A client's own messages need not come back to it, unless it wanted them.
bool GroupCore::may_lack(Index client, Index message) const {
  const GroupMessage& record = history_.messages[message];
  return record.sender == client && record.own != OwnCopy::wanted;
}

}  // namespace peal::oracle
