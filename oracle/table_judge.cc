// SPDX-License-Identifier: Apache-2.0
#include "oracle/table_judge.h"

#include <algorithm>
#include <utility>

namespace peal::oracle {

void TableJudge::finish() {
  finish_absences();
  finish_tables();
  finish_memberships();
  v_.report.figures.tables = tables_.size();
}

void TableJudge::exchanged(std::int64_t at, MemberId node, const ViewId& view,
                           std::uint64_t table_hash) {
  ++v_.report.figures.exchanges;
  v_.last_at = at;
  gaps_.hear(node, view);
  const Exchange& first = exchanges_.try_emplace(view, Exchange{node, table_hash}).first->second;
  if (first.hash == table_hash) return;
  v_.violate(GroupProperty::g1_equal_tables, at, [&] {
    return v_.name(node) + " completes the exchange in view " + v_.view_text(view) +
           " with another table than " + v_.name(first.node);
  });
}

void TableJudge::final_table(MemberId node, const ViewId& view,
                             std::span<const GroupTableEntry> entries) {
  v_.companies.ended(node);
  Table& table = tables_[node];
  table.view = view;
  table.groups.clear();
  for (const GroupTableEntry& entry : entries) {
    TableGroup& group = table.groups[v_.history.name(entry.group)];
    group.id = entry.id;
    group.members = v_.history.clients_of(entry.members);
    group.sorted = group.members;
    std::sort(group.sorted.begin(), group.sorted.end());
  }
}

void TableJudge::finish_tables() {
  std::map<ViewId, MemberId> first_of;
  for (auto& [node, table] : tables_) {
    for (auto& [group, entry] : table.groups) check_entry(node, group, entry);
    const auto [first, added] = first_of.try_emplace(table.view, node);
    if (!added) compare_tables(node, first->second);
    for (const auto& [group, entry] : table.groups) {
      for (const Index client : entry.members) finish_member(node, group, entry.id, client);
    }
  }
}

// G2: a state has the same members in tables and in views of clients.
void TableJudge::check_entry(MemberId node, Index group, const TableGroup& entry) {
  Index index = v_.options.companies ? v_.history.find_variant(group, entry.id, entry.members)
                                     : v_.history.find_state(group, entry.id);
  const bool known = index != kNone;
  if (!known) {
    index = v_.history.add_state(group, entry.id, entry.members);
    v_.history.states[index].table_of = node;
  }
  const GroupState& state = v_.history.states[index];
  if (known ? state.members == entry.members : v_.well_formed(entry.members)) return;
  v_.violate(GroupProperty::g2_view_agreement, v_.last_at, [&] {
    const std::string text = "the table of " + v_.name(node) + " holds view " +
                             v_.state_text(index) + " with members " +
                             v_.clients_text(entry.members);
    if (!known) return text + ", which is no sorted list";
    return text + ", but " + v_.source_text(state) + " with " + v_.clients_text(state.members);
  });
}

// G1: nodes that end in the same view have the same groups in the same states.
void TableJudge::compare_tables(MemberId node, MemberId first) {
  const auto& groups = tables_.at(node).groups;
  const auto& others = tables_.at(first).groups;
  const auto report = [&](MemberId with, MemberId without, Index group, const GroupViewId& id) {
    v_.violate(GroupProperty::g1_equal_tables, v_.last_at, [&] {
      return "the table of " + v_.name(with) + " holds view " + v_.id_text(id) + " of " +
             v_.group_text(group) + ", that of " + v_.name(without) +
             " does not, and both are in view " + v_.view_text(tables_.at(node).view);
    });
  };
  for (const auto& [group, entry] : groups) {
    const auto other = others.find(group);
    if (other == others.end() || other->second.id != entry.id) {
      return report(node, first, group, entry.id);
    }
  }
  for (const auto& [group, entry] : others) {
    if (!groups.contains(group)) return report(first, node, group, entry.id);
  }
}

// G5: a client in a table is connected, to a node that ends in the same view as `node`. If `node`
// is the client's own node, the client's last view of the group is the state in the table.
void TableJudge::finish_member(MemberId node, Index group, const GroupViewId& id, Index client) {
  const GroupClient& record = v_.history.clients[client];
  const auto report = [&](const std::string& text) {
    v_.violate(GroupProperty::g5_final_view, record.last_at, [&] {
      return "the table of " + v_.name(node) + " ends with " + v_.name(client) + " in view " +
             v_.id_text(id) + " of " + v_.group_text(group) + ", " + text;
    });
  };
  const bool ended = record.id.node != node && !tables_.contains(record.id.node);
  if (v_.options.crash_stop && ended) return;
  if (record.presence != Presence::connected) return report("which is not connected");
  if (record.id.node != node) {
    const auto table = tables_.find(record.id.node);
    if (table != tables_.end() && table->second.view != tables_.at(node).view) {
      report("whose node is in view " + v_.view_text(table->second.view));
    }
    return;
  }
  const Index known = v_.history.find_membership(client, group);
  const Index state = known == kNone ? kNone : v_.history.memberships[known].state;
  if (state == kNone) return report("which was told that it is no member, or nothing");
  if (v_.history.states[state].id != id) {
    report("which was told view " + v_.id_text(v_.history.states[state].id) + " last");
  } else if (v_.options.companies &&
             v_.history.states[state].members != tables_.at(node).groups.at(group).members) {
    report("which was told other members: " + v_.clients_text(v_.history.states[state].members));
  }
}

// The group's entry in the table of the client's node; null if there is none, or if the entry does
// not have the client.
const TableJudge::TableGroup* TableJudge::entry_of(const Membership& membership) const {
  const auto table = tables_.find(v_.history.clients[membership.client].id.node);
  if (table == tables_.end()) return nullptr;
  const auto entry = table->second.groups.find(membership.group);
  if (entry == table->second.groups.end()) return nullptr;
  const std::vector<Index>& sorted = entry->second.sorted;
  const bool member = std::binary_search(sorted.begin(), sorted.end(), membership.client);
  return member ? &entry->second : nullptr;
}

// G5 in the other direction: each connected member is in the table of its node. G3 for the messages
// after the last view: clients that end with the same state of a group, at nodes in the same view,
// stayed together since they got this state. So they delivered the same messages in this state.
void TableJudge::finish_memberships() {
  std::map<std::pair<Index, ViewId>, Stretch> stretches;
  for (Membership& membership : v_.history.memberships) {
    const GroupClient& client = v_.history.clients[membership.client];
    const auto table = tables_.find(client.id.node);
    if (membership.state == kNone || client.presence != Presence::connected ||
        table == tables_.end()) {
      continue;
    }
    finish_owed(membership);
    const TableGroup* entry = entry_of(membership);
    if (entry == nullptr) {
      v_.violate(GroupProperty::g5_final_view, client.last_at, [&] {
        return v_.name(membership.client) + " was told view " + v_.state_text(membership.state) +
               " last, and the table of " + v_.name(client.id.node) +
               " does not hold it as a member";
      });
      continue;
    }
    if (entry->id != v_.history.states[membership.state].id) continue;
    messages_.check_stretch(stretches[{membership.state, table->second.view}], membership.client,
                            std::move(membership.since),
                            "after view " + v_.state_text(membership.state), client.last_at);
  }
}

// G5: a member got back each message that it sent to its group and wanted back.
void TableJudge::finish_owed(const Membership& membership) {
  const GroupClient& client = v_.history.clients[membership.client];
  for (const Index message : membership.owed) {
    if (client.delivered.contains(message) || gaps_.is_gap(client.id.node, message)) continue;
    v_.violate(GroupProperty::g5_final_view, client.last_at, [&] {
      return v_.name(membership.client) + " ends as a member of " +
             v_.group_text(membership.group) + ", as it was when it sent " +
             v_.message_text(message) + " there, and never delivers it";
    });
  }
}

// A history may end before a node has notified its clients of all gaps. But a node with a final
// table certainly has notified its clients.
void TableJudge::finish_absences() {
  for (Index client = 0; client < v_.history.clients.size(); ++client) {
    const GroupClient& record = v_.history.clients[client];
    const bool ends = record.presence == Presence::connected && tables_.contains(record.id.node);
    if (ends) gaps_.close_absences(client, record.last_at);
  }
}

}  // namespace peal::oracle
