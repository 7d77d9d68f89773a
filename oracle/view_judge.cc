// SPDX-License-Identifier: Apache-2.0
#include "oracle/view_judge.h"

#include <algorithm>

namespace peal::oracle {
namespace {

bool lists(const std::vector<Index>& list, Index item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

// chain: no two views have the same number.
void ViewJudge::check_number(Index member, Index index, const trace::Event& event) {
  if (!v_.options.quorum) return;
  const auto [first, fresh] = numbers_.try_emplace(event.view.number, index);
  if (fresh) return;
  const Index other = first->second;
  v_.violate(Property::chain, member, event.at_ns, [&] {
    return v_.name(member) + " installs view " + v_.view_text(index) + ", but " +
           v_.name(v_.history.views[other].first_at) + " installed view " + v_.view_text(other) +
           ", which has the same number";
  });
}

void ViewJudge::install(Index member, const trace::Event& event) {
  ++v_.report.figures.installs;
  if (!v_.alive(member, event)) return;
  const Index view = v_.history.view(event.view);
  std::vector<Index> members = member_list(member, event);
  if (!check_succession(member, view, event)) return;
  announce(member, view, std::move(members), event);
  if (v_.history.processes[member].span != kNone) close_span(member, view, event);
  open_span(member, view, event);
  check_primary(member, view, event);
}

void ViewJudge::install_transitional(Index member, const trace::Event& event) {
  ++v_.report.figures.transitional_installs;
  if (!v_.alive(member, event)) return;
  const Index old = v_.history.view(event.old);
  const Index next = v_.history.view(event.view);
  std::vector<Index> members = member_list(member, event);
  Process& process = v_.history.processes[member];
  if (process.view != old || process.transitional) {
    v_.violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return v_.name(member) + " installs the transitional view from " + v_.view_text(old) +
             " to " + v_.view_text(next) + " while it is " + v_.where_text(process);
    });
    process.transitional = process.span != kNone;
    return;
  }
  const View& from = v_.history.views[process.view];
  for (const Index other : members) {
    if (lists(from.members, other)) continue;
    v_.violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return v_.name(member) + " installs a transitional view from " + v_.view_text(old) + " to " +
             v_.view_text(next) + " with " + v_.name(other) +
             ", which is not in the view it leaves";
    });
    break;
  }
  Index index = v_.history.find_transition(old, next);
  if (index == kNone) {
    index = v_.history.add_transition(old, next);
    v_.history.transitions[index].members = std::move(members);
    v_.history.transitions[index].first_span = process.span;
  } else if (v_.history.transitions[index].members != members) {
    const Transition& known = v_.history.transitions[index];
    v_.violate(Property::e2_view_agreement, member, event.at_ns, [&] {
      return v_.name(member) + " installs " + v_.transition_text(known) + " with members " +
             v_.members_text(members) + ", but " +
             v_.name(v_.history.spans[known.first_span].member) + " with " +
             v_.members_text(known.members);
    });
  }
  Transition& transition = v_.history.transitions[index];
  transition.spans.push_back(process.span);
  Span& span = v_.history.spans[process.span];
  span.transition = index;
  span.transition_at = event.at_ns;
  process.transitional = true;
  check_atomicity(transition, process.span, /*tails=*/false, event);
}

// The members of a view event, sorted. E1: the event lists each member once, and lists the member
// that installs the view. The order in the event does not matter.
std::vector<Index> ViewJudge::member_list(Index member, const trace::Event& event) {
  std::vector<Index> list;
  list.reserve(event.members.size());
  for (const MemberId& id : event.members) list.push_back(v_.history.member(id));
  std::sort(list.begin(), list.end(), [&](Index a, Index b) {
    return v_.history.processes[a].id < v_.history.processes[b].id;
  });
  const bool distinct = std::adjacent_find(list.begin(), list.end()) == list.end();
  if (!distinct || !lists(list, member)) {
    v_.violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return v_.name(member) + " installs view " + v_.view_text(v_.history.view(event.view)) +
             " with members " + v_.members_text(list) +
             (distinct ? ", which leaves itself out" : ", where one is listed twice");
    });
  }
  return list;
}

