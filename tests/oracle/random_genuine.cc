// SPDX-License-Identifier: Apache-2.0
#include "random_genuine.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

namespace peal::oracle::test {
namespace {

using trace::Event;
using trace::Kind;

constexpr Seq kPositionsPerTick = 16;

// Several domains, each with a clock, and with one chain of views. Each domain that a message goes
// to proposes a time above its clock and above all that the sender knew; the latest proposal, with
// its domain, is the message's place, to which these domains set their clocks.
class Cluster {
 public:
  explicit Cluster(Random& random) : random_(random) {
    std::uint32_t node = 0;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      std::vector<NodeId>& nodes = nodes_.emplace_back();
      for (std::uint64_t size = 1 + random.below(3); size > 0; --size) nodes.push_back({++node});
      domains_.emplace_back();
    }
    last_node_ = node + 2;  // two nodes are in no domain
    for (node = 1; node <= last_node_; ++node) boot(node, 1);
  }

  GenuineHistory run(std::uint64_t steps) {
    for (std::size_t d = 0; d < domains_.size(); ++d) change_view(d);
    for (std::uint64_t i = 0; i < steps; ++i) step();
    return {std::move(nodes_), std::move(out_)};
  }

 private:
  struct Message {
    trace::MessageId id;
    Service service{};
    DomainSet domains;
    std::uint64_t floor = 0;  ///< the clock of the highest place that its sender knew
    Seq seq = 0;
  };

  /// The order of one view; it may end later than its members have delivered.
  struct Log {
    std::vector<MemberId> members;
    std::vector<std::size_t> order;  ///< indices in `messages_`
  };

  struct Domain {
    std::uint64_t clock = 0;
    ViewId newest{};
    std::map<ViewId, Log> logs;
    std::size_t gone = 0;  ///< most messages delivered in `newest` by a member that is gone
  };

  struct Member {
    MemberId id{};
    std::optional<std::size_t> domain;
    ViewId view{};  ///< number 0: no view yet
    std::size_t delivered = 0;
    std::uint64_t submitted = 0;
    std::uint64_t floor = 0;
    std::deque<std::size_t> waiting;  ///< submitted, without a place yet
    std::deque<std::size_t> placed;   ///< with a place that this member has not learned
    std::deque<Event> script;         ///< the remaining events of a view change
  };

