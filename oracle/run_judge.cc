// SPDX-License-Identifier: Apache-2.0
#include "oracle/run_judge.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

namespace peal::oracle {
namespace {

constexpr std::uint64_t kNoView = std::numeric_limits<std::uint64_t>::max();

}  // namespace

RunJudge::RunJudge(Verdict& verdict, const DomainMap& domains,
                   const std::vector<DomainSet>& destinations)
    : v_(verdict),
      domains_(domains),
      destinations_(destinations),
      first_views_(domains.count() + 1, kNoView) {}

RunJudge::Run RunJudge::new_run(Index member) const {
  Run run;
  run.member = member;
  run.domains = domains_.of(v_.history.processes[member].id.node);
  return run;
}

RunJudge::Member& RunJudge::state_of(Index member) {
  if (member >= members_.size()) members_.resize(member + 1);
  Member& state = members_[member];
  if (state.run.member == kNone) state.run = new_run(member);
  return state;
}

RunJudge::Key RunJudge::key_of(Index message) const {
  const MessageRecord& record = v_.history.messages[message];
  return {record.seq, record.index};
}

void RunJudge::deliver(Index member, Index message) {
  const MessageRecord& record = v_.history.messages[message];
  const Key key = key_of(message);
  Run& run = state_of(member).run;
  run.low = run.deliveries == 0 ? key : std::min(run.low, key);
  run.high = run.deliveries == 0 ? key : std::max(run.high, key);
  ++run.deliveries;
  if (destinations_[message].meets(run.domains)) ++run.own;
  const auto [known, fresh] = run.senders.try_emplace(record.sender);
  Numbers& numbers = known->second;
  numbers.low = fresh ? record.number : std::min(numbers.low, record.number);
  numbers.high = std::max(numbers.high, record.number);
}

// A run ends with a step that is not straight.
void RunJudge::install(Index member, const trace::Event& event) {
  Member& state = state_of(member);
  std::vector<MemberId> members = event.members;
  std::sort(members.begin(), members.end());
  if (event.transitional) {
    state.next = event.view;
    state.together = std::move(members);
    return;
  }
  const bool straight = state.next == event.view && state.together == members;
  if (!straight) {
    end_run(state.run);
    state.run = new_run(member);
    state.run.first_view = event.view.number;
  }
  state.next = {};
  state.together.clear();
  for (const DomainId domain : state.run.domains) {
    first_views_[domain] = std::min(first_views_[domain], event.view.number);
  }
}

void RunJudge::end_run(Run& run) {
  if (run.deliveries > 0) runs_.push_back(std::move(run));
}

void RunJudge::finish() {
  for (Member& member : members_) end_run(member.run);
  open_first_runs();
  find_holes();
  find_skips();
}

// A run that begins with the first view of a domain begins with the domain's first message. The
// first view may be missing if traces are cut.
void RunJudge::open_first_runs() {
  if (v_.options.truncated_ok) return;
  for (Run& run : runs_) {
    if (run.first_view != first_views_[run.domains.first()]) continue;
    run.low = {};
    for (auto& [sender, numbers] : run.senders) numbers.low = 0;
  }
}

// E7: between two deliveries of a run, a member delivers all messages to its domain that have
// places there, wherever these places are known from.
void RunJudge::find_holes() {
  std::vector<std::vector<KeyedMessage>> orders(domains_.count() + 1);  // by domain
  for (Index message = 0; message < destinations_.size(); ++message) {
    if (!v_.history.messages[message].originated) continue;
    for (const DomainId domain : destinations_[message]) {
      if (domain <= domains_.count()) orders[domain].push_back({key_of(message), message});
    }
  }
  for (auto& order : orders) std::sort(order.begin(), order.end());
  for (const Run& run : runs_) {
    for (const DomainId domain : run.domains) find_hole(run, orders[domain]);
  }
}

void RunJudge::find_hole(const Run& run, const std::vector<KeyedMessage>& order) {
  const auto first = std::lower_bound(order.begin(), order.end(), KeyedMessage{run.low, kNone});
  const auto end = std::upper_bound(order.begin(), order.end(), KeyedMessage{run.high, kNone});
  if (end - first == static_cast<std::ptrdiff_t>(run.own)) return;
  const Process& process = v_.history.processes[run.member];
  for (auto at = first; at != end; ++at) {
    if (process.has_delivered(at->message)) continue;
    v_.violate(Property::e7_total_order, run.member, process.last_at, [&] {
      return v_.name(run.member) + " delivers messages before and behind position " +
             v_.position(at->key.first, at->key.second) + ", but not " +
             v_.message_text(at->message) + ", which is there and for " +
             domains_text(destinations_[at->message]);
    });
    return;
  }
}

// E6: the messages with known places are those of find_holes().
void RunJudge::find_skips() {
  for (Index message = 0; message < destinations_.size(); ++message) {
    const MessageRecord& record = v_.history.messages[message];
    if (!record.submitted || record.originated || !is_skipped(message)) continue;
    v_.violate(Property::e6_causality, record.sender, v_.history.processes[record.sender].last_at,
               [&] {
                 return v_.message_text(message) + " to " + domains_text(destinations_[message]) +
                        " has no place, although a later message of its sender has one there";
               });
  }
}

bool RunJudge::is_skipped(Index message) const {
  const MessageRecord& record = v_.history.messages[message];
  return std::any_of(runs_.begin(), runs_.end(), [&](const Run& run) {
    const auto numbers = run.senders.find(record.sender);
    return destinations_[message].meets(run.domains) && numbers != run.senders.end() &&
           numbers->second.low < record.number && record.number < numbers->second.high;
  });
}

}  // namespace peal::oracle
