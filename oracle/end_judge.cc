// SPDX-License-Identifier: Apache-2.0
#include "oracle/end_judge.h"

#include <algorithm>

#include "oracle/cycles.h"

namespace peal::oracle {

void EndJudge::finish() {
  finish_views();
  for (const Transition& transition : v_.history.transitions) {
    finish_travel(transition);
    // With Options::companies, CompanyJudge looks for holes.
    if (!v_.options.companies) finish_holes(transition);
    finish_safe(transition);
  }
  if (!v_.options.companies) finish_cycles();
  finish_figures();
}

// chain: in a view and the transitional view after it, each member delivers a prefix of one
// sequence.
void EndJudge::finish_chain(const View& view) {
  if (!v_.options.quorum) return;
  const Span* longest = nullptr;
  for (const Index at : view.spans) {
    if (at == kNone) continue;
    const Span& span = v_.history.spans[at];
    if (longest == nullptr ||
        v_.history.delivery_count(span) > v_.history.delivery_count(*longest)) {
      longest = &span;
    }
  }
  for (const Index at : view.spans) {
    if (at == kNone) continue;
    const Span& span = v_.history.spans[at];
    const std::uint32_t count = v_.history.delivery_count(span);
    std::uint32_t k = std::min(span.common, longest->common);
    while (k < count && v_.history.delivery(span, k) == v_.history.delivery(*longest, k)) ++k;
    if (k == count) continue;
    v_.violate(Property::chain, span.member, span.installed_at, [&] {
      return v_.name(span.member) + " delivers " + v_.message_text(v_.history.delivery(span, k)) +
             " as number " + std::to_string(k + 1) + " of view " + v_.view_text(span.view) +
             ", but " + v_.name(longest->member) + " " +
             v_.message_text(v_.history.delivery(*longest, k));
    });
  }
}

void EndJudge::finish_views() {
  for (Index index = 0; index < v_.history.views.size(); ++index) {
    View& view = v_.history.views[index];
    finish_order(view);
    finish_installs(view);
    finish_safe(index);
    finish_chain(view);
  }
}

// E9 and E8's first half: reports each member that certainly did not install the view, if a message
// was originated in the view, or delivered in it as safe.
void EndJudge::finish_installs(View& view) {
  if (view.missing == 0 || v_.options.quorum) return;
  const Index index = v_.history.view(view.id);
  for (std::size_t slot = 0; slot < view.members.size(); ++slot) {
    const Index member = view.members[slot];
    if (view.spans[slot] != kNone || !ended_without(member, view)) continue;
    const std::int64_t at_ns = v_.history.processes[member].last_at;
    if (view.barrier_message != kNone && !view.barrier_reported) {
      v_.violate(Property::e9_barrier, member, at_ns, [&] {
        return v_.message_text(view.barrier_message) + " is originated in view " +
               v_.view_text(index) + ", but " + v_.name(member) + " never installed that view";
      });
    }
    if (view.stable_message != kNone && !view.stable_reported) {
      v_.violate(Property::e8_safe, member, at_ns, [&] {
        return v_.message_text(view.stable_message) + " is delivered as safe in view " +
               v_.view_text(index) + ", but " + v_.name(member) + " never installed that view";
      });
    }
  }
}

// True if the member certainly did not install `view`: the installation cannot be among the events
// that are missing at the end of its trace.
bool EndJudge::ended_without(Index member, const View& view) const {
  const Process& process = v_.history.processes[member];
  if (process.stage == Stage::left || !v_.options.truncated_ok) return true;
  return std::any_of(process.spans.begin(), process.spans.end(), [&](Index span) {
    return v_.history.views[v_.history.spans[span].view].id.number > view.id.number;
  });
}

// E7 for views whose originations were not seen in the order of positions. The order of the
// messages of such a view is known only now.
void EndJudge::finish_order(View& view) {
  if (view.sorted) return;
  v_.history.sort_order(view);
  const Index index = v_.history.view(view.id);
  for (std::size_t i = 1; i < view.order.size(); ++i) {
    const Place& a = view.order[i - 1];
    const Place& b = view.order[i];
    if (a.seq != b.seq || a.index != b.index) continue;
    const MessageRecord& record = v_.history.messages[b.message];
    v_.violate(Property::e7_total_order, record.sender, v_.history.processes[record.sender].last_at,
               [&] {
                 return v_.message_text(a.message) + " and " + v_.message_text(b.message) +
                        " both have position " + v_.position(b.seq, b.index) + " in view " +
                        v_.view_text(index);
               });
  }
  for (const Index at : view.spans) {
    if (at == kNone || v_.history.spans[at].hole_reported) continue;
    const Span& span = v_.history.spans[at];
    for (std::uint32_t k = 0; k < span.regular_count(); ++k) {
      const Place& expected = view.order[k];
      const Index message = v_.history.regular(span, k);
      if (message == expected.message) continue;
      v_.violate(Property::e7_total_order, span.member, span.installed_at, [&] {
        return v_.name(span.member) + " delivers " + v_.message_text(message) + " in view " +
               v_.view_text(index) + " without " + v_.message_text(expected.message) + " at " +
               v_.position(expected.seq, expected.index) + ", which comes before";
      });
      break;
    }
  }
}

// E7's last part: in a transitional view, a member may skip only messages whose senders are not in
// the transitional view.
void EndJudge::finish_holes(const Transition& transition) {
  const Span* first = nullptr;
  for (const Index at : transition.spans) {
    const Span& span = v_.history.spans[at];
    const bool same = first != nullptr && span.common == first->common &&
                      span.apart == first->apart && span.tail == first->tail;
    if (!same) finish_holes(transition, span);
    if (first == nullptr) first = &span;
  }
}

void EndJudge::finish_holes(const Transition& transition, const Span& span) {
  if (span.tail.empty()) return;
  const View& view = v_.history.views[span.view];
  const Process& process = v_.history.processes[span.member];
  std::uint32_t end = 0;
  for (const Index message : span.tail) {
    end = std::max(end, v_.history.messages[message].ordinal);
  }
  for (std::uint32_t k = span.regular_count(); k < end; ++k) {
    const Place& place = view.order[k];
    if (process.has_delivered(place.message)) continue;
    const Index sender = v_.history.messages[place.message].sender;
    const auto& members = transition.members;
    if (std::find(members.begin(), members.end(), sender) == members.end()) continue;
    v_.violate(Property::e7_total_order, span.member, span.transition_at, [&] {
      return v_.name(span.member) + " skips " + v_.message_text(place.message) + " at " +
             v_.position(place.seq, place.index) + " of view " + v_.view_text(span.view) + " in " +
             v_.transition_text(transition) + ", although its sender is in it";
    });
    return;
  }
}

// E2: members of a transitional view that install the next view come from the view before the
// transitional view.
void EndJudge::finish_travel(const Transition& transition) {
  for (const Index member : transition.members) {
    const Index at = v_.history.span_in(transition.next, member);
    if (at == kNone || v_.history.spans[at].came_from == transition.old) continue;
    const Span& span = v_.history.spans[at];
    v_.violate(Property::e2_view_agreement, member, span.installed_at, [&] {
      return v_.name(member) + " is in " + v_.transition_text(transition) + " of " +
             v_.name(v_.history.spans[transition.first_span].member) + ", but came to view " +
             v_.view_text(transition.next) + " from " +
             (span.came_from == kNone ? "no view" : "view " + v_.view_text(span.came_from));
    });
  }
}

// E8 for safe deliveries before a transitional view: every member that installed a later view
// delivered the message, too. With Options::quorum, property `uniform` demands this for every
// message, safe or not.
void EndJudge::finish_safe(Index index) {
  const View& view = v_.history.views[index];
  if (view.stable_message == kNone && !v_.options.quorum) return;
  std::uint32_t longest = 0;
  std::vector<Index> others;
  for (const Index at : view.spans) {
    if (at == kNone) continue;
    const Span& span = v_.history.spans[at];
    longest = std::max(longest, span.common);
    others.insert(others.end(), span.apart.begin(), span.apart.end());
  }
  for (std::size_t slot = 0; slot < view.members.size(); ++slot) {
    const Index at = view.spans[slot];
    if (at == kNone || v_.history.spans[at].went_to == kNone) continue;
    const Span& span = v_.history.spans[at];
    const std::string where = "view " + v_.view_text(index);
    bool fine = true;
    for (std::uint32_t k = span.common; fine && k < longest; ++k) {
      fine = expect_delivered(span.member, view.log[k], span, where);
    }
    for (std::size_t k = 0; fine && k < others.size(); ++k) {
      fine = expect_delivered(span.member, others[k], span, where);
    }
  }
}

// E8 for safe deliveries in a transitional view: every member of the transitional view that
// installed a later view delivered the message, too.
void EndJudge::finish_safe(const Transition& transition) {
  const Span* first = nullptr;
  for (const Index from : transition.spans) {
    const Span& source = v_.history.spans[from];
    if (first != nullptr && source.tail == first->tail) continue;
    if (first == nullptr) first = &source;
    for (const Index member : transition.members) {
      const Index at = v_.history.span_in(transition.old, member);
      if (at == kNone || v_.history.spans[at].went_to == kNone) continue;
      bool fine = true;
      for (std::size_t k = 0; fine && k < source.tail.size(); ++k) {
        fine = expect_safe(member, source.tail[k], v_.history.spans[at],
                           v_.transition_text(transition));
      }
    }
  }
}

bool EndJudge::expect_delivered(Index member, Index message, const Span& span,
                                const std::string& where) {
  if (!v_.options.quorum) return expect_safe(member, message, span, where);
  if (v_.history.processes[member].has_delivered(message)) return true;
  const MessageRecord& record = v_.history.messages[message];
  v_.violate(Property::uniform, member, span.transition_at, [&] {
    return v_.message_text(message) + " at " + v_.position(record.seq, record.index) +
           " is delivered in " + where + ", but " + v_.name(member) +
           " went on to another view without it";
  });
  return false;
}

bool EndJudge::expect_safe(Index member, Index message, const Span& span,
                           const std::string& where) {
  const MessageRecord& record = v_.history.messages[message];
  if (!is_safe(record.service) || v_.history.processes[member].has_delivered(message)) return true;
  v_.violate(Property::e8_safe, member, span.transition_at, [&] {
    return v_.message_text(message) + " at " + v_.position(record.seq, record.index) + " of view " +
           v_.view_text(record.view) + " is delivered as safe in " + where + ", but " +
           v_.name(member) + " went on to another view without it";
  });
  return false;
}

void EndJudge::finish_cycles() {
  const std::vector<Step> cycle = find_cycle(v_.history);
  if (cycle.empty()) return;
  v_.violate(Property::acyclic, cycle.front().member,
             v_.history.processes[cycle.front().member].last_at, [&] {
               return "deliveries go round in a circle of " + std::to_string(cycle.size()) + ": " +
                      v_.cycle_text(cycle);
             });
}

void EndJudge::finish_figures() {
  Figures& figures = v_.report.figures;
  figures.transitional_views = v_.history.transitions.size();
  for (const Process& process : v_.history.processes) {
    if (process.stage == Stage::named) continue;
    ++figures.members;
    if (process.stage == Stage::left) ++figures.left;
    if (process.stage == Stage::crashed ||
        (process.stage == Stage::alive && v_.options.truncated_ok)) {
      ++figures.crashed;
    }
  }
}

}  // namespace peal::oracle
