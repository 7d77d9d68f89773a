// SPDX-License-Identifier: Apache-2.0
#include "oracle/across_judge.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "oracle/cycles.h"

namespace peal::oracle {

using trace::Kind;

AcrossJudge::AcrossJudge(const Options& options, const DomainMap& domains)
    : domains_(domains), v_(options), runs_(v_, domains_, destinations_) {}

bool AcrossJudge::add(const trace::Event& event) {
  const bool of_process =
      event.kind == Kind::start || event.kind == Kind::crash || event.kind == Kind::leave;
  if (!of_process && event.layer != v_.options.layer) return true;
  ++v_.report.figures.events;
  const Index member = v_.history.member(event.node);
  Process& process = v_.history.processes[member];
  process.last_at = event.at_ns;
  if (event.kind == Kind::start) return start(member, event), true;
  // A process that left may be killed afterwards.
  if (process.stage == Stage::left && event.kind == Kind::crash) return true;
  if (!v_.alive(member, event)) return false;
  switch (event.kind) {
    case Kind::crash: process.stage = Stage::crashed; break;
    case Kind::leave: process.stage = Stage::left; break;
    case Kind::submit: submit(member, event); break;
    case Kind::originate: originate(member, event); break;
    case Kind::deliver: deliver(member, event); break;
    case Kind::view: install(member, event); break;
    case Kind::start:
    case Kind::early:
    case Kind::lost: break;
  }
  return true;
}

void AcrossJudge::start(Index member, const trace::Event& event) {
  Process& process = v_.history.processes[member];
  if (process.stage != Stage::named) {
    v_.violate(Property::e1_view_sequence, member, event.at_ns,
               [&] { return v_.name(member) + " starts, but it did something before"; });
  }
  process.stage = Stage::alive;
}

Index AcrossJudge::message_of(const trace::Event& event) {
  const Index message = v_.history.message(event);
  if (message >= messages_.size()) {
    messages_.resize(message + 1);
    destinations_.resize(message + 1);
  }
  return message;
}

AcrossJudge::Member& AcrossJudge::state_of(Index member) {
  if (member >= members_.size()) members_.resize(member + 1);
  return members_[member];
}

AcrossJudge::Key AcrossJudge::key_of(Index message) const {
  const MessageRecord& record = v_.history.messages[message];
  return {record.seq, record.index};
}

void AcrossJudge::submit(Index member, const trace::Event& event) {
  ++v_.report.figures.submitted;
  const Index message = message_of(event);
  MessageRecord& record = v_.history.messages[message];
  if (record.sender != member || record.submitted) {
    const bool own = record.sender == member;
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " submits " + v_.message_text(message) +
             (own ? " twice" : ", which is not its own");
    });
    return;
  }
  record.submitted = true;
  name_domains(member, message, event);
  const Member& state = state_of(member);
  messages_[message].floor = state.known;
  messages_[message].floor_message = state.known_message;
}

// E3: all events name the same destinations of a message.
void AcrossJudge::name_domains(Index member, Index message, const trace::Event& event) {
  const DomainSet domains = domains_.destinations(event.domains);
  DomainSet& known = destinations_[message];
  if (!std::exchange(messages_[message].named, true)) known = domains;
  if (known == domains) return;
  v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
    return v_.name(member) + " names " + domains_text(domains) + " as the destinations of " +
           v_.message_text(message) + ", and another event " + domains_text(known);
  });
}

// E7: a message has one place, in all its domains.
void AcrossJudge::name_place(Index member, Index message, const trace::Event& event) {
  MessageRecord& record = v_.history.messages[message];
  if (!record.originated) {
    record.originated = true;
    record.seq = event.seq;
    record.index = event.index;
    return;
  }
  if (record.seq == event.seq && record.index == event.index) return;
  v_.violate(Property::e7_total_order, member, event.at_ns, [&] {
    return v_.name(member) + " has " + v_.message_text(message) + " at " +
           v_.position(event.seq, event.index) + ", and another event has it at " +
           v_.position(record.seq, record.index);
  });
}