// E1: regular and transitional views alternate, and the numbers of views grow. Returns false if the
// member has installed this view already.
bool ViewJudge::check_succession(Index member, Index view, const trace::Event& event) {
  const Process& process = v_.history.processes[member];
  if (process.view == kNone) return true;
  const View& next = v_.history.views[view];
  if (v_.history.span_in(view, member) != kNone) {
    v_.violate(Property::e2_view_agreement, member, event.at_ns,
               [&] { return v_.name(member) + " installs view " + v_.view_text(view) + " twice"; });
    return false;
  }
  if (v_.options.quorum && next.id.number <= process.view_id.number) {
    v_.violate(Property::chain, member, event.at_ns, [&] {
      return v_.name(member) + " installs view " + v_.view_text(view) + " after view " +
             v_.view_text(process.view) + ", whose number is not lower";
    });
  }
  const Span& span = v_.history.spans[process.span];
  const bool expected = process.transitional && span.transition != kNone &&
                        v_.history.transitions[span.transition].next == view;
  if (!expected) {
    v_.violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return v_.name(member) + " installs view " + v_.view_text(view) + " while it is " +
             v_.where_text(process) + (process.transitional ? ", which leads elsewhere" : "");
    });
  } else if (next.id.number <= process.view_id.number) {
    v_.violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return v_.name(member) + " installs view " + v_.view_text(view) + " after view " +
             v_.view_text(process.view) + ", whose number is not lower";
    });
  }
  return true;
}

// E2: an id has one set of members.
void ViewJudge::announce(Index member, Index index, std::vector<Index> members,
                         const trace::Event& event) {
  View& view = v_.history.views[index];
  if (!view.announced) {
    view.announced = true;
    view.first_at = member;
    view.members = std::move(members);
    view.missing = static_cast<std::uint32_t>(view.members.size());
    view.spans.assign(view.members.size(), kNone);
    view.primary = event.primary;
    ++v_.report.figures.views;
    check_number(member, index, event);
    return;
  }
  if (view.members != members) {
    v_.violate(Property::e2_view_agreement, member, event.at_ns, [&] {
      return v_.name(member) + " installs view " + v_.view_text(index) + " with members " +
             v_.members_text(members) + ", but " + v_.name(view.first_at) + " with " +
             v_.members_text(view.members);
    });
  }
  if (view.primary != event.primary) {
    v_.violate(Property::primary, member, event.at_ns, [&] {
      return v_.name(member) + " and " + v_.name(view.first_at) + " do not agree whether view " +
             v_.view_text(index) + " is the primary one";
    });
  }
}

void ViewJudge::open_span(Index member, Index index, const trace::Event& event) {
  View& view = v_.history.views[index];
  Process& process = v_.history.processes[member];
  Span span;
  span.member = member;
  span.view = index;
  span.came_from = process.view;
  if (!lists(view.members, member)) {
    view.strangers.push_back(member);
    view.spans.push_back(kNone);
  }
  span.slot = v_.history.slot_of(view, member);
  span.installed_at = event.at_ns;
  span.heard.assign(view.members.size(), 0);
  const auto at = static_cast<Index>(v_.history.spans.size());
  view.spans[span.slot] = at;
  if (span.slot < view.members.size()) --view.missing;
  v_.history.spans.push_back(std::move(span));
  process.spans.push_back(at);
  process.span = at;
  process.view = index;
  process.early.clear();
  process.early_numbers.clear();
  process.early_last = {};
  process.view_id = event.view;
  process.transitional = false;
}

// E1's last part, E4 and E5, for the span that ends when `next` is installed.
void ViewJudge::close_span(Index member, Index next, const trace::Event& event) {
  const Process& process = v_.history.processes[member];
  Span& span = v_.history.spans[process.span];
  span.went_to = next;
  check_self_delivery(member, span, next, event);
  if (span.transition == kNone) return;
  const Transition& transition = v_.history.transitions[span.transition];
  if (transition.next != next) return;
  for (const Index other : transition.members) {
    if (lists(v_.history.views[next].members, other)) continue;
    v_.violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return v_.name(member) + " installs " + v_.view_text(next) + " without " + v_.name(other) +
             ", which is in the transitional view before it";
    });
    break;
  }
  check_atomicity(transition, process.span, /*tails=*/true, event);
}

void ViewJudge::check_self_delivery(Index member, const Span& span, Index next,
                                    const trace::Event& event) {
  if (v_.options.companies) return;  // CompanyJudge
  const Process& process = v_.history.processes[member];
  const auto lost = std::find_if(span.sent.begin(), span.sent.end(), [&](Index message) {
    return v_.history.messages[message].witnessed && !process.has_delivered(message);
  });
  if (lost == span.sent.end()) return;
  v_.violate(Property::e4_self_delivery, member, event.at_ns, [&] {
    return v_.name(member) + " installs view " + v_.view_text(next) + " without having delivered " +
           v_.message_text(*lost) + ", which it originated in view " + v_.view_text(span.view) +
           " at " + v_.position(v_.history.messages[*lost].seq, v_.history.messages[*lost].index);
  });
}