  void step() {
    const std::uint64_t dice = random_.below(100);
    if (dice < 3) return change_view(random_.below(domains_.size()));
    if (dice < 5) return crash();
    if (members_.empty()) return;
    auto at = members_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(members_.size())));
    Member& member = at->second;
    if (!member.script.empty()) return play(member);
    if (member.domain && member.view.number == 0) return;
    if (dice < 25) return submit(member);
    if (dice < 45) return choose(member.waiting);
    if (dice < 50) return learn(member);
    if (member.domain) deliver(member);
  }

  std::optional<std::size_t> domain_of(std::uint32_t node) const {
    for (std::size_t d = 0; d < nodes_.size(); ++d) {
      if (std::find(nodes_[d].begin(), nodes_[d].end(), NodeId{node}) != nodes_[d].end()) return d;
    }
    return std::nullopt;
  }

  void boot(std::uint32_t node, std::uint64_t epoch) {
    Member member;
    member.id = {NodeId{node}, epoch};
    member.domain = domain_of(node);
    emit(make(member.id, Kind::start));
    members_[node] = std::move(member);
  }

  // What a crashed sender had sent may still be ordered, or a part of it.
  void crash() {
    const auto node = static_cast<std::uint32_t>(1 + random_.below(last_node_));
    const auto found = members_.find(node);
    if (found == members_.end()) return boot(node, ++epochs_[node] + 1);
    Member& member = found->second;
    if (member.domain && member.view == domains_[*member.domain].newest) {
      std::size_t& gone = domains_[*member.domain].gone;
      gone = std::max(gone, member.delivered);
    }
    emit(make(member.id, random_.below(4) == 0 ? Kind::leave : Kind::crash));
    std::deque<std::size_t> left = std::move(member.waiting);
    members_.erase(found);
    for (std::uint64_t n = random_.below(left.size() + 1); n > 0; --n) choose(left);
  }

  void submit(Member& member) {
    Message message;
    message.id = {member.id, ++member.submitted};
    message.service = random_.below(3) == 0 ? Service::safe : Service::agreed;
    for (std::size_t d = 0; d < domains_.size(); ++d) {
      if (random_.below(2) == 0) message.domains.add(static_cast<DomainId>(d + 1));
    }
    message.floor = member.floor;
    emit(of_message(member.id, Kind::submit, message));
    member.waiting.push_back(messages_.size());
    messages_.push_back(message);
  }

  DomainSet destinations(const Message& message) const {
    return message.domains.empty() ? DomainSet::up_to(static_cast<std::uint32_t>(domains_.size()))
                                   : message.domains;
  }

  // The first message that waits gets its place. No member knows the place yet.
  void choose(std::deque<std::size_t>& waiting) {
    if (waiting.empty()) return;
    const std::size_t index = waiting.front();
    waiting.pop_front();
    Message& message = messages_[index];
    std::uint64_t& newest_own = newest_own_[message.id.sender];
    const std::uint64_t floor = std::max(message.floor, newest_own);
    for (const DomainId domain : destinations(message)) {
      Domain& each = domains_[domain - 1U];
      each.clock = std::max(each.clock, floor) + 1 + random_.below(3);
      message.seq = std::max(message.seq, each.clock * kPositionsPerTick + domain);
    }
    for (const DomainId domain : destinations(message)) {
      Domain& each = domains_[domain - 1U];
      each.clock = message.seq / kPositionsPerTick;
      each.logs[each.newest].order.push_back(index);
    }
    newest_own = message.seq / kPositionsPerTick;
    const auto sender = members_.find(message.id.sender.node.value);
    const bool lives = sender != members_.end() && sender->second.id == message.id.sender;
    if (lives) sender->second.placed.push_back(index);
  }

  // The sender learns by an answer where its next message is, if it does not deliver it.
  void learn(Member& member) {
    if (member.placed.empty()) return;
    const std::size_t index = member.placed.front();
    if (delivers(member, index)) return;
    member.placed.pop_front();
    member.floor = std::max(member.floor, messages_[index].seq / kPositionsPerTick);
    emit(originated(member, index, {}));
  }

  bool delivers(const Member& member, std::size_t index) const {
    if (!member.domain) return false;
    return destinations(messages_[index]).has(static_cast<DomainId>(*member.domain + 1));
  }

  Event originated(const Member& member, std::size_t index, const ViewId& view) const {
    const Message& message = messages_[index];
    Event event = of_message(member.id, Kind::originate, message);
    event.view = view;
    event.seq = message.seq;
    return event;
  }

  void deliver(Member& member) {
    const Log& log = domains_[*member.domain].logs[member.view];
    if (member.delivered == log.order.size()) return;
    const std::size_t index = log.order[member.delivered++];
    for (const Event& event : taken(member, index, false)) emit(event);
  }

  // The events of a member that reaches a message. If it is its own, the member learns its place,
  // and the places of its messages before.
  std::vector<Event> taken(Member& member, std::size_t index, bool transitional) {
    std::vector<Event> events;
    const Message& message = messages_[index];
    while (message.id.sender == member.id && !member.placed.empty()) {
      const std::size_t own = member.placed.front();
      member.placed.pop_front();
      events.push_back(originated(member, own, own == index ? member.view : ViewId{}));
      if (own == index) break;
    }
    Event event = of_message(member.id, Kind::deliver, message);
    event.view = member.view;
    event.seq = message.seq;
    event.transitional = transitional;
    events.push_back(event);
    member.floor = std::max(member.floor, message.seq / kPositionsPerTick);
    return events;
  }

  // The newest view of a domain ends behind the last message that a member delivered in it. What
  // comes later belongs to the next view.
  void change_view(std::size_t d) {
    Domain& domain = domains_[d];
    std::vector<Member*> group;
    for (auto& [node, member] : members_) {
      const bool free = member.domain == d && member.script.empty();
      if (free && random_.below(5) != 0) group.push_back(&member);
    }
    const bool anybody = std::any_of(group.begin(), group.end(), [&](const Member* member) {
      return member->view == domain.newest;
    });
    if (group.empty() || !anybody) return;
    std::vector<std::size_t> rest = close(d);
    std::vector<MemberId> members;
    std::map<ViewId, std::vector<Member*>> companions;
    for (Member* member : group) {
      members.push_back(member->id);
      companions[member->view].push_back(member);
    }
    domain.newest = {domain.newest.number + 1, members.front()};
    domain.logs[domain.newest].members = members;
    domain.logs[domain.newest].order = std::move(rest);
    for (auto& [old, together] : companions) move(d, old, together);
  }

  std::vector<std::size_t> close(std::size_t d) {
    Domain& domain = domains_[d];
    Log& log = domain.logs[domain.newest];
    std::size_t least = domain.gone;
    domain.gone = 0;
    for (const auto& [node, member] : members_) {
      if (member.domain == d && member.view == domain.newest) {
        least = std::max(least, member.delivered);
      }
    }
    // Nobody delivers anything before the first view.
    const std::size_t most = domain.newest.number == 0 ? 0 : log.order.size();
    const auto end = static_cast<std::ptrdiff_t>(least + random_.below(most - least + 1));
    std::vector<std::size_t> rest(log.order.begin() + end, log.order.end());
    log.order.resize(static_cast<std::size_t>(end));
    return rest;
  }

  void move(std::size_t d, const ViewId& old, const std::vector<Member*>& together) {
    Domain& domain = domains_[d];
    const std::vector<std::size_t> order = domain.logs[old].order;
    std::vector<MemberId> ids;
    std::size_t least = 0;
    for (const Member* member : together) {
      ids.push_back(member->id);
      least = std::max(least, member->delivered);
    }
    const std::size_t cut = least + random_.below(order.size() - least + 1);
    for (Member* member : together) {
      const auto script = [&](const Event& event) { member->script.push_back(event); };
      const bool first = old.number == 0;
      for (std::size_t k = first ? order.size() : member->delivered; k < order.size(); ++k) {
        if (k == cut) script(view_event(d, *member, old, ids));
        for (const Event& event : taken(*member, order[k], k >= cut)) script(event);
      }
      if (!first && cut == order.size()) script(view_event(d, *member, old, ids));
      script(view_event(d, *member, {}, domain.logs[domain.newest].members));
    }
  }

  void play(Member& member) {
    const Event event = member.script.front();
    member.script.pop_front();
    emit(event);
    if (event.kind != Kind::view || event.transitional) return;
    member.view = event.view;
    member.delivered = 0;
  }

  static Event make(const MemberId& node, Kind kind) {
    Event event;
    event.kind = kind;
    event.node = node;
    return event;
  }

  static Event of_message(const MemberId& node, Kind kind, const Message& message) {
    Event event = make(node, kind);
    event.message = message.id;
    event.service = message.service;
    event.domains = message.domains;
    if (kind != Kind::originate) event.hash = message.id.number + 7;
    return event;
  }

  Event view_event(std::size_t d, const Member& member, const ViewId& old,
                   const std::vector<MemberId>& members) const {
    Event event = make(member.id, Kind::view);
    event.transitional = old.number != 0;
    event.old = old;
    event.view = domains_[d].newest;
    event.members = members;
    return event;
  }

  void emit(Event event) {
    event.at_ns = static_cast<std::int64_t>(out_.size());
    out_.push_back(std::move(event));
  }

  Random& random_;
  DomainNodes nodes_;
  std::vector<Domain> domains_;
  std::uint32_t last_node_ = 0;
  std::vector<Message> messages_;
  std::map<MemberId, std::uint64_t> newest_own_;  // the time of each sender's newest place
  std::map<std::uint32_t, Member> members_;       // living members, by node
  std::map<std::uint32_t, std::uint64_t> epochs_;
  std::vector<Event> out_;
};

}  // namespace

GenuineHistory random_genuine_history(Random& random) {
  return Cluster(random).run(50 + random.below(400));
}

void damage_destinations(std::vector<Event>& events, Random& random) {
  std::vector<Event*> of_messages;
  for (Event& event : events) {
    const bool placed = event.kind == Kind::originate || event.kind == Kind::deliver;
    if (placed || event.kind == Kind::submit) of_messages.push_back(&event);
  }
  if (of_messages.empty()) return;
  Event& event = *of_messages[random.below(of_messages.size())];
  if (event.kind == Kind::submit || random.below(2) == 0) {
    event.domains = DomainSet::of_bits(static_cast<std::uint32_t>(random.below(8) << 1));
  } else {
    event.seq += kPositionsPerTick * (1 + random.below(4)) * (random.below(2) == 0 ? 1 : -1ULL);
  }
}

}  // namespace peal::oracle::test