// The sender of a message learns its place, as a member of a domain of the message or by an answer.
void AcrossJudge::originate(Index member, const trace::Event& event) {
  const Index message = message_of(event);
  MessageRecord& record = v_.history.messages[message];
  Message& known = messages_[message];
  if (record.sender != member || known.told) {
    const bool own = record.sender == member;
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " originates " + v_.message_text(message) +
             (own ? " twice" : ", which is not its own");
    });
    return;
  }
  known.told = true;
  if (v_.options.layer == trace::Layer::order && !record.submitted) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " originates " + v_.message_text(message) +
             ", which was not submitted";
    });
  }
  name_domains(member, message, event);
  name_place(member, message, event);
  Member& state = state_of(member);
  if (record.number < state.last_told) {
    v_.violate(Property::e6_causality, member, event.at_ns, [&] {
      return v_.name(member) + " originates " + v_.message_text(message) + " after its number " +
             std::to_string(state.last_told);
    });
  }
  state.last_told = std::max(state.last_told, record.number);
  if (event.view.number != 0 && event.view == state.view) state.owed.push_back(message);
}

void AcrossJudge::deliver(Index member, const trace::Event& event) {
  const Index message = message_of(event);
  const DomainSet to = domains_.destinations(event.domains);
  if (!to.meets(domains_.of(event.node.node))) {
    v_.violate(Property::e3_integrity, member, event.at_ns, [&] {
      return v_.name(member) + " delivers " + v_.message_text(message) + ", which is for " +
             domains_text(to);
    });
    return;
  }
  name_domains(member, message, event);
  name_place(member, message, event);
  messages_[message].delivered = true;
  if (v_.history.processes[member].has_delivered(message)) return;
  v_.history.processes[member].set_delivered(message);
  Member& state = state_of(member);
  const Key key{event.seq, event.index};
  if (state.last != kNone) {
    if (key <= state.last_key) {
      v_.violate(Property::e7_total_order, member, event.at_ns, [&] {
        return v_.name(member) + " delivers " + v_.message_text(message) + " at " +
               v_.position(key.first, key.second) + " after position " +
               v_.position(state.last_key.first, state.last_key.second);
      });
    }
    follow(state.last, message, member);
  }
  state.last = message;
  state.last_key = key;
  if (key > state.known) {
    state.known = key;
    state.known_message = message;
  }
  runs_.deliver(member, message);
}

void AcrossJudge::follow(Index from, Index to, Index member) {
  Index at = messages_[from].successors;
  while (at != kNone && links_[at].to != to) at = links_[at].next;
  if (at != kNone) return;
  links_.push_back({to, member, messages_[from].successors});
  messages_[from].successors = static_cast<Index>(links_.size() - 1);
}

void AcrossJudge::install(Index member, const trace::Event& event) {
  for (const MemberId& other : event.members) {
    if (domains_.of(other.node) == domains_.of(event.node.node)) continue;
    v_.violate(Property::e1_view_sequence, member, event.at_ns, [&] {
      return v_.name(member) + " installs view " + v_.view_text(v_.history.view(event.view)) +
             " with " + v_.name(v_.history.member(other)) + ", which is not in its domain";
    });
    break;
  }
  runs_.install(member, event);
  if (event.transitional) return;
  check_owed(member, event);
  state_of(member).view = event.view;
}

// E4: a member that goes on has delivered its messages whose places in the view it has learned.
void AcrossJudge::check_owed(Index member, const trace::Event& event) {
  for (const Index message : std::exchange(state_of(member).owed, {})) {
    if (v_.history.processes[member].has_delivered(message)) continue;
    v_.violate(Property::e4_self_delivery, member, event.at_ns, [&] {
      return v_.name(member) + " installs view " + v_.view_text(v_.history.view(event.view)) +
             " without having delivered its " + v_.message_text(message);
    });
  }
}

Report AcrossJudge::finish() {
  messages_.resize(v_.history.messages.size());
  destinations_.resize(messages_.size());
  if (v_.options.layer == trace::Layer::order) finish_submissions();
  finish_places();
  finish_causes();
  finish_senders();
  runs_.finish();
  finish_cycles();
  finish_figures();
  return std::move(v_.report);
}

// E3: a delivered message was submitted. The submission may be among the missing events at the end
// of a trace.
void AcrossJudge::finish_submissions() {
  for (Index message = 0; message < messages_.size(); ++message) {
    const MessageRecord& record = v_.history.messages[message];
    const Process& sender = v_.history.processes[record.sender];
    const bool missing = v_.options.truncated_ok && sender.stage != Stage::left;
    if (!messages_[message].delivered || record.submitted || missing) continue;
    v_.violate(Property::e3_integrity, record.sender, sender.last_at,
               [&] { return v_.message_text(message) + " is delivered, but was not submitted"; });
  }
}

