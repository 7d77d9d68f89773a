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
  const std::vector<Absence>& absences = nodes_[to.node].absences;
  // A client reads its welcome a while after its session began.
  const bool late = !options_.at_once && record.absences > 0 && record.told_at == 0;
  for (std::size_t i = record.absences - (late ? 1 : 0); i < absences.size(); ++i) {
    if (!absences[i].names.contains(missed) || !record.told_of.emplace(i, missed).second) continue;
    record.told_at = std::max(record.told_at, absences[i].ordered);
    return;
  }
  violate(GroupProperty::g8_every_gap, at, [&] {
    return name(client) + " is told of a gap in " +
           (group.empty() ? "the messages to its private name" : group_text(missed)) +
           ", and no such message was ordered where its node was not";
  });
}

// Groups of its own at that time, and its private name. Where clients are told later than their
// nodes, it is not judged whether all gaps are told: when a client came to the absence is not known
// exactly enough.
bool GroupCore::must_be_told(Index client, Index name) const {
  if (!options_.at_once) return false;
  if (name == history_.clients[client].private_name) return true;
  const Index known = history_.find_membership(client, name);
  return known != kNone && history_.memberships[known].state != kNone;
}

void GroupCore::pass_absence(Index client, const Node& node, std::int64_t at) {
  GroupClient& record = history_.clients[client];
  const std::size_t number = record.absences++;
  const Absence& absence = node.absences[number];
  for (const Index missed : absence.names) {
    if (record.told_of.contains({number, missed}) || !must_be_told(client, missed)) {
      continue;
    }
    violate(GroupProperty::g8_every_gap, at, [&] {
      return name(client) + " is not told that it missed messages to " + group_text(missed) +
             ", of which its node heard in view " + view_text(absence.view);
    });
  }
  record.told_of.erase(record.told_of.begin(), record.told_of.lower_bound({number + 1, 0}));
}

// Before a client is told anything else, it is told of all gaps that its node has heard of by then.
void GroupCore::pass_absences(Index client, Index message, std::int64_t at) {
  GroupClient& record = history_.clients[client];
  const auto known = nodes_.find(record.id.node);
  if (known == nodes_.end()) return;
  const Node& node = known->second;
  std::uint64_t place = 0;
  if (message != kNone) {
    const auto at_node = node.places.find(message);
    if (at_node != node.places.end()) place = at_node->second;
  }
  while (record.absences < node.absences.size() &&
         (options_.at_once || place > node.absences[record.absences].ordered)) {
    pass_absence(client, node, at);
  }
  if (place == 0 || place > record.told_at) return;
  violate(GroupProperty::g8_every_gap, at, [&] {
    return name(client) + " delivers " + message_text(message) +
           " after it was told of a gap that came later";
  });
}

// A history may end in the middle of what a node tells, but not once its table was final.
void GroupCore::finish_absences() {
  for (Index client = 0; client < history_.clients.size(); ++client) {
    const GroupClient& record = history_.clients[client];
    const auto node = nodes_.find(record.id.node);
    const bool ends = record.presence == Presence::connected && tables_.contains(record.id.node);
    if (!ends || node == nodes_.end()) continue;
    while (record.absences < node->second.absences.size()) {
      pass_absence(client, node->second, record.last_at);
    }
  }
}

}  // namespace peal::oracle
