// SPDX-License-Identifier: Apache-2.0
#include "reference_genuine.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "reference_parts.h"

namespace peal::oracle::test {
namespace {

using trace::Event;
using trace::Kind;
using trace::MessageId;

DomainSet destinations_of(const Event& event, const DomainNodes& domains) {
  return event.domains.empty() ? DomainSet::up_to(static_cast<std::uint32_t>(domains.size()))
                               : event.domains;
}

/// The events of living incarnations. `broken` gets E1 if others act.
std::vector<Event> of_the_living(const std::vector<Event>& events, std::set<std::string>& broken) {
  struct State {
    bool seen = false, ended = false, left = false;
  };
  std::map<MemberId, State> states;
  std::vector<Event> out;
  for (const Event& event : events) {
    State& state = states[event.node];
    if (event.kind == Kind::start) {
      if (state.seen) broken.insert("E1");
      state = {true, false, false};
    } else if (state.left && event.kind == Kind::crash) {
      continue;
    } else if (state.ended) {
      broken.insert("E1");
      continue;
    }
    state.seen = true;
    state.ended = event.kind == Kind::crash || event.kind == Kind::leave;
    state.left = event.kind == Kind::leave;
    out.push_back(event);
  }
  return out;
}

class Across {
 public:
  explicit Across(const DomainNodes& domains) : domains_(domains) {}
  std::set<std::string> broken;

  void add(const Event& event) {
    switch (event.kind) {
      case Kind::submit: return submit(event);
      case Kind::originate: return originate(event);
      case Kind::deliver: return deliver(event);
      case Kind::view: return install(event);
      default: return;
    }
  }

  void finish() {
    for (const auto& [id, message] : messages_) {
      if (message.delivered && !message.submitted) broken.insert("E3");
      places(id, message);
      causes(message);
    }
    std::vector<Sequence> orders;
    for (auto& [id, member] : members_) {
      member.runs.push_back(std::move(member.run));
      for (const Run& run : member.runs) {
        holes(id, run);
        skips(id, run);
      }
      orders.push_back(member.delivered);
    }
    if (in_a_circle(orders)) broken.insert("acyclic");
  }

 private:
  struct Message {
    std::optional<DomainSet> domains;
    std::optional<Position> place;
    bool submitted = false, told = false, delivered = false;
    std::vector<Position> before;  // the places that its sender had delivered
  };
  struct Run {
    Sequence delivered;
    std::uint64_t first_view = 0;  // its number
  };
  struct Member {
    Sequence delivered, owed;
    std::vector<Position> places;  // of `delivered`
    Run run;
    std::vector<Run> runs;
    ViewId view{};
    std::uint64_t last_told = 0;
    ViewId next{};
    std::multiset<MemberId> together;
  };

  void submit(const Event& event) {
    Message& message = messages_[event.message];
    if (event.message.sender != event.node || message.submitted) {
      broken.insert("E3");
      return;
    }
    message.submitted = true;
    name(message.domains, destinations_of(event, domains_), "E3");
    message.before = members_[event.node].places;
  }

  void originate(const Event& event) {
    Message& message = messages_[event.message];
    if (event.message.sender != event.node || message.told) {
      broken.insert("E3");
      return;
    }
    message.told = true;
    if (!message.submitted) broken.insert("E3");
    name(message.domains, destinations_of(event, domains_), "E3");
    name(message.place, Position{event.seq, event.index}, "E7");
    Member& member = members_[event.node];
    if (event.message.number < member.last_told) broken.insert("E6");
    member.last_told = std::max(member.last_told, event.message.number);
    if (event.view.number != 0 && event.view == member.view) member.owed.push_back(event.message);
  }

  void deliver(const Event& event) {
    if (!destinations_of(event, domains_).meets(domains_of(domains_, event.node.node))) {
      broken.insert("E3");
      return;
    }
    Message& message = messages_[event.message];
    name(message.domains, destinations_of(event, domains_), "E3");
    name(message.place, Position{event.seq, event.index}, "E7");
    message.delivered = true;
    Member& member = members_[event.node];
    if (contains(member.delivered, event.message)) return;
    const Position place{event.seq, event.index};
    if (!member.places.empty() && place <= member.places.back()) broken.insert("E7");
    member.delivered.push_back(event.message);
    member.places.push_back(place);
    member.run.delivered.push_back(event.message);
  }

