// SPDX-License-Identifier: Apache-2.0
#include "oracle/causal.h"

#include <utility>

namespace peal::oracle {

using trace::Kind;

void CausalOrder::add(const trace::Event& event) {
  const bool of_process =
      event.kind == Kind::start || event.kind == Kind::crash || event.kind == Kind::leave;
  if (!of_process && event.layer != options_.layer) return;
  const Index member = judge_.history().member(event.node);
  if (member >= queues_.size()) queues_.resize(member + 1);
  if (queues_[member].waits_for == kNone && !must_wait(member, event)) {
    hand_over(event);
    run();
    return;
  }
  if (announces(event)) ++queued_[judge_.history().message(event)];
  queues_[member].events.push_back(event);
}

// True if the event delivers a message, and this delivery cannot be judged yet. Then records that
// the member waits for the message.
bool CausalOrder::must_wait(Index member, const trace::Event& event) {
  if (event.kind != Kind::deliver) return false;
  const Index message = judge_.history().message(event);
  if (can_be_judged(message, event)) return false;
  queues_[member].waits_for = message;
  waiters_[message].push_back(member);
  return true;
}

bool CausalOrder::can_be_judged(Index message, const trace::Event& event) {
  History& history = judge_.history();
  if (history.messages[message].originated) return true;
  if (!options_.companies && !options_.genuine) return false;
  const MessageRecord& record = history.messages[message];
  if (options_.layer == trace::Layer::order && !record.submitted) return false;
  if (options_.genuine) return true;
  return history.span_in(history.view(event.view), record.sender) != kNone;
}

void CausalOrder::hand_over(const trace::Event& event) {
  const bool names_message = event.kind == Kind::originate || event.kind == Kind::submit;
  const Index message = names_message ? judge_.history().message(event) : kNone;
  judge_.add(event);
  if (event.kind == Kind::originate) wake(message);
  if (event.kind == Kind::submit && (options_.companies || options_.genuine)) wake(message);
  if (options_.companies && event.kind == Kind::view && !event.transitional) wake_all();
}

void CausalOrder::wake(Index message) {
  const auto found = waiters_.find(message);
  if (found == waiters_.end()) return;
  for (const Index member : found->second) {
    queues_[member].waits_for = kNone;
    runnable_.push_back(member);
  }
  waiters_.erase(found);
}

void CausalOrder::wake_all() {
  waiters_.clear();
  for (Index member = 0; member < queues_.size(); ++member) {
    if (queues_[member].waits_for == kNone) continue;
    queues_[member].waits_for = kNone;
    runnable_.push_back(member);
  }
}

void CausalOrder::run() {
  while (!runnable_.empty()) {
    const Index member = runnable_.back();
    runnable_.pop_back();
    drain(queues_[member], member);
  }
}

// True if the judge, after this event, can judge deliveries of the event's message. With
// History::counts_units no event is looked up: a unit has no name until all earlier events of its
// member are judged, and its deliveries wait for no submission.
bool CausalOrder::announces(const trace::Event& event) const {
  if (judge_.history().counts_units) return false;
  return event.kind == Kind::originate ||
         ((options_.quorum || options_.companies) && event.kind == Kind::submit);
}

// Passes on a member's events, up to the first event that must wait.
void CausalOrder::drain(Queue& queue, Index member) {
  while (queue.waits_for == kNone && !queue.events.empty()) {
    if (must_wait(member, queue.events.front())) return;
    const trace::Event event = std::move(queue.events.front());
    queue.events.pop_front();
    if (announces(event)) --queued_[judge_.history().message(event)];
    hand_over(event);
  }
}

void CausalOrder::finish() {
  for (Index member = next_to_release(); member != kNone; member = next_to_release()) {
    Queue& queue = queues_[member];
    const Index message = queue.waits_for;
    const trace::Event event = std::move(queue.events.front());
    queue.events.pop_front();
    queue.waits_for = kNone;
    std::erase(waiters_[message], member);
    judge_.set_unwitnessed_ok(options_.truncated_ok && !in_a_queue(message));
    judge_.add(event);
    judge_.set_unwitnessed_ok(false);
    if (judge_.history().messages[message].originated) wake(message);
    runnable_.push_back(member);
    run();
  }
}

// Returns the first member that waits for an origination that never comes. If all members that wait
// do so for queued originations, the waits form a cycle: returns the first of these members.
// Returns kNone if no member waits.
Index CausalOrder::next_to_release() const {
  Index in_a_circle = kNone;
  for (Index member = 0; member < queues_.size(); ++member) {
    if (queues_[member].waits_for == kNone) continue;
    if (!in_a_queue(queues_[member].waits_for)) return member;
    if (in_a_circle == kNone) in_a_circle = member;
  }
  return in_a_circle;
}

bool CausalOrder::in_a_queue(Index message) const {
  const auto found = queued_.find(message);
  return found != queued_.end() && found->second != 0;
}

}  // namespace peal::oracle
