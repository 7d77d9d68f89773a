// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "oracle/core.h"
#include "oracle/cycles.h"

// What only the whole history shows: E2's travelling together, the rest of E7, E8, and, without a
// common clock, E9.

namespace peal::oracle {

Report Core::finish() {
  finish_views();
  for (const Transition& transition : history_.transitions) {
    finish_travel(transition);
    finish_holes(transition);
    finish_safe(transition);
  }
  finish_told();
  finish_cycles();
  finish_early();
  finish_figures();
  return std::move(report_);
}

void Core::finish_views() {
  for (Index index = 0; index < history_.views.size(); ++index) {
    View& view = history_.views[index];
    finish_order(view);
    finish_installs(view);
    finish_safe(index);
    finish_chain(view);
  }
}

// E9 and E8's first half: whatever is originated in a view, or delivered as safe in it, shows that
// every member installed it.
void Core::finish_installs(View& view) {
  if (view.missing == 0 || options_.quorum) return;
  const Index index = history_.view(view.id);
  for (std::size_t slot = 0; slot < view.members.size(); ++slot) {
    const Index member = view.members[slot];
    if (view.spans[slot] != kNone || !ended_without(member, view)) continue;
    const std::int64_t at_ns = history_.processes[member].last_at;
    if (view.barrier_message != kNone && !view.barrier_reported) {
      violate(Property::e9_barrier, member, at_ns, [&] {
        return message_text(view.barrier_message) + " is originated in view " + view_text(index) +
               ", but " + name(member) + " never installed that view";
      });
    }
    if (view.stable_message != kNone && !view.stable_reported) {
      violate(Property::e8_safe, member, at_ns, [&] {
        return message_text(view.stable_message) + " is delivered as safe in view " +
               view_text(index) + ", but " + name(member) + " never installed that view";
      });
    }
  }
}

// True if the member's missing installation of `view` is not just a missing end of its events.
bool Core::ended_without(Index member, const View& view) const {
  const Process& process = history_.processes[member];
  if (process.stage == Stage::left || !options_.truncated_ok) return true;
  return std::any_of(process.spans.begin(), process.spans.end(), [&](Index span) {
    return history_.views[history_.spans[span].view].id.number > view.id.number;
  });
}

// E7 for views whose messages did not come in the order of their positions: until now it was not
// known what the order is.
void Core::finish_order(View& view) {
  if (view.sorted) return;
  history_.sort_order(view);
  const Index index = history_.view(view.id);
  for (std::size_t i = 1; i < view.order.size(); ++i) {
    const Place& a = view.order[i - 1];
    const Place& b = view.order[i];
    if (a.seq != b.seq || a.index != b.index) continue;
    const MessageRecord& record = history_.messages[b.message];
    violate(
        Property::e7_total_order, record.sender, history_.processes[record.sender].last_at, [&] {
          return message_text(a.message) + " and " + message_text(b.message) +
                 " both have position " + position(b.seq, b.index) + " in view " + view_text(index);
        });
  }
  for (const Index at : view.spans) {
    if (at == kNone || history_.spans[at].hole_reported) continue;
    const Span& span = history_.spans[at];
    for (std::uint32_t k = 0; k < span.regular_count(); ++k) {
      const Place& expected = view.order[k];
      const Index message = history_.regular(span, k);
      if (message == expected.message) continue;
      violate(Property::e7_total_order, span.member, span.installed_at, [&] {
        return name(span.member) + " delivers " + message_text(message) + " in view " +
               view_text(index) + " without " + message_text(expected.message) + " at " +
               position(expected.seq, expected.index) + ", which comes before";
      });
      break;
    }
  }
}

// E7's last part: in a transitional view only messages of members outside it may be skipped.
void Core::finish_holes(const Transition& transition) {
  const Span* first = nullptr;
  for (const Index at : transition.spans) {
    const Span& span = history_.spans[at];
    const bool same = first != nullptr && span.common == first->common &&
                      span.apart == first->apart && span.tail == first->tail;
    if (!same) finish_holes(transition, span);
    if (first == nullptr) first = &span;
  }
}

void Core::finish_holes(const Transition& transition, const Span& span) {
  if (span.tail.empty()) return;
  const View& view = history_.views[span.view];
  const Process& process = history_.processes[span.member];
  std::uint32_t end = 0;
  for (const Index message : span.tail) {
    end = std::max(end, history_.messages[message].ordinal);
  }
  for (std::uint32_t k = span.regular_count(); k < end; ++k) {
    const Place& place = view.order[k];
    if (process.has_delivered(place.message)) continue;
    const Index sender = history_.messages[place.message].sender;
    const auto& members = transition.members;
    if (std::find(members.begin(), members.end(), sender) == members.end()) continue;
    violate(Property::e7_total_order, span.member, span.transition_at, [&] {
      return name(span.member) + " skips " + message_text(place.message) + " at " +
             position(place.seq, place.index) + " of view " + view_text(span.view) + " in " +
             transition_text(transition) + ", although its sender is in it";
    });
    return;
  }
}

// E2: members of a transitional view that install the next view come there on the same way.
void Core::finish_travel(const Transition& transition) {
  for (const Index member : transition.members) {
    const Index at = history_.span_in(transition.next, member);
    if (at == kNone || history_.spans[at].came_from == transition.old) continue;
    const Span& span = history_.spans[at];
    violate(Property::e2_view_agreement, member, span.installed_at, [&] {
      return name(member) + " is in " + transition_text(transition) + " of " +
             name(history_.spans[transition.first_span].member) + ", but came to view " +
             view_text(transition.next) + " from " +
             (span.came_from == kNone ? "no view" : "view " + view_text(span.came_from));
    });
  }
}

// E8 for what was delivered as safe before a transitional view: every member that went on to
// another view delivered it too. On a quorum the same holds for all that was delivered there.
void Core::finish_safe(Index index) {
  const View& view = history_.views[index];
  if (view.stable_message == kNone && !options_.quorum) return;
  std::uint32_t longest = 0;
  std::vector<Index> others;
  for (const Index at : view.spans) {
    if (at == kNone) continue;
    const Span& span = history_.spans[at];
    longest = std::max(longest, span.common);
    others.insert(others.end(), span.apart.begin(), span.apart.end());
  }
  for (std::size_t slot = 0; slot < view.members.size(); ++slot) {
    const Index at = view.spans[slot];
    if (at == kNone || history_.spans[at].went_to == kNone) continue;
    const Span& span = history_.spans[at];
    const std::string where = "view " + view_text(index);
    bool fine = true;
    for (std::uint32_t k = span.common; fine && k < longest; ++k) {
      fine = expect_delivered(span.member, view.log[k], span, where);
    }
    for (std::size_t k = 0; fine && k < others.size(); ++k) {
      fine = expect_delivered(span.member, others[k], span, where);
    }
  }
}

// E8 for what was delivered as safe in a transitional view: the same, for the members of that one.
void Core::finish_safe(const Transition& transition) {
  const Span* first = nullptr;
  for (const Index from : transition.spans) {
    const Span& source = history_.spans[from];
    if (first != nullptr && source.tail == first->tail) continue;
    if (first == nullptr) first = &source;
    for (const Index member : transition.members) {
      const Index at = history_.span_in(transition.old, member);
      if (at == kNone || history_.spans[at].went_to == kNone) continue;
      bool fine = true;
      for (std::size_t k = 0; fine && k < source.tail.size(); ++k) {
        fine = expect_safe(member, source.tail[k], history_.spans[at], transition_text(transition));
      }
    }
  }
}

bool Core::expect_delivered(Index member, Index message, const Span& span,
                            const std::string& where) {
  if (!options_.quorum) return expect_safe(member, message, span, where);
  if (history_.processes[member].has_delivered(message)) return true;
  const MessageRecord& record = history_.messages[message];
  violate(Property::uniform, member, span.transition_at, [&] {
    return message_text(message) + " at " + position(record.seq, record.index) +
           " is delivered in " + where + ", but " + name(member) +
           " went on to another view without it";
  });
  return false;
}

bool Core::expect_safe(Index member, Index message, const Span& span, const std::string& where) {
  const MessageRecord& record = history_.messages[message];
  if (!is_safe(record.service) || history_.processes[member].has_delivered(message)) return true;
  violate(Property::e8_safe, member, span.transition_at, [&] {
    return message_text(message) + " at " + position(record.seq, record.index) + " of view " +
           view_text(record.view) + " is delivered as safe in " + where + ", but " + name(member) +
           " went on to another view without it";
  });
  return false;
}

void Core::finish_cycles() {
  const std::vector<Step> cycle = find_cycle(history_);
  if (cycle.empty()) return;
  constexpr std::size_t kShown = 8;
  violate(Property::acyclic, cycle.front().member, history_.processes[cycle.front().member].last_at,
          [&] {
            std::string text =
                "deliveries go round in a circle of " + std::to_string(cycle.size()) + ": ";
            for (std::size_t i = 0; i < std::min(cycle.size(), kShown); ++i) {
              text +=
                  message_text(cycle[i].message) + " before (at " + name(cycle[i].member) + ") ";
            }
            return text + (cycle.size() > kShown ? "…" : message_text(cycle.front().message));
          });
}

void Core::finish_figures() {
  Figures& figures = report_.figures;
  figures.transitional_views = history_.transitions.size();
  for (const Process& process : history_.processes) {
    if (process.stage == Stage::named) continue;
    ++figures.members;
    if (process.stage == Stage::left) ++figures.left;
    if (process.stage == Stage::crashed ||
        (process.stage == Stage::alive && options_.truncated_ok)) {
      ++figures.crashed;
    }
  }
}

}  // namespace peal::oracle
