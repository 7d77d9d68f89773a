// SPDX-License-Identifier: Apache-2.0
#include "oracle/group_view_judge.h"

#include <algorithm>
#include <utility>

namespace peal::oracle {
namespace {

bool contains(const std::vector<Index>& sorted, Index item) {
  return std::binary_search(sorted.begin(), sorted.end(), item);
}

bool has(const std::vector<MemberId>& nodes, MemberId node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace

void GroupViewJudge::connected(std::int64_t at, const ClientId& id, std::string_view private_name) {
  const Index index = v_.history.client(id);
  GroupClient& client = v_.history.clients[index];
  client.last_at = at;
  if (client.presence != Presence::named) {
    v_.violate(GroupProperty::g6_members_only, at, [&] {
      return v_.name(index) + " connects " +
             (client.presence == Presence::gone ? "after it was gone" : "twice");
    });
    return;
  }
  client.presence = Presence::connected;
  if (!private_name.empty()) client.private_name = v_.history.name(private_name);
  if (v_.options.at_once) client.absences = gaps_.absences_of(id.node);
  ++v_.report.figures.clients;
}

void GroupViewJudge::gone(std::int64_t at, const ClientId& id) {
  GroupClient& client = v_.history.clients[v_.history.client(id)];
  if (client.presence == Presence::connected) ++v_.report.figures.gone;
  client.presence = Presence::gone;
  client.last_at = at;
}

void GroupViewJudge::viewed(std::int64_t at, const ClientId& to, const std::string& group,
                            const GroupView& view) {
  ++v_.report.figures.views;
  if (view.cause == GroupCause::network) ++v_.report.figures.network_views;
  const Index client = v_.history.client(to);
  if (!v_.listens(client, at)) return;
  gaps_.close_absences(client, at);
  const Index name = v_.history.name(group);
  Membership& membership = v_.history.memberships[v_.history.membership(client, name)];
  const bool ascending = ascends(membership, view.id, at);
  std::uint64_t& highest = membership.highest[view.id.view];
  highest = std::max(highest, view.id.index);
  const Index agreed = agreed_state(client, name, view, at);
  const Index previous = membership.state;
  if (previous == kNone) membership.begun = view.id.view;
  membership.state = agreed != kNone ? agreed : v_.history.find_state(name, view.id);
  membership.last_state = membership.state;
  Deliveries messages = std::exchange(membership.since, {});
  if (!ascending || agreed == kNone) return;
  check_cause(client, previous, agreed, at);
  came_together(client, previous, agreed, v_.history.clients_of(view.together), std::move(messages),
                at);
}

void GroupViewJudge::transitional(std::int64_t at, const ClientId& to, const std::string& group) {
  ++v_.report.figures.transitional;
  const Index client = v_.history.client(to);
  if (!v_.listens(client, at)) return;
  gaps_.close_absences(client, at);
  const Index known = v_.history.find_membership(client, v_.history.name(group));
  if (known != kNone && v_.history.memberships[known].state != kNone) return;
  v_.violate(GroupProperty::g6_members_only, at, [&] {
    return v_.name(client) + " is told that " + v_.group_text(v_.history.name(group)) +
           " is in a transition, and is no member of it";
  });
}

void GroupViewJudge::left(std::int64_t at, const ClientId& to, const std::string& group) {
  ++v_.report.figures.left;
  const Index client = v_.history.client(to);
  if (!v_.listens(client, at)) return;
  gaps_.close_absences(client, at);
  const Index known = v_.history.find_membership(client, v_.history.name(group));
  if (known == kNone || v_.history.memberships[known].state == kNone) {
    v_.violate(GroupProperty::g6_members_only, at, [&] {
      return v_.name(client) + " is told that it left " + v_.group_text(v_.history.name(group)) +
             ", and is no member of it";
    });
    return;
  }
  v_.history.memberships[known].state = kNone;
  v_.history.memberships[known].since = {};
  v_.history.memberships[known].owed.clear();
}

// G2: an id has one list of members and one cause at all clients. Returns kNone after a violation.
Index GroupViewJudge::agreed_state(Index client, Index group, const GroupView& view,
                                   std::int64_t at) {
  std::vector<Index> members = v_.history.clients_of(view.members);
  Index index = v_.options.companies ? v_.history.find_variant(group, view.id, members)
                                     : v_.history.find_state(group, view.id);
  const bool known = index != kNone;
  if (!known) index = v_.history.add_state(group, view.id, members);
  GroupState& state = v_.history.states[index];
  if (known && state.members != members) {
    v_.violate(GroupProperty::g2_view_agreement, at, [&] {
      return v_.name(client) + " is told view " + v_.id_text(view.id) + " of " +
             v_.group_text(group) + " with members " + v_.clients_text(members) + ", but " +
             v_.source_text(state) + " with " + v_.clients_text(state.members);
    });
    return kNone;
  }
  if (!known && !v_.well_formed(members)) {
    v_.violate(GroupProperty::g2_view_agreement, at, [&] {
      return v_.name(client) + " is told view " + v_.id_text(view.id) + " of " +
             v_.group_text(group) + " with members " + v_.clients_text(members) +
             ", which is no sorted list";
    });
    return kNone;
  }
  if (state.told == kNone) {
    state.told = client;
    state.cause = view.cause;
  } else if (state.cause != view.cause) {
    v_.violate(GroupProperty::g2_view_agreement, at, [&] {
      return v_.name(client) + " is told another cause of view " + v_.id_text(view.id) + " of " +
             v_.group_text(group) + " than " + v_.name(state.told);
    });
    return kNone;
  }
  const MemberId node = v_.history.clients[client].id.node;
  if (!has(state.nodes, node)) state.nodes.push_back(node);
  return index;
}

// G2, with Options::companies: nodes that leave a view together have one state for each id of this
// view.
void GroupViewJudge::finish() {
  for (const GroupState& state : v_.history.states) {
    for (Index other = state.variant; other != kNone; other = v_.history.states[other].variant) {
      const GroupState& variant = v_.history.states[other];
      if (!differs_in_a_company(state, variant)) continue;
      v_.violate(GroupProperty::g2_view_agreement, v_.last_at, [&] {
        return "view " + v_.id_text(state.id) + " of " + v_.group_text(state.group) +
               " has members " + v_.clients_text(state.members) + " and " +
               v_.clients_text(variant.members) + " at nodes that leave the view together";
      });
    }
  }
}

bool GroupViewJudge::differs_in_a_company(const GroupState& one, const GroupState& other) const {
  const auto company = [&](MemberId node) { return v_.companies.company_of(node, one.id.view); };
  return std::any_of(one.nodes.begin(), one.nodes.end(), [&](MemberId node) {
    return std::any_of(other.nodes.begin(), other.nodes.end(),
                       [&](MemberId its) { return company(node) == company(its); });
  });
}

// G2: a view caused by a join has one member more than the client's previous view; a view caused by
// a leave or a disconnect has one member less.
void GroupViewJudge::check_cause(Index client, Index previous, Index state, std::int64_t at) {
  const GroupState& now = v_.history.states[state];
  if (now.cause == GroupCause::network) return;
  const bool joins = now.cause == GroupCause::join;
  if (previous == kNone && joins) return;
  if (previous != kNone) {
    const std::vector<Index>& before = v_.history.states[previous].sorted;
    const std::vector<Index>& more = joins ? now.sorted : before;
    const std::vector<Index>& less = joins ? before : now.sorted;
    if (more.size() == less.size() + 1 &&
        std::includes(more.begin(), more.end(), less.begin(), less.end())) {
      return;
    }
  }
  v_.violate(GroupProperty::g2_view_agreement, at, [&] {
    return v_.name(client) + " is told that somebody " +
           (joins ? "joins" : "is no member any more") + " in view " + v_.state_text(state) +
           " with members " + v_.clients_text(now.members) + ", but " +
           (previous == kNone
                ? "was no member itself"
                : "was told " + v_.clients_text(v_.history.states[previous].members) + " before");
  });
}

// G2: the ids of a group's views ascend at each client, so that no id comes twice.
bool GroupViewJudge::ascends(const Membership& membership, const GroupViewId& id, std::int64_t at) {
  if (membership.last_state == kNone) return true;
  const GroupViewId& last = v_.history.states[membership.last_state].id;
  const auto highest = membership.highest.find(id.view);
  const bool again = highest != membership.highest.end() && id.index <= highest->second;
  if (!again && last.view.number <= id.view.number) return true;
  v_.violate(GroupProperty::g2_view_agreement, at, [&] {
    const GroupViewId& before = again ? GroupViewId{id.view, highest->second} : last;
    return v_.name(membership.client) + " is told view " + v_.id_text(id) + " of " +
           v_.group_text(membership.group) + " after view " + v_.id_text(before);
  });
  return false;
}

// G4: clients that come to a view together come from the same view. G3: these clients delivered the
// same messages in that previous view.
void GroupViewJudge::came_together(Index client, Index previous, Index state,
                                   std::vector<Index> together, Deliveries messages,
                                   std::int64_t at) {
  std::sort(together.begin(), together.end());
  GroupState& record = v_.history.states[state];
  if (!plausible(client, record, together, at)) return;
  const Index index = company(client, record, std::move(together), at);
  if (index == kNone) return;
  Company& company = record.companies[index];
  if (company.told == kNone) {
    company.told = client;
    company.previous = previous;
  } else if (previous == kNone || previous != company.previous) {
    const auto from = [&](Index at_client, Index before) {
      return v_.name(at_client) +
             (before == kNone ? " was no member"
                              : " came from view " + v_.id_text(v_.history.states[before].id));
    };
    v_.violate(GroupProperty::g4_same_origin, at, [&] {
      return v_.name(client) + " and " + v_.name(company.told) + " came to view " +
             v_.state_text(state) + " together, but " + from(client, previous) + " and " +
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
  messages_.check_stretch(*stretch, client, std::move(messages),
                          "between views " + v_.id_text(v_.history.states[previous].id) + " and " +
                              v_.state_text(state),
                          at);
}

// G4: a client is a member of the view that it gets, and belongs to its own company. All clients of
// the company are members of the view.
bool GroupViewJudge::plausible(Index client, const GroupState& state,
                               const std::vector<Index>& together, std::int64_t at) {
  const bool member = contains(state.sorted, client);
  const bool own = contains(together, client);
  const bool part =
      std::includes(state.sorted.begin(), state.sorted.end(), together.begin(), together.end());
  if (member && own && part) return true;
  v_.violate(GroupProperty::g4_same_origin, at, [&] {
    return v_.name(client) + " is told view " + v_.id_text(state.id) + " of " +
           v_.group_text(state.group) + " with members " + v_.clients_text(state.members) +
           " and company " + v_.clients_text(together) +
           (!member ? ", and is no member"
            : !own  ? ", and is not in its company"
                    : ", which is no part of the members");
  });
  return false;
}

// G4: different companies of one view have no client in common. Returns the company's index, or
// kNone after a violation.
Index GroupViewJudge::company(Index client, GroupState& state, std::vector<Index> together,
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
    v_.violate(GroupProperty::g4_same_origin, at, [&] {
      const Company& known = state.companies[other];
      return v_.name(client) + " came to view " + v_.id_text(state.id) + " of " +
             v_.group_text(state.group) + " with " + v_.clients_text(together) + ", but " +
             v_.name(known.told) + " with " + v_.clients_text(known.together);
    });
    return kNone;
  }
  const Index index = static_cast<Index>(state.companies.size());
  for (const Index member : together) owner(member) = index;
  state.companies.emplace_back().together = std::move(together);
  return index;
}

}  // namespace peal::oracle
