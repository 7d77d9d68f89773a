// SPDX-License-Identifier: Apache-2.0
#include "oracle/company_judge.h"

#include <algorithm>

#include "oracle/cycles.h"

namespace peal::oracle {

void CompanyJudge::finish() {
  for (const Span& span : v_.history.spans) judge_own(span);
  const auto add = [this](Company& company, Index at) { company.push_back(&v_.history.spans[at]); };
  for (const Transition& transition : v_.history.transitions) {
    Company company;
    for (const Index at : transition.spans) add(company, at);
    judge_order(company);
  }
  for (Index index = 0; index < v_.history.views.size(); ++index) {
    Company company;
    for (const Index at : v_.history.views[index].spans) {
      if (at != kNone && ends_in(v_.history.spans[at], index)) add(company, at);
    }
    judge_order(company);
  }
  judge_safe();
}

// E4: a member that went on to another view delivered all its messages that any member delivered in
// the view. Other members may have delivered them before the sender originated them, so the last of
// them may be known only now.
void CompanyJudge::judge_own(const Span& span) {
  if (span.went_to == kNone) return;
  const Process& process = v_.history.processes[span.member];
  const auto lost = std::find_if(span.sent.begin(), span.sent.end(),
                                 [&](Index message) { return !process.has_delivered(message); });
  if (lost == span.sent.end()) return;
  v_.violate(Property::e4_self_delivery, span.member, span.transition_at, [&] {
    return v_.name(span.member) + " installs view " + v_.view_text(span.went_to) +
           " without having delivered its " + v_.message_text(*lost) + ", which was " +
           (v_.history.messages[*lost].witnessed ? "originated" : "delivered by others") +
           " in view " + v_.view_text(span.view);
  });
}

// Whether the member of `span` certainly belongs to the company that is in `view` when the history
// ends. A member that stopped, or whose last events may be missing, may have been cut off before.
bool CompanyJudge::ends_in(const Span& span, Index view) const {
  const Process& process = v_.history.processes[span.member];
  return !v_.options.truncated_ok && process.stage == Stage::alive && process.view == view &&
         !process.transitional;
}

// The deliveries of a span that have a place.
std::vector<Place> CompanyJudge::ordered(const Span& span) const {
  std::vector<Place> places;
  for (std::uint32_t k = 0; k < v_.history.delivery_count(span); ++k) {
    const Index message = v_.history.delivery(span, k);
    if (!has_place(v_.history.messages[message].service)) continue;
    places.push_back(v_.history.place_in(span, message));
  }
  return places;
}

// E7: the members of a company deliver prefixes of one sequence, with the same positions.
void CompanyJudge::judge_order(const Company& company) {
  const Span* longest = nullptr;
  std::vector<Place> sequence;
  for (const Span* span : company) {
    const bool same = longest != nullptr && span->common == longest->common &&
                      span->apart == longest->apart && span->tail == longest->tail &&
                      span->elsewhere == longest->elsewhere && span->sets == longest->sets;
    if (same) continue;
    std::vector<Place> own = ordered(*span);
    const auto differs = std::mismatch(own.begin(), own.end(), sequence.begin(), sequence.end());
    if (differs.first != own.end() && differs.second != sequence.end()) {
      report_difference(*span, *differs.first, *longest, *differs.second);
      return judge_cycles(company);
    }
    const bool longer = longest == nullptr || own.size() > sequence.size();
    if (longest != nullptr) judge_sets(longer ? *longest : *span, longer ? *span : *longest);
    if (longer) {
      sequence = std::move(own);
      longest = span;
    }
  }
}

// activation: sets with equal numbers have equal messages. The members deliver prefixes of one
// sequence, so it is enough to compare the numbers of messages. The last set of the member that
// delivered less may be incomplete.
void CompanyJudge::judge_sets(const Span& shorter, const Span& longer) {
  for (std::size_t i = 0; i < shorter.sets.size() && i < longer.sets.size(); ++i) {
    const DecidedSet& one = shorter.sets[i];
    const DecidedSet& other = longer.sets[i];
    const bool last = i + 1 == shorter.sets.size();
    const bool counts = one.messages == other.messages || (last && one.messages < other.messages);
    if (one.number == other.number && counts) continue;
    v_.violate(Property::activation, shorter.member, shorter.installed_at, [&] {
      const auto text = [&](const Span& span, const DecidedSet& set) {
        return v_.name(span.member) + " delivers " + std::to_string(set.messages) +
               " messages of set " + std::to_string(set.number);
      };
      return text(shorter, one) + " of view " + v_.view_text(shorter.view) + ", and " +
             text(longer, other) + "; both are of one company";
    });
    return;
  }
}

void CompanyJudge::report_difference(const Span& a, const Place& at_a, const Span& b,
                                     const Place& at_b) {
  v_.violate(Property::e7_total_order, a.member, a.installed_at, [&] {
    const auto text = [&](const Span& span, const Place& place) {
      return v_.name(span.member) + " delivers " + v_.message_text(place.message) + " at " +
             v_.position(place.seq, place.index);
    };
    return text(a, at_a) + " of view " + v_.view_text(a.view) + ", and " + text(b, at_b) +
           "; both are of one company";
  });
}

// acyclic: the union of the company's delivery orders, of messages with places, has no cycle.
// Positions are not considered. Prefixes of one sequence cannot have a cycle.
void CompanyJudge::judge_cycles(const Company& company) {
  std::vector<Edge> edges;
  for (const Span* span : company) {
    const std::vector<Place> order = ordered(*span);
    for (std::size_t k = 1; k < order.size(); ++k) {
      edges.push_back({order[k - 1].message, order[k].message, span->member});
    }
  }
  const std::vector<Step> cycle = find_cycle(v_.history.messages.size(), edges);
  if (cycle.empty()) return;
  v_.violate(Property::acyclic, cycle.front().member,
             v_.history.processes[cycle.front().member].last_at, [&] {
               return "deliveries of one company go round in a circle of " +
                      std::to_string(cycle.size()) + ": " + v_.cycle_text(cycle);
             });
}

// E8, across companies: if any member delivered a safe message before the transitional view, this
// message is a *landmark* of the view. There is one order of the view's safe messages in which all
// members deliver the landmarks, and in which each other safe message is on the same side of each
// landmark at all members that deliver both. Safe messages that are no landmarks, between the same
// two landmarks, may have any order.
void CompanyJudge::judge_safe() {
  std::vector<Edge> edges;
  for (const View& view : v_.history.views) {
    if (view.stable_message == kNone) continue;
    const std::unordered_set<Index> landmarks = landmarks_of(view);
    for (const Index at : view.spans) {
      if (at != kNone) add_safe_edges(v_.history.spans[at], landmarks, edges);
    }
  }
  if (edges.empty()) return;
  const std::vector<Step> cycle = find_cycle(v_.history.messages.size(), edges);
  if (cycle.empty()) return;
  v_.violate(Property::e8_safe, cycle.front().member,
             v_.history.processes[cycle.front().member].last_at,
             [&] { return "safe messages have no common order: " + v_.cycle_text(cycle); });
}

std::unordered_set<Index> CompanyJudge::landmarks_of(const View& view) const {
  std::unordered_set<Index> landmarks;
  const auto add = [&](Index message) {
    if (is_safe(v_.history.messages[message].service)) landmarks.insert(message);
  };
  for (const Index message : view.log) add(message);
  for (const Index at : view.spans) {
    if (at == kNone) continue;
    for (const Index message : v_.history.spans[at].apart) add(message);
  }
  return landmarks;
}

// Adds few edges from which the order of all pairs with a landmark follows: each landmark precedes
// the next one, and the messages in between come after the one and before the other.
void CompanyJudge::add_safe_edges(const Span& span, const std::unordered_set<Index>& landmarks,
                                  std::vector<Edge>& edges) const {
  Index landmark = kNone;
  std::vector<Index> since;  // no landmarks; delivered since the last landmark
  for (std::uint32_t k = 0; k < v_.history.delivery_count(span); ++k) {
    const Index message = v_.history.delivery(span, k);
    if (!is_safe(v_.history.messages[message].service)) continue;
    if (landmark != kNone) edges.push_back({landmark, message, span.member});
    if (!landmarks.contains(message)) {
      since.push_back(message);
      continue;
    }
    for (const Index before : since) edges.push_back({before, message, span.member});
    since.clear();
    landmark = message;
  }
}

}  // namespace peal::oracle
