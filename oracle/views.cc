// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "oracle/core.h"

// View changes: E1, E2, E4, E5, primary views.

namespace peal::oracle {
namespace {

bool contains(const std::vector<Index>& list, Index item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

void Core::install(Index member, const Event& event) {
  ++report_.figures.installs;
  if (!alive(member, event)) return;
  const Index view = history_.view(event.view);
  std::vector<Index> members = member_list(member, event);
  if (!check_succession(member, view, event)) return;
  announce(member, view, std::move(members), event);
  if (history_.processes[member].span != kNone) close_span(member, view, event);
  open_span(member, view, event);
  check_primary(member, view, event);
}

void Core::install_transitional(Index member, const Event& event) {
  ++report_.figures.transitional_installs;
  if (!alive(member, event)) return;
  const Index old = history_.view(event.old);
  const Index next = history_.view(event.view);
  std::vector<Index> members = member_list(member, event);
  Process& process = history_.processes[member];
  if (process.view != old || process.transitional) {
    violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return name(member) + " installs the transitional view from " + view_text(old) + " to " +
             view_text(next) + " while it is " + where_text(process);
    });
    process.transitional = process.span != kNone;
    return;
  }
  const View& from = history_.views[process.view];
  for (const Index other : members) {
    if (contains(from.members, other)) continue;
    violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return name(member) + " installs a transitional view from " + view_text(old) + " to " +
             view_text(next) + " with " + name(other) + ", which is not in the view it leaves";
    });
    break;
  }
  Index index = history_.find_transition(old, next);
  if (index == kNone) {
    index = history_.add_transition(old, next);
    history_.transitions[index].members = std::move(members);
    history_.transitions[index].first_span = process.span;
  } else if (history_.transitions[index].members != members) {
    const Transition& known = history_.transitions[index];
    violate(Property::e2_view_agreement, member, event.at_ns, [&] {
      return name(member) + " installs " + transition_text(known) + " with members " +
             members_text(members) + ", but " + name(history_.spans[known.first_span].member) +
             " with " + members_text(known.members);
    });
  }
  Transition& transition = history_.transitions[index];
  transition.spans.push_back(process.span);
  Span& span = history_.spans[process.span];
  span.transition = index;
  span.transition_at = event.at_ns;
  process.transitional = true;
  check_atomicity(transition, process.span, /*tails=*/false, event);
}

// The members of a view event, sorted; E1: each once, and the one who installs is among them. The
// order in which the event lists them says nothing.
std::vector<Index> Core::member_list(Index member, const Event& event) {
  std::vector<Index> list;
  list.reserve(event.members.size());
  for (const MemberId& id : event.members) list.push_back(history_.member(id));
  std::sort(list.begin(), list.end(),
            [&](Index a, Index b) { return history_.processes[a].id < history_.processes[b].id; });
  const bool distinct = std::adjacent_find(list.begin(), list.end()) == list.end();
  if (!distinct || !contains(list, member)) {
    violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return name(member) + " installs view " + view_text(history_.view(event.view)) +
             " with members " + members_text(list) +
             (distinct ? ", which leaves itself out" : ", where one is listed twice");
    });
  }
  return list;
}

// E1: regular and transitional views alternate, and ids grow. False if the view was installed
// before.
bool Core::check_succession(Index member, Index view, const Event& event) {
  const Process& process = history_.processes[member];
  if (process.view == kNone) return true;
  const View& next = history_.views[view];
  if (history_.span_in(view, member) != kNone) {
    violate(Property::e2_view_agreement, member, event.at_ns,
            [&] { return name(member) + " installs view " + view_text(view) + " twice"; });
    return false;
  }
  if (options_.quorum && next.id.number <= process.view_id.number) {
    violate(Property::chain, member, event.at_ns, [&] {
      return name(member) + " installs view " + view_text(view) + " after view " +
             view_text(process.view) + ", whose number is not lower";
    });
  }
  const Span& span = history_.spans[process.span];
  const bool expected = process.transitional && span.transition != kNone &&
                        history_.transitions[span.transition].next == view;
  if (!expected) {
    violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return name(member) + " installs view " + view_text(view) + " while it is " +
             where_text(process) + (process.transitional ? ", which leads elsewhere" : "");
    });
  } else if (next.id.number <= process.view_id.number) {
    violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return name(member) + " installs view " + view_text(view) + " after view " +
             view_text(process.view) + ", whose number is not lower";
    });
  }
  return true;
}

// E2: one id, one set of members.
void Core::announce(Index member, Index index, std::vector<Index> members, const Event& event) {
  View& view = history_.views[index];
  if (!view.announced) {
    view.announced = true;
    view.first_at = member;
    view.members = std::move(members);
    view.missing = static_cast<std::uint32_t>(view.members.size());
    view.spans.assign(view.members.size(), kNone);
    view.primary = event.primary;
    ++report_.figures.views;
    check_number(member, index, event);
    return;
  }
  if (view.members != members) {
    violate(Property::e2_view_agreement, member, event.at_ns, [&] {
      return name(member) + " installs view " + view_text(index) + " with members " +
             members_text(members) + ", but " + name(view.first_at) + " with " +
             members_text(view.members);
    });
  }
  if (view.primary != event.primary) {
    violate(Property::primary, member, event.at_ns, [&] {
      return name(member) + " and " + name(view.first_at) + " do not agree whether view " +
             view_text(index) + " is the primary one";
    });
  }
}

