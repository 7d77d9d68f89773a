// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "oracle/group_core.h"

// The tables of nodes, G1, and what only the end of a history shows: G5 and G7.

namespace peal::oracle {

void GroupCore::exchanged(std::int64_t at, MemberId node, const ViewId& view,
                          std::uint64_t table_hash) {
  ++report_.figures.exchanges;
  last_at_ = at;
  hear(node, view);
  const Exchange& first = exchanges_.try_emplace(view, Exchange{node, table_hash}).first->second;
  if (first.hash == table_hash) return;
  violate(GroupProperty::g1_equal_tables, at, [&] {
    return name(node) + " completes the exchange in view " + view_text(view) +
           " with another table than " + name(first.node);
  });
}

void GroupCore::final_table(MemberId node, const ViewId& view,
                            std::span<const GroupTableEntry> entries) {
  Table& table = tables_[node];
  table.view = view;
  table.groups.clear();
  for (const GroupTableEntry& entry : entries) {
    TableGroup& group = table.groups[history_.name(entry.group)];
    group.id = entry.id;
    group.members = history_.clients_of(entry.members);
    group.sorted = group.members;
    std::sort(group.sorted.begin(), group.sorted.end());
  }
}

GroupReport GroupCore::finish() {
  finish_absences();
  finish_tables();
  finish_memberships();
  finish_order();
  GroupFigures& figures = report_.figures;
  figures.tables = tables_.size();
  figures.states = history_.states.size();
  std::vector<bool> seen(history_.names.size(), false);
  for (const GroupState& state : history_.states) {
    if (!seen[state.group]) ++figures.groups;
    seen[state.group] = true;
  }
  return std::move(report_);
}

void GroupCore::finish_tables() {
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

// G2: what a table calls by an id is what clients were told by it.
void GroupCore::check_entry(MemberId node, Index group, const TableGroup& entry) {
  Index index = history_.find_state(group, entry.id);
  const bool known = index != kNone;
  if (!known) {
    index = history_.add_state(group, entry.id, entry.members);
    history_.states[index].table_of = node;
  }
  const GroupState& state = history_.states[index];
  if (known ? state.members == entry.members : well_formed(entry.members)) return;
  violate(GroupProperty::g2_view_agreement, last_at_, [&] {
    const std::string text = "the table of " + name(node) + " holds view " + state_text(index) +
                             " with members " + clients_text(entry.members);
    if (!known) return text + ", which is no sorted list";
    return text + ", but " + source_text(state) + " with " + clients_text(state.members);
  });
}

// G1: nodes that end in one view hold the same groups in the same states.
void GroupCore::compare_tables(MemberId node, MemberId first) {
  const auto& groups = tables_.at(node).groups;
  const auto& others = tables_.at(first).groups;
  const auto report = [&](MemberId with, MemberId without, Index group, const GroupViewId& id) {
    violate(GroupProperty::g1_equal_tables, last_at_, [&] {
      return "the table of " + name(with) + " holds view " + id_text(id) + " of " +
             group_text(group) + ", that of " + name(without) + " does not, and both are in view " +
             view_text(tables_.at(node).view);
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

// G5: whoever is in a table is connected, to a node of the same view; at its own node it was told
// this very state last.
void GroupCore::finish_member(MemberId node, Index group, const GroupViewId& id, Index client) {
  const GroupClient& record = history_.clients[client];
  const auto report = [&](const std::string& text) {
    violate(GroupProperty::g5_final_view, record.last_at, [&] {
      return "the table of " + name(node) + " ends with " + name(client) + " in view " +
             id_text(id) + " of " + group_text(group) + ", " + text;
    });
  };
  if (record.presence != Presence::connected) return report("which is not connected");
  if (record.id.node != node) {
    const auto table = tables_.find(record.id.node);
    if (table != tables_.end() && table->second.view != tables_.at(node).view) {
      report("whose node is in view " + view_text(table->second.view));
    }
    return;
  }
  const Index known = history_.find_membership(client, group);
  const Index state = known == kNone ? kNone : history_.memberships[known].state;
  if (state == kNone) return report("which was told that it is no member, or nothing");
  if (history_.states[state].id != id) {
    report("which was told view " + id_text(history_.states[state].id) + " last");
  }
}

// The place of a client that is connected and a member, as it knows, in the table of its node.
const GroupCore::TableGroup* GroupCore::entry_of(const Membership& membership) const {
  const auto table = tables_.find(history_.clients[membership.client].id.node);
  if (table == tables_.end()) return nullptr;
  const auto entry = table->second.groups.find(membership.group);
  if (entry == table->second.groups.end()) return nullptr;
  const std::vector<Index>& sorted = entry->second.sorted;
  const bool member = std::binary_search(sorted.begin(), sorted.end(), membership.client);
  return member ? &entry->second : nullptr;
}

// G5, the other way round, and G3 for what came after the last view. Clients that end with one
// state of a group at nodes of one view were together since.
void GroupCore::finish_memberships() {
  std::map<std::pair<Index, ViewId>, Stretch> stretches;
  for (Membership& membership : history_.memberships) {
    const GroupClient& client = history_.clients[membership.client];
    const auto table = tables_.find(client.id.node);
    if (membership.state == kNone || client.presence != Presence::connected ||
        table == tables_.end()) {
      continue;
    }
    finish_owed(membership);
    const TableGroup* entry = entry_of(membership);
    if (entry == nullptr) {
      violate(GroupProperty::g5_final_view, client.last_at, [&] {
        return name(membership.client) + " was told view " + state_text(membership.state) +
               " last, and the table of " + name(client.id.node) + " does not hold it as a member";
      });
      continue;
    }
    if (entry->id != history_.states[membership.state].id) continue;
    check_stretch(stretches[{membership.state, table->second.view}], membership.client,
                  std::move(membership.since), "after view " + state_text(membership.state),
                  client.last_at);
  }
}

// G5: nothing that a member sent to its group, and wanted back, is still under way.
void GroupCore::finish_owed(const Membership& membership) {
  const GroupClient& client = history_.clients[membership.client];
  for (const Index message : membership.owed) {
    if (client.delivered.contains(message)) continue;
    violate(GroupProperty::g5_final_view, client.last_at, [&] {
      return name(membership.client) + " ends as a member of " + group_text(membership.group) +
             ", as it was when it sent " + message_text(message) + " there, and never delivers it";
    });
  }
}

// G7: all clients' orders of delivery, put together, have no circle.
void GroupCore::finish_order() {
  for (Index message = 0; message < next_.size(); ++message) {
    const Follower& next = next_[message];
    if (next.message != kNone) edges_.push_back({message, next.message, next.client});
  }
  const std::vector<Step> cycle = find_cycle(history_.messages.size(), edges_);
  if (cycle.empty()) return;
  violate(GroupProperty::g7_one_order, history_.clients[cycle[0].member].last_at, [&] {
    constexpr std::size_t kShown = 8;
    std::string text = "no order puts all deliveries before what follows them:";
    for (std::size_t i = 0; i < cycle.size() && i < kShown; ++i) {
      text += (i == 0 ? " " : ", ") + name(cycle[i].member) + " delivers " +
              message_text(cycle[i].message) + " before " +
              message_text(cycle[(i + 1) % cycle.size()].message);
    }
    if (cycle.size() > kShown) text += ", and so on, " + std::to_string(cycle.size()) + " steps";
    return text;
  });
}

}  // namespace peal::oracle
