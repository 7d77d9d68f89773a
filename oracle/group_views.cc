// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "oracle/group_core.h"

// Who is there, and what clients are told of their groups: G2, G4, and G6 for all but messages.

namespace peal::oracle {
namespace {

bool contains(const std::vector<Index>& sorted, Index item) {
  return std::binary_search(sorted.begin(), sorted.end(), item);
}

}  // namespace

void GroupCore::connected(std::int64_t at, const ClientId& id, std::string_view private_name) {
  const Index index = history_.client(id);
  GroupClient& client = history_.clients[index];
  client.last_at = at;
  if (client.presence != Presence::named) {
    violate(GroupProperty::g6_members_only, at, [&] {
      return name(index) + " connects " +
             (client.presence == Presence::gone ? "after it was gone" : "twice");
    });
    return;
  }
  client.presence = Presence::connected;
  if (!private_name.empty()) client.private_name = history_.name(private_name);
  const auto node = nodes_.find(id.node);
  const bool later = options_.at_once && node != nodes_.end();
  if (later) client.absences = node->second.absences.size();
  ++report_.figures.clients;
}

void GroupCore::gone(std::int64_t at, const ClientId& id) {
  GroupClient& client = history_.clients[history_.client(id)];
  if (client.presence == Presence::connected) ++report_.figures.gone;
  client.presence = Presence::gone;
  client.last_at = at;
}

void GroupCore::viewed(std::int64_t at, const ClientId& to, const std::string& group,
                       const GroupView& view) {
  ++report_.figures.views;
  if (view.cause == GroupCause::network) ++report_.figures.network_views;
  const Index client = history_.client(to);
  if (!listens(client, at)) return;
  close_absences(client, at);
  const Index name = history_.name(group);
  Membership& membership = history_.memberships[history_.membership(client, name)];
  const bool ascending = ascends(membership, view.id, at);
  std::uint64_t& highest = membership.highest[view.id.view];
  highest = std::max(highest, view.id.index);
  const Index agreed = agreed_state(client, name, view, at);
  const Index previous = membership.state;
  if (previous == kNone) membership.begun = view.id.view;
  membership.state = history_.find_state(name, view.id);
  membership.last_state = membership.state;
  std::vector<Index> messages;
  messages.swap(membership.since);
  if (!ascending || agreed == kNone) return;
  check_cause(client, previous, agreed, at);
  came_together(client, previous, agreed, history_.clients_of(view.together), std::move(messages),
                at);
}

void GroupCore::transitional(std::int64_t at, const ClientId& to, const std::string& group) {
  ++report_.figures.transitional;
  const Index client = history_.client(to);
  if (!listens(client, at)) return;
  close_absences(client, at);
  const Index known = history_.find_membership(client, history_.name(group));
  if (known != kNone && history_.memberships[known].state != kNone) return;
  violate(GroupProperty::g6_members_only, at, [&] {
    return name(client) + " is told that " + group_text(history_.name(group)) +
           " is in a transition, and is no member of it";
  });
}

void GroupCore::left(std::int64_t at, const ClientId& to, const std::string& group) {
  ++report_.figures.left;
  const Index client = history_.client(to);
  if (!listens(client, at)) return;
  close_absences(client, at);
  const Index known = history_.find_membership(client, history_.name(group));
  if (known == kNone || history_.memberships[known].state == kNone) {
    violate(GroupProperty::g6_members_only, at, [&] {
      return name(client) + " is told that it left " + group_text(history_.name(group)) +
             ", and is no member of it";
    });
    return;
  }
  history_.memberships[known].state = kNone;
  history_.memberships[known].since.clear();
  history_.memberships[known].owed.clear();
}

// G6: nothing reaches a client before it connected or after it was gone.
bool GroupCore::listens(Index client, std::int64_t at) {
  GroupClient& record = history_.clients[client];
  record.last_at = at;
  last_at_ = at;
  if (record.presence == Presence::connected) return true;
  violate(GroupProperty::g6_members_only, at, [&] {
    return name(client) + " is told something " +
           (record.presence == Presence::gone ? "after it was gone" : "before it connected");
  });
  return false;
}

// G2: one id, one list of members and one cause, at all clients. kNone if it is broken.
Index GroupCore::agreed_state(Index client, Index group, const GroupView& view, std::int64_t at) {
  std::vector<Index> members = history_.clients_of(view.members);
  Index index = history_.find_state(group, view.id);
  const bool known = index != kNone;
  if (!known) index = history_.add_state(group, view.id, members);
  GroupState& state = history_.states[index];
  if (known && state.members != members) {
    violate(GroupProperty::g2_view_agreement, at, [&] {
      return name(client) + " is told view " + id_text(view.id) + " of " + group_text(group) +
             " with members " + clients_text(members) + ", but " + source_text(state) + " with " +
             clients_text(state.members);
    });
    return kNone;
  }
  if (!known && !well_formed(members)) {
    violate(GroupProperty::g2_view_agreement, at, [&] {
      return name(client) + " is told view " + id_text(view.id) + " of " + group_text(group) +
             " with members " + clients_text(members) + ", which is no sorted list";
    });
    return kNone;
  }
  if (state.told == kNone) {
    state.told = client;
    state.cause = view.cause;
  } else if (state.cause != view.cause) {
    violate(GroupProperty::g2_view_agreement, at, [&] {
      return name(client) + " is told another cause of view " + id_text(view.id) + " of " +
             group_text(group) + " than " + name(state.told);
    });
    return kNone;
  }
  return index;
}

// G2: a member whom somebody joins is told one more than before, and a member whom somebody leaves
// one less.
void GroupCore::check_cause(Index client, Index previous, Index state, std::int64_t at) {
  const GroupState& now = history_.states[state];
  if (now.cause == GroupCause::network) return;
  const bool joins = now.cause == GroupCause::join;
  if (previous == kNone && joins) return;
  if (previous != kNone) {
    const std::vector<Index>& before = history_.states[previous].sorted;
    const std::vector<Index>& more = joins ? now.sorted : before;
    const std::vector<Index>& less = joins ? before : now.sorted;
    if (more.size() == less.size() + 1 &&
        std::includes(more.begin(), more.end(), less.begin(), less.end())) {
      return;
    }
  }
  violate(GroupProperty::g2_view_agreement, at, [&] {
    return name(client) + " is told that somebody " + (joins ? "joins" : "is no member any more") +
           " in view " + state_text(state) + " with members " + clients_text(now.members) +
           ", but " +
           (previous == kNone
                ? "was no member itself"
                : "was told " + clients_text(history_.states[previous].members) + " before");
  });
}

// Sorted by node, each member once. The names by which a node's clients are sorted are not known.
bool GroupCore::well_formed(const std::vector<Index>& members) const {
  const auto node = [&](Index client) { return history_.clients[client].id.node; };
  std::vector<Index> sorted = members;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() &&
         std::is_sorted(members.begin(), members.end(),
                        [&](Index a, Index b) { return node(a) < node(b); });
}

// G2: an id is never used again, and a client is told ids in their order.
bool GroupCore::ascends(const Membership& membership, const GroupViewId& id, std::int64_t at) {
  if (membership.last_state == kNone) return true;
  const GroupViewId& last = history_.states[membership.last_state].id;
  const auto highest = membership.highest.find(id.view);
  const bool again = highest != membership.highest.end() && id.index <= highest->second;
  if (!again && last.view.number <= id.view.number) return true;
  violate(GroupProperty::g2_view_agreement, at, [&] {
    const GroupViewId& before = again ? GroupViewId{id.view, highest->second} : last;
    return name(membership.client) + " is told view " + id_text(id) + " of " +
           group_text(membership.group) + " after view " + id_text(before);
  });
  return false;
}

// G4: whoever came together came from the same view. G3: and got the same messages there.
void GroupCore::came_together(Index client, Index previous, Index state,
                              std::vector<Index> together, std::vector<Index> messages,
                              std::int64_t at) {
  std::sort(together.begin(), together.end());
  GroupState& record = history_.states[state];
  if (!plausible(client, record, together, at)) return;
  const Index index = company(client, record, std::move(together), at);
  if (index == kNone) return;
  Company& company = record.companies[index];
  if (company.told == kNone) {
    company.told = client;
    company.previous = previous;
  } else if (previous == kNone || previous != company.previous) {
    const auto from = [&](Index at_client, Index before) {
      return name(at_client) + (before == kNone
                                    ? " was no member"
                                    : " came from view " + id_text(history_.states[before].id));
    };
    violate(GroupProperty::g4_same_origin, at, [&] {
      return name(client) + " and " + name(company.told) + " came to view " + state_text(state) +
             " together, but " + from(client, previous) + " and " +
             from(company.told, company.previous);
    });
  }
  if (previous == kNone) return;
  auto stretch = std::find_if(company.stretches.begin(), company.stretches.end(),
                              [&](const Stretch& s) { return s.previous == previous; });
  if (stretch == company.stretches.end()) {
    stretch = company.stretches.insert(stretch, Stretch{});
    stretch->previous = previous;
  }
  check_stretch(
      *stretch, client, std::move(messages),
      "between views " + id_text(history_.states[previous].id) + " and " + state_text(state), at);
}

// G4: a client is a member of its view and of its own company, which is a part of the members.
bool GroupCore::plausible(Index client, const GroupState& state, const std::vector<Index>& together,
                          std::int64_t at) {
  const bool member = contains(state.sorted, client);
  const bool own = contains(together, client);
  const bool part =
      std::includes(state.sorted.begin(), state.sorted.end(), together.begin(), together.end());
  if (member && own && part) return true;
  violate(GroupProperty::g4_same_origin, at, [&] {
    return name(client) + " is told view " + id_text(state.id) + " of " + group_text(state.group) +
           " with members " + clients_text(state.members) + " and company " +
           clients_text(together) +
           (!member ? ", and is no member"
            : !own  ? ", and is not in its company"
                    : ", which is no part of the members");
  });
  return false;
}

// G4: the companies of one view have no client in common.
Index GroupCore::company(Index client, GroupState& state, std::vector<Index> together,
                         std::int64_t at) {
  const auto owner = [&](Index member) -> Index& {
    const auto place = std::lower_bound(state.sorted.begin(), state.sorted.end(), member);
    return state.company_of[static_cast<std::size_t>(place - state.sorted.begin())];
  };
  Index other = owner(client);
  if (other != kNone && state.companies[other].together == together) return other;
  for (const Index member : together) {
    if (owner(member) != kNone) other = owner(member);
  }
  if (other != kNone) {
    violate(GroupProperty::g4_same_origin, at, [&] {
      const Company& known = state.companies[other];
      return name(client) + " came to view " + id_text(state.id) + " of " +
             group_text(state.group) + " with " + clients_text(together) + ", but " +
             name(known.told) + " with " + clients_text(known.together);
    });
    return kNone;
  }
  const Index index = static_cast<Index>(state.companies.size());
  for (const Index member : together) owner(member) = index;
  state.companies.emplace_back().together = std::move(together);
  return index;
}

}  // namespace peal::oracle