void Core::open_span(Index member, Index index, const Event& event) {
  View& view = history_.views[index];
  Process& process = history_.processes[member];
  Span span;
  span.member = member;
  span.view = index;
  span.came_from = process.view;
  if (!contains(view.members, member)) {
    view.strangers.push_back(member);
    view.spans.push_back(kNone);
  }
  span.slot = history_.slot_of(view, member);
  span.installed_at = event.at_ns;
  span.heard.assign(view.members.size(), 0);
  const auto at = static_cast<Index>(history_.spans.size());
  view.spans[span.slot] = at;
  if (span.slot < view.members.size()) --view.missing;
  history_.spans.push_back(std::move(span));
  process.spans.push_back(at);
  process.span = at;
  process.view = index;
  process.early.clear();
  process.early_numbers.clear();
  process.early_last = {};
  process.view_id = event.view;
  process.transitional = false;
}

// E1's last part, E4 and E5, for the span that ends with the installation of `next`.
void Core::close_span(Index member, Index next, const Event& event) {
  const Process& process = history_.processes[member];
  Span& span = history_.spans[process.span];
  span.went_to = next;
  check_self_delivery(member, span, next, event);
  if (span.transition == kNone) return;
  const Transition& transition = history_.transitions[span.transition];
  if (transition.next != next) return;
  for (const Index other : transition.members) {
    if (contains(history_.views[next].members, other)) continue;
    violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return name(member) + " installs " + view_text(next) + " without " + name(other) +
             ", which is in the transitional view before it";
    });
    break;
  }
  check_atomicity(transition, process.span, /*tails=*/true, event);
}

void Core::check_self_delivery(Index member, const Span& span, Index next, const Event& event) {
  const Process& process = history_.processes[member];
  const auto lost = std::find_if(span.sent.begin(), span.sent.end(), [&](Index message) {
    return history_.messages[message].witnessed && !process.has_delivered(message);
  });
  if (lost == span.sent.end()) return;
  violate(Property::e4_self_delivery, member, event.at_ns, [&] {
    return name(member) + " installs view " + view_text(next) + " without having delivered " +
           message_text(*lost) + ", which it originated in view " + view_text(span.view) + " at " +
           position(history_.messages[*lost].seq, history_.messages[*lost].index);
  });
}

// E5: members that go from one view to the next together delivered the same in the first.
void Core::check_atomicity(const Transition& transition, Index index, bool tails,
                           const Event& event) {
  const Span& span = history_.spans[index];
  // The first member that came as far; a list that only grows makes this the same one every time.
  const auto comparable = [&](Index other) {
    return other != index && (!tails || history_.spans[other].went_to == transition.next);
  };
  const auto found = std::find_if(transition.spans.begin(), transition.spans.end(), comparable);
  if (found == transition.spans.end()) return;
  const Span& first = history_.spans[*found];
  const bool same =
      tails ? first.tail == span.tail : first.common == span.common && first.apart == span.apart;
  if (same) return;
  violate(Property::e5_failure_atomicity, span.member, event.at_ns, [&] {
    return name(span.member) + " and " + name(first.member) + " both go " +
           (tails ? "through " : "into ") + transition_text(transition) +
           ", but before it ended they delivered different messages: " +
           difference(span, first, tails);
  });
}

// A claimed primary view has most of the nodes, and no other one without a common node exists.
void Core::check_primary(Index member, Index index, const Event& event) {
  const View& view = history_.views[index];
  if (event.primary != trace::Claim::yes) return;
  if (options_.universe != 0 && 2 * node_count(view) <= options_.universe) {
    violate(Property::primary, member, event.at_ns, [&] {
      return "view " + view_text(index) + " with members " + members_text(view.members) +
             " is claimed to be primary, but has not more than half of " +
             std::to_string(options_.universe) + " nodes";
    });
  }
  if (!options_.live_order) return;
  for (const Process& process : history_.processes) {
    if (process.stage != Stage::alive || process.view == kNone) continue;
    const View& other = history_.views[process.view];
    if (other.primary != trace::Claim::yes || share_a_node(view, other)) continue;
    violate(Property::primary, member, event.at_ns, [&] {
      return name(member) + " installs view " + view_text(index) + " as primary while " +
             name(history_.member(process.id)) + " is in the primary view " +
             view_text(process.view) + ", and no node is in both";
    });
    return;
  }
}

std::uint32_t Core::node_count(const View& view) const {
  std::uint32_t count = 0;
  NodeId last{};
  for (const Index member : view.members) {
    const NodeId node = history_.processes[member].id.node;
    if (node != last) ++count;
    last = node;
  }
  return count;
}

bool Core::share_a_node(const View& a, const View& b) const {
  return std::any_of(a.members.begin(), a.members.end(), [&](Index of_a) {
    const NodeId node = history_.processes[of_a].id.node;
    return std::any_of(b.members.begin(), b.members.end(),
                       [&](Index of_b) { return history_.processes[of_b].id.node == node; });
  });
}

}  // namespace peal::oracle
