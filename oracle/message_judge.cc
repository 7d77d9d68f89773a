// SPDX-License-Identifier: Apache-2.0
#include "oracle/message_judge.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace peal::oracle {

// G7: the union of all clients' delivery orders has no cycle.
void MessageJudge::finish_order() {
  for (Index message = 0; message < next_.size(); ++message) {
    const Follower& next = next_[message];
    if (next.message != kNone) edges_.push_back({message, next.message, next.client});
  }
  const std::vector<Step> cycle = v_.options.companies
                                      ? find_cycle_in_companies()
                                      : find_cycle(v_.history.messages.size(), edges_);
  if (cycle.empty()) return;
  v_.violate(GroupProperty::g7_one_order, v_.history.clients[cycle[0].member].last_at, [&] {
    constexpr std::size_t kShown = 8;
    std::string text = "no order puts all deliveries before what follows them:";
    for (std::size_t i = 0; i < cycle.size() && i < kShown; ++i) {
      text += (i == 0 ? " " : ", ") + v_.name(cycle[i].member) + " delivers " +
              v_.message_text(cycle[i].message) + " before " +
              v_.message_text(cycle[(i + 1) % cycle.size()].message);
    }
    if (cycle.size() > kShown) text += ", and so on, " + std::to_string(cycle.size()) + " steps";
    return text;
  });
}

// Each pair of a message and a company becomes a node of the graph. Edges from one view to another
// are left out: they close no cycle, since each message is of one view and each client's views
// ascend.
std::vector<Step> MessageJudge::find_cycle_in_companies() const {
  std::map<std::pair<Index, CompanyId>, Index> nodes;
  std::vector<Index> messages;
  const auto node_of = [&](Index message, Index client) {
    const MemberId at = v_.history.clients[client].id.node;
    const CompanyId company = v_.companies.company_of(at, v_.history.messages[message].view);
    const auto [entry, added] =
        nodes.try_emplace({message, company}, static_cast<Index>(messages.size()));
    if (added) messages.push_back(message);
    return entry->second;
  };
  std::vector<Edge> edges;
  for (const Edge& edge : edges_) {
    if (v_.history.messages[edge.from].view != v_.history.messages[edge.to].view) continue;
    edges.push_back({node_of(edge.from, edge.member), node_of(edge.to, edge.member), edge.member});
  }
  std::vector<Step> cycle = find_cycle(messages.size(), edges);
  for (Step& step : cycle) step.message = messages[step.message];
  return cycle;
}

void MessageJudge::ordered(MemberId node, const GroupMessageId& id, Placing placing) {
  GroupMessage& record = v_.history.messages[v_.history.message(id)];
  record.placing = placing;
  record.view = v_.companies.view_of(node);
}

void MessageJudge::sent(std::int64_t at, const GroupMessageId& id,
                        std::span<const std::string> groups, std::uint64_t hash, OwnCopy own) {
  const Index message = v_.history.message(id);
  GroupMessage& record = v_.history.messages[message];
  if (record.targets != kNone) {
    v_.violate(GroupProperty::g6_members_only, at,
               [&] { return v_.message_text(message) + " is sent twice"; });
    return;
  }
  ++v_.report.figures.messages;
  record.targets = v_.history.targets_of(groups);
  record.hash = hash;
  record.own = own;
  if (own != OwnCopy::wanted) return;
  for (const Index group : v_.history.targets[record.targets].groups) {
    const Index index = v_.history.find_membership(record.sender, group);
    if (index == kNone || v_.history.memberships[index].state == kNone) continue;
    v_.history.memberships[index].owed.push_back(message);
  }
}

void MessageJudge::delivered(std::int64_t at, const ClientId& to, const GroupMessageId& id,
                             std::span<const std::string> groups, std::uint64_t hash) {
  ++v_.report.figures.deliveries;
  const Index client = v_.history.client(to);
  if (!v_.listens(client, at)) return;
  const Index message = v_.history.message(id);
  gaps_.close_absences(client, at);
  gaps_.check_place(client, message, at);
  if (v_.history.messages[message].targets == kNone) {
    v_.violate(GroupProperty::g6_members_only, at, [&] {
      return v_.name(client) + " delivers " + v_.message_text(message) +
             ", which nobody was seen to send";
    });
    return;
  }
  if (!v_.history.clients[client].delivered.insert(message)) {
    v_.violate(GroupProperty::g6_members_only, at, [&] {
      return v_.name(client) + " delivers " + v_.message_text(message) + " twice";
    });
    return;
  }
  check_content(client, message, groups, hash, at);
  if (!collect(client, message)) check_stranger(client, message, at);
  check_overtaken(client, message, at);
  if (v_.history.messages[message].placing == Placing::placed) follow(client, message);
}

// The order of the names in a message does not matter.
void MessageJudge::check_content(Index client, Index message, std::span<const std::string> groups,
                                 std::uint64_t hash, std::int64_t at) {
  const GroupMessage& record = v_.history.messages[message];
  const std::vector<std::string>& names = v_.history.targets[record.targets].names;
  if (!std::equal(groups.begin(), groups.end(), names.begin(), names.end()) &&
      target_set(groups) != names) {
    v_.violate(GroupProperty::g6_members_only, at, [&] {
      return v_.name(client) + " delivers " + v_.message_text(message) +
             " with other groups than its sender named";
    });
  }
  if (record.hash != hash) {
    v_.violate(GroupProperty::g6_members_only, at, [&] {
      return v_.name(client) + " delivers " + v_.message_text(message) +
             " with other bytes than its sender gave";
    });
  }
  if (record.sender == client && record.own == OwnCopy::unwanted) {
    v_.violate(GroupProperty::g6_members_only, at, [&] {
      return v_.name(client) + " delivers its own " + v_.message_text(message) +
             ", which it did not want back";
    });
  }
}