// E5: members that go together from one view to the next delivered the same messages before the
// transitional view. With `tails`: in the transitional view. With Options::companies, the order of
// messages without places does not matter.
void ViewJudge::check_atomicity(const Transition& transition, Index index, bool tails,
                                const trace::Event& event) {
  const Span& span = v_.history.spans[index];
  // Compare with the first other span of this transition; with `tails`, with the first one that
  // goes to the next view. One comparison is enough, because all earlier spans were compared with
  // that span.
  const auto comparable = [&](Index other) {
    return other != index && (!tails || v_.history.spans[other].went_to == transition.next);
  };
  const auto found = std::find_if(transition.spans.begin(), transition.spans.end(), comparable);
  if (found == transition.spans.end()) return;
  const Span& first = v_.history.spans[*found];
  const bool same =
      tails ? first.tail == span.tail : first.common == span.common && first.apart == span.apart;
  if (same || (v_.options.companies && differ_in_causal_only(first, span, tails))) return;
  v_.violate(Property::e5_failure_atomicity, span.member, event.at_ns, [&] {
    return v_.name(span.member) + " and " + v_.name(first.member) + " both go " +
           (tails ? "through " : "into ") + v_.transition_text(transition) +
           ", but before it ended they delivered different messages: " +
           v_.difference(span, first, tails);
  });
}

// True if the two spans have the same sequence of messages with places, and the same set of
// messages without places. With `tails`: in the transitional view.
bool ViewJudge::differ_in_causal_only(const Span& a, const Span& b, bool tails) const {
  std::vector<Index> ordered[2], causal[2];
  for (int i = 0; i < 2; ++i) {
    const Span& span = i == 0 ? a : b;
    const std::uint32_t first = tails ? span.regular_count() : 0;
    const std::uint32_t end = tails ? v_.history.delivery_count(span) : span.regular_count();
    for (std::uint32_t k = first; k < end; ++k) {
      const Index message = v_.history.delivery(span, k);
      const bool placed = has_place(v_.history.messages[message].service);
      (placed ? ordered[i] : causal[i]).push_back(message);
    }
    std::sort(causal[i].begin(), causal[i].end());
  }
  return ordered[0] == ordered[1] && causal[0] == causal[1];
}

// A primary view has more than half of the nodes, and a node in common with each primary view at
// the same time.
void ViewJudge::check_primary(Index member, Index index, const trace::Event& event) {
  const View& view = v_.history.views[index];
  if (event.primary != trace::Claim::yes) return;
  if (v_.options.universe != 0 && 2 * node_count(view) <= v_.options.universe) {
    v_.violate(Property::primary, member, event.at_ns, [&] {
      return "view " + v_.view_text(index) + " with members " + v_.members_text(view.members) +
             " is claimed to be primary, but has not more than half of " +
             std::to_string(v_.options.universe) + " nodes";
    });
  }
  if (!v_.options.live_order) return;
  for (const Process& process : v_.history.processes) {
    if (process.stage != Stage::alive || process.view == kNone) continue;
    const View& other = v_.history.views[process.view];
    if (other.primary != trace::Claim::yes || share_a_node(view, other)) continue;
    v_.violate(Property::primary, member, event.at_ns, [&] {
      return v_.name(member) + " installs view " + v_.view_text(index) + " as primary while " +
             v_.name(v_.history.member(process.id)) + " is in the primary view " +
             v_.view_text(process.view) + ", and no node is in both";
    });
    return;
  }
}

std::uint32_t ViewJudge::node_count(const View& view) const {
  std::uint32_t count = 0;
  NodeId last{};
  for (const Index member : view.members) {
    const NodeId node = v_.history.processes[member].id.node;
    if (node != last) ++count;
    last = node;
  }
  return count;
}

bool ViewJudge::share_a_node(const View& a, const View& b) const {
  return std::any_of(a.members.begin(), a.members.end(), [&](Index of_a) {
    const NodeId node = v_.history.processes[of_a].id.node;
    return std::any_of(b.members.begin(), b.members.end(),
                       [&](Index of_b) { return v_.history.processes[of_b].id.node == node; });
  });
}

}  // namespace peal::oracle