  void install(const Event& event) {
    Member& member = members_[event.node];
    const std::multiset<MemberId> members(event.members.begin(), event.members.end());
    for (const MemberId& other : members) {
      if (domains_of(domains_, other.node) != domains_of(domains_, event.node.node)) {
        broken.insert("E1");
      }
    }
    if (event.transitional) {
      member.next = event.view;
      member.together = members;
      return;
    }
    for (const MessageId& own : std::exchange(member.owed, {})) {
      if (!contains(member.delivered, own)) broken.insert("E4");
    }
    if (member.next != event.view || member.together != members) {
      member.runs.push_back(std::exchange(member.run, {{}, event.view.number}));
    }
    member.view = event.view;
    for (const DomainId domain : domains_of(domains_, event.node.node)) {
      const auto [known, fresh] = first_views_.try_emplace(domain, event.view.number);
      if (!fresh) known->second = std::min(known->second, event.view.number);
    }
    member.next = {};
    member.together.clear();
  }

  // The first event that names something of a message defines it.
  template <class T>
  void name(std::optional<T>& known, const T& value, const char* property) {
    if (!known) known = value;
    if (*known != value) broken.insert(property);
  }

  static bool contains(const Sequence& all, const MessageId& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  }

  void places(const MessageId& id, const Message& message) {
    if (!message.place) return;
    for (const auto& [other, its] : messages_) {
      if (other == id || !its.place) continue;
      if (*its.place == *message.place) broken.insert("E7");
      const bool earlier = other.sender == id.sender && other.number < id.number;
      if (earlier && *its.place > *message.place) broken.insert("E6");
    }
  }

  void causes(const Message& message) {
    for (const Position& before : message.before) {
      if (message.place && before >= *message.place) broken.insert("E6");
    }
  }

  // A member that came with the first view of its domain has everything from the beginning.
  bool from_the_beginning(const MemberId& member, const Run& run) const {
    for (const DomainId domain : domains_of(domains_, member.node)) {
      const auto first = first_views_.find(domain);
      if (first != first_views_.end() && first->second == run.first_view) return true;
    }
    return false;
  }

  void holes(const MemberId& member, const Run& run) {
    if (run.delivered.empty()) return;
    std::vector<Position> places;
    for (const MessageId& id : run.delivered) places.push_back(*messages_.at(id).place);
    auto [low, high] = std::minmax_element(places.begin(), places.end());
    const Position begin = from_the_beginning(member, run) ? Position{} : *low;
    for (const auto& [id, message] : messages_) {
      if (!message.place || *message.place < begin || *message.place > *high) continue;
      if (!message.domains->meets(domains_of(domains_, member.node))) continue;
      if (!contains(members_.at(member).delivered, id)) broken.insert("E7");
    }
  }

  // Between two messages of one sender, a message without a place.
  void skips(const MemberId& member, const Run& run) {
    for (const auto& [id, message] : messages_) {
      if (!message.submitted || message.place) continue;
      if (!message.domains->meets(domains_of(domains_, member.node))) continue;
      bool earlier = false, later = false;
      for (const MessageId& other : run.delivered) {
        if (other.sender != id.sender) continue;
        earlier = earlier || other.number < id.number || from_the_beginning(member, run);
        later = later || other.number > id.number;
      }
      if (earlier && later) broken.insert("E6");
    }
  }

  const DomainNodes& domains_;
  std::map<DomainId, std::uint64_t> first_views_;
  std::map<MessageId, Message> messages_;
  std::map<MemberId, Member> members_;
};

}  // namespace

DomainSet domains_of(const DomainNodes& domains, NodeId node) {
  DomainSet all;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    if (std::find(domains[i].begin(), domains[i].end(), node) == domains[i].end()) continue;
    all.add(static_cast<DomainId>(i + 1));
  }
  return all;
}

std::vector<Event> part_of(const std::vector<Event>& events, const DomainNodes& domains,
                           DomainId domain) {
  std::set<std::string> ignored;
  std::vector<Event> out;
  for (const Event& event : of_the_living(events, ignored)) {
    const bool here = domains_of(domains, event.node.node).has(domain);
    const bool addressed = destinations_of(event, domains).has(domain);
    bool concerned = here;
    if (event.kind == Kind::submit) concerned = addressed;
    if (event.kind == Kind::originate) concerned = here && addressed && event.view.number != 0;
    if (event.kind == Kind::deliver) concerned = here && addressed;
    if (concerned) out.push_back(event);
  }
  return out;
}

std::set<std::string> judge_across(const std::vector<Event>& events, const DomainNodes& domains) {
  Across across(domains);
  const std::vector<Event> living = of_the_living(events, across.broken);
  for (const Event& event : living) across.add(event);
  across.finish();
  return across.broken;
}

}  // namespace peal::oracle::test
