// SPDX-License-Identifier: Apache-2.0
#include "oracle/gap_judge.h"

#include <algorithm>
#include <utility>

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

bool GapJudge::is_gap(MemberId node, Index message) const {
  const auto at = nodes_.find(node);
  if (at == nodes_.end() || at->second.places.contains(message)) return false;
  const Bits& known = at->second.known;
  return message / 64 < known.size() && (known[message / 64] >> (message % 64) & 1U) != 0;
}

void GapJudge::ordered(std::int64_t at, MemberId node, const GroupMessageId& id,
                       std::span<const std::string> groups) {
  v_.last_at = at;
  const Index message = v_.history.message(id);
  if (message >= ordered_for_.size()) ordered_for_.resize(v_.history.messages.size(), kNone);
  ordered_for_[message] = v_.history.targets_of(groups);
  Node& record = nodes_[node];
  set(record.known, message);
  record.places.emplace(message, record.places.size() + 1);
}

// A node that comes to a view reports its known messages to the other nodes of the view.
void GapJudge::entered(MemberId node, const ViewId& view) {
  Node& record = nodes_[node];
  add(known_in_[view], record.known);
  if (!std::exchange(record.exchanges, true)) record.ordered_before = record.places.size();
}

// The node has completed the exchange: it knows all messages that any node brought to the view.
void GapJudge::hear(MemberId node, const ViewId& view) {
  Node& record = nodes_[node];
  const auto known = known_in_.find(view);
  const bool first = !std::exchange(record.started, true);
  const std::uint64_t before = record.exchanges ? record.ordered_before : record.places.size();
  record.exchanges = false;
  if (known == known_in_.end()) return;
  Absence absence{view, before, {}};
  for (std::size_t word = 0; word < known->second.size(); ++word) {
    std::uint64_t news = known->second[word];
    if (word < record.known.size()) news &= ~record.known[word];
    for (std::size_t bit = 0; bit < 64 && news != 0; ++bit) {
      if ((news >> bit & 1) == 0) continue;
      news &= ~(std::uint64_t{1} << bit);
      const Index targets = ordered_for_[word * 64 + bit];
      // A copy, because name() may add to the history.
      const std::vector<std::string> names = v_.history.targets[targets].names;
      for (const std::string& name : names) absence.names.insert(v_.history.name(name));
    }
  }
  add(record.known, known->second);
  // A node that has just started has missed nothing.
  if (!first && !absence.names.empty()) record.absences.push_back(std::move(absence));
}

// With Options::at_once, absences that the node has heard of become due before the client's next
// event.
void GapJudge::come_past(GroupClient& record, const Node& node) const {
  if (!v_.options.at_once) return;
  while (record.absences < node.absences.size()) record.due.push_back(record.absences++);
}

void GapJudge::reached(std::int64_t at, const ClientId& id, const ViewId& view) {
  const Index client = v_.history.client(id);
  const auto node = nodes_.find(id.node);
  if (v_.options.at_once || !v_.listens(client, at) || node == nodes_.end()) return;
  GroupClient& record = v_.history.clients[client];
  const std::vector<Absence>& absences = node->second.absences;
  for (std::size_t i = record.absences; i < absences.size(); ++i) {
    if (absences[i].view != view) continue;
    record.due.push_back(i);
    record.absences = i + 1;
    return;
  }
}

void GapJudge::gapped(std::int64_t at, const ClientId& to, const std::string& group) {
  ++v_.report.figures.gaps;
  const Index client = v_.history.client(to);
  if (!v_.listens(client, at)) return;
  GroupClient& record = v_.history.clients[client];
  const Index missed = group.empty() ? record.private_name : v_.history.name(group);
  if (!group.empty()) {
    const Index known = v_.history.find_membership(client, missed);
    if (known == kNone || v_.history.memberships[known].state == kNone) {
      v_.violate(GroupProperty::g6_members_only, at, [&] {
        return v_.name(client) + " is told of a gap in " + v_.group_text(missed) +
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
  v_.violate(GroupProperty::g8_every_gap, at, [&] {
    return v_.name(client) + " is told of a gap in " +
           (group.empty() ? "the messages to its private name" : v_.group_text(missed)) +
           ", and no such message was ordered where its node was not";
  });
}

// True if the client is a member of group `name`, or if `name` is the client's private name.
bool GapJudge::must_be_told(Index client, Index name) const {
  if (name == v_.history.clients[client].private_name) return true;
  const Index known = v_.history.find_membership(client, name);
  return known != kNone && v_.history.memberships[known].state != kNone;
}

void GapJudge::close_absence(Index client, std::size_t number, const Absence& absence,
                             std::int64_t at) {
  for (const Index missed : absence.names) {
    const bool told = v_.history.clients[client].told_of.contains({number, missed});
    if (told || !must_be_told(client, missed)) continue;
    v_.violate(GroupProperty::g8_every_gap, at, [&] {
      return v_.name(client) + " is not told that it missed messages to " + v_.group_text(missed) +
             ", of which its node heard in view " + v_.view_text(absence.view);
    });
  }
}

// Before any other event, a client must be notified of the gaps of all due absences.
void GapJudge::close_absences(Index client, std::int64_t at) {
  GroupClient& record = v_.history.clients[client];
  const auto node = nodes_.find(record.id.node);
  if (node == nodes_.end()) return;
  come_past(record, node->second);
  for (const std::size_t number : record.due) {
    close_absence(client, number, node->second.absences[number], at);
  }
  record.due.clear();
  record.told_of.clear();
}

void GapJudge::check_place(Index client, Index message, std::int64_t at) {
  const GroupClient& record = v_.history.clients[client];
  const auto node = nodes_.find(record.id.node);
  if (node == nodes_.end()) return;
  const auto place = node->second.places.find(message);
  if (place == node->second.places.end() || place->second > record.told_at) return;
  v_.violate(GroupProperty::g8_every_gap, at, [&] {
    return v_.name(client) + " delivers " + v_.message_text(message) +
           " after it was told of a gap that came later";
  });
}

}  // namespace peal::oracle