// E7: a place has one message.
void AcrossJudge::finish_places() {
  std::vector<KeyedMessage> all;
  for (Index message = 0; message < messages_.size(); ++message) {
    if (v_.history.messages[message].originated) all.push_back({key_of(message), message});
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i - 1].key != all[i].key) continue;
    const Index sender = v_.history.messages[all[i].message].sender;
    v_.violate(Property::e7_total_order, sender, v_.history.processes[sender].last_at, [&] {
      return v_.message_text(all[i - 1].message) + " and " + v_.message_text(all[i].message) +
             " both have position " + v_.position(all[i].key.first, all[i].key.second);
    });
  }
}

// E6: all that a sender had delivered before it submitted a message has a lower place.
void AcrossJudge::finish_causes() {
  for (Index message = 0; message < messages_.size(); ++message) {
    const MessageRecord& record = v_.history.messages[message];
    const Message& known = messages_[message];
    if (!record.originated || known.floor_message == kNone || known.floor < key_of(message)) {
      continue;
    }
    v_.violate(Property::e6_causality, record.sender, v_.history.processes[record.sender].last_at,
               [&] {
                 return v_.message_text(message) + " has position " +
                        v_.position(record.seq, record.index) + ", but its sender had delivered " +
                        v_.message_text(known.floor_message) + " at " +
                        v_.position(known.floor.first, known.floor.second) +
                        " when it submitted the message";
               });
  }
}

// E6: the places of a sender's messages ascend with their numbers.
void AcrossJudge::finish_senders() {
  for (Index sender = 0; sender < v_.history.processes.size(); ++sender) {
    const Process& process = v_.history.processes[sender];
    std::vector<std::pair<std::uint64_t, Index>> own;
    for (const auto& [number, message] : process.far_numbers) own.emplace_back(number, message);
    for (const Index message : process.by_number) {
      if (message != kNone) own.emplace_back(v_.history.messages[message].number, message);
    }
    std::erase_if(own,
                  [&](const auto& each) { return !v_.history.messages[each.second].originated; });
    std::sort(own.begin(), own.end());
    for (std::size_t i = 1; i < own.size(); ++i) {
      const Index before = own[i - 1].second;
      const Index message = own[i].second;
      if (key_of(before) <= key_of(message)) continue;
      v_.violate(Property::e6_causality, sender, process.last_at, [&] {
        const MessageRecord& record = v_.history.messages[message];
        const MessageRecord& earlier = v_.history.messages[before];
        return v_.message_text(message) + " has position " + v_.position(record.seq, record.index) +
               ", below " + v_.message_text(before) + " at " +
               v_.position(earlier.seq, earlier.index) +
               ", which the same sender submitted earlier";
      });
    }
  }
}

void AcrossJudge::finish_cycles() {
  std::vector<Edge> edges;
  for (Index from = 0; from < messages_.size(); ++from) {
    for (Index at = messages_[from].successors; at != kNone; at = links_[at].next) {
      edges.push_back({from, links_[at].to, links_[at].member});
    }
  }
  const std::vector<Step> cycle = find_cycle(messages_.size(), edges);
  if (cycle.empty()) return;
  v_.violate(Property::acyclic, cycle.front().member,
             v_.history.processes[cycle.front().member].last_at, [&] {
               return "deliveries go round in a circle of " + std::to_string(cycle.size()) + ": " +
                      v_.cycle_text(cycle);
             });
}

// The parts count what members do in their domains.
void AcrossJudge::finish_figures() {
  Figures& figures = v_.report.figures;
  for (Index message = 0; message < messages_.size(); ++message) {
    if (!v_.history.messages[message].originated) continue;
    ++figures.messages;
    if (!messages_[message].told) ++figures.unwitnessed;
  }
  for (const Process& process : v_.history.processes) {
    if (process.stage == Stage::named) continue;
    ++figures.members;
    if (process.stage == Stage::left) ++figures.left;
    const bool ended_early = process.stage == Stage::alive && v_.options.truncated_ok;
    if (process.stage == Stage::crashed || ended_early) ++figures.crashed;
  }
}

}  // namespace peal::oracle