// Adds the message to the client's membership in each of the message's groups. Returns false if the
// client is a member of none of these groups.
bool MessageJudge::collect(Index client, Index message) {
  bool member = false;
  for (const Index group : v_.history.targets[v_.history.messages[message].targets].groups) {
    const Index index = v_.history.find_membership(client, group);
    if (index == kNone || v_.history.memberships[index].state == kNone) continue;
    Deliveries& since = v_.history.memberships[index].since;
    const bool placed = v_.history.messages[message].placing == Placing::placed;
    (placed ? since.placed : since.unplaced).push_back(message);
    member = true;
  }
  return member;
}

// G6: a client that is a member of none of the groups may get a message only by its private name.
// If the message is to one private name only, this client has that name. Two connected clients
// cannot have the same private name.
void MessageJudge::check_stranger(Index client, Index message, std::int64_t at) {
  GroupMessage& record = v_.history.messages[message];
  const GroupTargets& targets = v_.history.targets[record.targets];
  if (record.strangers++ >= targets.private_names) {
    v_.violate(GroupProperty::g6_members_only, at, [&] {
      std::string text = v_.name(client) + " delivers " + v_.message_text(message) + " to {";
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
  if (v_.history.clients[holder].presence == Presence::connected) {
    v_.violate(GroupProperty::g6_members_only, at, [&] {
      return v_.name(client) + " delivers " + v_.message_text(message) + " to '" +
             v_.history.names[targets.private_name] + "', which is the private name of " +
             v_.name(holder);
    });
    return;
  }
  holder = client;
}

void MessageJudge::follow(Index client, Index message) {
  GroupClient& record = v_.history.clients[client];
  const Index last = record.last;
  record.last = message;
  if (last == kNone) return;
  if (v_.options.companies) {
    edges_.push_back({last, message, client});
    return;
  }
  if (last >= next_.size()) next_.resize(v_.history.messages.size());
  Follower& next = next_[last];
  if (next.message == kNone) next = {message, client};
  if (next.message != message) edges_.push_back({last, message, client});
}

// G7: at each client, a message without a place comes after all earlier messages of its sender.
void MessageJudge::check_overtaken(Index client, Index message, std::int64_t at) {
  const GroupMessage& record = v_.history.messages[message];
  auto& unplaced_of = v_.history.clients[client].unplaced_of;
  const auto last = unplaced_of.find(record.sender);
  if (last != unplaced_of.end() && record.number < last->second) {
    v_.violate(GroupProperty::g7_one_order, at, [&] {
      return v_.name(client) + " delivers " + v_.message_text(message) + " after message " +
             std::to_string(last->second) + " of that sender, which has no place";
    });
  } else if (record.placing == Placing::unplaced) {
    unplaced_of[record.sender] = record.number;
  }
}

// A client may lack its own message, unless the client wanted the message back.
bool MessageJudge::may_lack(Index client, Index message) const {
  const GroupMessage& record = v_.history.messages[message];
  return record.sender == client && record.own != OwnCopy::wanted;
}

// A node delivers a message without a place to the clients that are members when the node delivers
// it. Another node may do so before or after a change of the members. Gaps make no difference among
// the clients of one node: they concern messages that the node did not deliver.
void MessageJudge::check_stretch(Stretch& stretch, Index client, Deliveries messages,
                                 const std::string& where, std::int64_t at) {
  const MemberId node = v_.history.clients[client].id.node;
  compare(stretch.placed, client, std::move(messages.placed), where, at);
  compare(stretch.unplaced[node], client, std::move(messages.unplaced), where, at);
}

// The two lists of messages are nearly always equal. If they differ, compares them as sets, because
// a sender's list lacks its own messages that the sender did not want back.
void MessageJudge::compare(CommonMessages& common, Index client, std::vector<Index> messages,
                           const std::string& where, std::int64_t at) {
  if (common.clients++ == 0) {
    common.first = client;
    common.messages = std::move(messages);
    return;
  }
  ++v_.report.figures.compared;
  if (common.messages == messages) return;
  std::vector<Index>& known = common.messages;
  std::sort(known.begin(), known.end());
  std::sort(messages.begin(), messages.end());
  const auto report = [&](Index without, Index message, Index with) {
    v_.violate(GroupProperty::g3_same_messages, at, [&] {
      return v_.name(without) + " does not deliver " + v_.message_text(message) + " " + where +
             ", as " + v_.name(with) + " does, which went the same way";
    });
  };

  std::vector<Index> missing;
  std::set_difference(known.begin(), known.end(), messages.begin(), messages.end(),
                      std::back_inserter(missing));
  for (const Index message : missing) {
    if (!may_lack(client, message)) return report(client, message, common.first);
  }
  missing.clear();
  std::set_difference(messages.begin(), messages.end(), known.begin(), known.end(),
                      std::back_inserter(missing));
  for (const Index message : missing) {
    const bool only_its_sender = common.clients == 2 && may_lack(common.first, message);
    if (!only_its_sender) return report(common.first, message, client);
  }
  const auto middle = static_cast<std::ptrdiff_t>(known.size());
  known.insert(known.end(), missing.begin(), missing.end());
  std::inplace_merge(known.begin(), known.begin() + middle, known.end());
}

}  // namespace peal::oracle
