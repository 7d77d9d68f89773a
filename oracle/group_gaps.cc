// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "oracle/group_core.h"

// G8: clients are told of the messages that were ordered where their node was not, once any node
// that is in a view with theirs knows of them; and of nothing else.

namespace peal::oracle {
namespace {

using Bits = std::vector<std::uint64_t>;

void set(Bits& bits, Index index) {
  const std::size_t word = index / 64;
  if (word >= bits.size()) bits.resize(word + word / 2 + 16);
  bits[word] |= std::uint64_t{1} << (index % 64);
}

void add(Bits& to, const Bits& from) {
  if (from.size() > to.size()) to.resize(from.size());
  for (std::size_t word = 0; word < from.size(); ++word) to[word] |= from[word];
}

}  // namespace

void GroupCore::ordered(std::int64_t at, MemberId node, const GroupMessageId& id,
                        std::span<const std::string> groups) {
  last_at_ = at;
  const Index message = history_.message(id);
  if (message >= ordered_for_.size()) ordered_for_.resize(history_.messages.size(), kNone);
  ordered_for_[message] = history_.targets_of(groups);
  Node& record = nodes_[node];
  set(record.known, message);
  record.places.emplace(message, record.places.size() + 1);
}

// What a node that came to a view knows, it says there.
void GroupCore::entered(MemberId node, const ViewId& view) {
  add(known_in_[view], nodes_[node].known);
}

// The node has completed the exchange: it knows what anybody knew who came to the view.
void GroupCore::hear(MemberId node, const ViewId& view) {
  Node& record = nodes_[node];
  const auto known = known_in_.find(view);
  const bool first = !std::exchange(record.started, true);
  if (known == known_in_.end()) return;
  Absence absence{view, record.places.size(), {}};
  for (std::size_t word = 0; word < known->second.size(); ++word) {
    std::uint64_t news = known->second[word];
    if (word < record.known.size()) news &= ~record.known[word];
    for (std::size_t bit = 0; bit < 64 && news != 0; ++bit) {
      if ((news >> bit & 1) == 0) continue;
      news &= ~(std::uint64_t{1} << bit);
      const Index targets = ordered_for_[word * 64 + bit];
      // By value: a new name may move the lists.
      const std::vector<std::string> names = history_.targets[targets].names;
      for (const std::string& name : names) absence.names.insert(history_.name(name));
    }
  }
  add(record.known, known->second);
  // A node that starts has missed nothing.
  if (!first && !absence.names.empty()) record.absences.push_back(std::move(absence));
}

// The client's node heard of these absences ahead of what the client is told next.
void GroupCore::come_past(GroupClient& record, const Node& node) const {
  if (!options_.at_once) return;
  while (record.absences < node.absences.size()) record.due.push_back(record.absences++);
}

void GroupCore::reached(std::int64_t at, const ClientId& id, const ViewId& view) {
  const Index client = history_.client(id);
  const auto node = nodes_.find(id.node);
  if (options_.at_once || !listens(client, at) || node == nodes_.end()) return;
  GroupClient& record = history_.clients[client];
  const std::vector<Absence>& absences = node->second.absences;
  for (std::size_t i = record.absences; i < absences.size(); ++i) {
    if (absences[i].view != view) continue;
    record.due.push_back(i);
    record.absences = i + 1;
    return;
  }
}

void GroupCore::gapped(std::int64_t at, const ClientId& to, const std::string& group) {
  ++report_.figures.gaps;
  const Index client = history_.client(to);
  if (!listens(client, at)) return;
  GroupClient& record = history_.clients[client];
  const Index missed = group.empty() ? record.private_name : history_.name(group);
  if (!group.empty()) {
    const Index known = history_.find_membership(client, missed);
    if (known == kNone || history_.memberships[known].state == kNone) {
      violate(GroupProperty::g6_members_only, at, [&] {
        return name(client) + " is told of a gap in " + group_text(missed) +
               ", and is no member of it";
      });
      return;
    }
  }
  const Node& node = nodes_[to.node];
  come_past(record, node);
  for (const std::size_t number : record.due) {
    const Absence& absence = node.absences[number];
    if (!absence.names.contains(missed)) continue;
    if (!record.told_of.emplace(number, missed).second) continue;
    record.told_at = std::max(record.told_at, absence.ordered);
    return;
  }
  violate(GroupProperty::g8_every_gap, at, [&] {
    return name(client) + " is told of a gap in " +
           (group.empty() ? "the messages to its private name" : group_text(missed)) +
           ", and no such message was ordered where its node was not";
  });
}

// Groups of its own at that time, and its private name.
bool GroupCore::must_be_told(Index client, Index name) const {
  if (name == history_.clients[client].private_name) return true;
  const Index known = history_.find_membership(client, name);
  return known != kNone && history_.memberships[known].state != kNone;
}

void GroupCore::close_absence(Index client, std::size_t number, const Absence& absence,
                              std::int64_t at) {
  for (const Index missed : absence.names) {
    const bool told = history_.clients[client].told_of.contains({number, missed});
    if (told || !must_be_told(client, missed)) continue;
    violate(GroupProperty::g8_every_gap, at, [&] {
      return name(client) + " is not told that it missed messages to " + group_text(missed) +
             ", of which its node heard in view " + view_text(absence.view);
    });
  }
}

// Before a client is told anything else, it is told of all gaps that its node heard of by then.
void GroupCore::close_absences(Index client, std::int64_t at) {
  GroupClient& record = history_.clients[client];
  const auto node = nodes_.find(record.id.node);
  if (node == nodes_.end()) return;
  come_past(record, node->second);
  for (const std::size_t number : record.due) {
    close_absence(client, number, node->second.absences[number], at);
  }
  record.due.clear();
  record.told_of.clear();
}

void GroupCore::check_place(Index client, Index message, std::int64_t at) {
  const GroupClient& record = history_.clients[client];
  const auto node = nodes_.find(record.id.node);
  if (node == nodes_.end()) return;
  const auto place = node->second.places.find(message);
  if (place == node->second.places.end() || place->second > record.told_at) return;
  violate(GroupProperty::g8_every_gap, at, [&] {
    return name(client) + " delivers " + message_text(message) +
           " after it was told of a gap that came later";
  });
}

// A history may end in the middle of what a node tells, but not once its table was final.
void GroupCore::finish_absences() {
  for (Index client = 0; client < history_.clients.size(); ++client) {
    const GroupClient& record = history_.clients[client];
    const bool ends = record.presence == Presence::connected && tables_.contains(record.id.node);
    if (ends) close_absences(client, record.last_at);
  }
}

}  // namespace peal::oracle
