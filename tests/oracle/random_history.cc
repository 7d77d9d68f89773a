// SPDX-License-Identifier: Apache-2.0
#include "random_history.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace peal::oracle::test {
namespace {

using trace::Event;
using trace::Kind;

constexpr std::uint32_t kNodes = 4;

struct Message {
  trace::MessageId id;
  Service service{};
  Seq seq = 0;
  std::uint32_t index = 0;
};

struct View {
  std::vector<MemberId> members;
  std::vector<Message> order;
  std::set<MemberId> installed;
};

struct Member {
  MemberId id{};
  ViewId view{};              // number 0: no view yet
  std::set<std::size_t> has;  // received messages, as indexes into View::order
  std::size_t delivered = 0;
  std::size_t stable = 0;  // messages that all members are known to have
  std::uint64_t submitted = 0;
  std::deque<Event> script;  // the remaining events of a view change
};

// A model of members, which keeps the guarantees because it follows the rules of extended virtual
// synchrony.
class World {
 public:
  explicit World(Random& random) : random_(random) {
    for (std::uint32_t node = 1; node <= kNodes; ++node) boot(node, 1);
  }

  std::vector<Event> run(std::uint64_t steps) {
    change_views();
    for (std::uint64_t i = 0; i < steps; ++i) step();
    return std::move(out_);
  }

 private:
  void step() {
    const std::uint64_t dice = random_.below(100);
    if (dice < 2) return change_views();
    if (dice < 4) return crash();
    Member* member = any();
    if (member == nullptr) return;
    if (!member->script.empty()) return play(*member);
    if (member->view.number == 0) return;
    if (dice < 30) return send(*member);
    if (dice < 60) return receive(*member);
    deliver(*member);
  }

  Member* any() {
    if (members_.empty()) return nullptr;
    auto at = members_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(members_.size())));
    return &at->second;
  }

  void boot(std::uint32_t node, std::uint64_t epoch) {
    Member member;
    member.id = {NodeId{node}, epoch};
    emit(make(member.id, Kind::start));
    members_[node] = member;
  }

  void crash() {
    const auto node = static_cast<std::uint32_t>(1 + random_.below(kNodes));
    const auto found = members_.find(node);
    if (found == members_.end()) return boot(node, ++epochs_[node] + 1);
    emit(make(found->second.id, random_.below(4) == 0 ? Kind::leave : Kind::crash));
    members_.erase(found);
  }

  void send(Member& member) {
    View& view = views_[member.view];
    if (view.installed.size() < view.members.size()) return;
    Message message;
    message.id = {member.id, ++member.submitted};
    message.service = random_.below(3) == 0 ? Service::safe : Service::agreed;
    const bool same = !view.order.empty() && random_.below(4) == 0;
    message.seq = view.order.empty() ? 1 : view.order.back().seq + (same ? 0 : 1);
    message.index = same ? view.order.back().index + 1 : 0;
    member.has.insert(view.order.size());
    view.order.push_back(message);
    Event event = of_message(member.id, Kind::submit, message);
    event.seq = 0;
    event.index = 0;
    emit(event);
    event = of_message(member.id, Kind::originate, message);
    event.view = member.view;
    emit(event);
  }

  void receive(Member& member) {
    const View& view = views_[member.view];
    if (!view.order.empty()) member.has.insert(random_.below(view.order.size()));
  }

  static std::size_t prefix(const Member& member) {
    std::size_t count = 0;
    while (member.has.contains(count)) ++count;
    return count;
  }

  // The number of messages at the start of the view's order that all members of the view have. The
  // number does not grow if a member crashed, or changes its view.
  std::size_t received_by_all(const Member& member) {
    const View& view = views_[member.view];
    std::size_t least = view.order.size();
    for (const MemberId& id : view.members) {
      const Member* other = find(id);
      const bool there = other != nullptr && other->view == member.view && other->script.empty();
      if (!there) return member.stable;
      least = std::min(least, prefix(*other));
    }
    return std::max(least, member.stable);
  }

  Member* find(const MemberId& id) {
    const auto found = members_.find(id.node.value);
    return found == members_.end() || found->second.id != id ? nullptr : &found->second;
  }

  void deliver(Member& member) {
    if (!member.has.contains(member.delivered)) return;
    const Message& message = views_[member.view].order[member.delivered];
    if (is_safe(message.service)) {
      member.stable = received_by_all(member);
      if (member.delivered >= member.stable) return;
    }
    ++member.delivered;
    emit(delivery(member, message, false));
  }

  // Splits the members that are in no view change into groups. Most of the groups form a view.
  void change_views() {
    std::map<std::uint64_t, std::vector<Member*>> groups;
    const std::uint64_t parts = 1 + random_.below(3);
    for (auto& [node, member] : members_) {
      if (member.script.empty()) groups[random_.below(parts)].push_back(&member);
    }
    for (auto& [part, group] : groups) {
      if (random_.below(5) != 0) form(group);
    }
  }

  void form(const std::vector<Member*>& group) {
    std::uint64_t number = 0;
    std::map<ViewId, std::vector<Member*>> companions;
    std::vector<MemberId> members;
    for (Member* member : group) {
      number = std::max(number, member->view.number);
      companions[member->view].push_back(member);
      members.push_back(member->id);
    }
    const ViewId next{number + 1, members.front()};
    if (views_.contains(next)) return;
    views_[next].members = members;
    for (auto& [old, together] : companions) recover(old, next, together);
  }

  // Companions deliver all messages that one of them has. Before the transitional view they stop at
  // the first gap, or at the first safe message that is not known to be stable. In the transitional
  // view they deliver the rest; behind a gap, only the messages of companions.
  void recover(const ViewId& old, const ViewId& next, const std::vector<Member*>& together) {
    std::vector<MemberId> ids;
    std::set<std::size_t> have;
    std::size_t stable = 0;
    for (const Member* member : together) {
      ids.push_back(member->id);
      have.insert(member->has.begin(), member->has.end());
      stable = std::max(stable, member->stable);
    }
    const std::vector<Message>& order = views_[old].order;
    std::size_t end = 0;
    while (have.contains(end) && !(is_safe(order[end].service) && end >= stable)) ++end;
    for (Member* member : together) {
      std::deque<Event>& script = member->script;
      for (std::size_t k = member->delivered; k < end; ++k) {
        script.push_back(delivery(*member, order[k], false));
      }
      if (old.number != 0) script.push_back(view_event(*member, old, next, ids));
      bool gap = false;
      for (std::size_t k = end; k < order.size(); ++k) {
        if (!have.contains(k)) {
          gap = true;
        } else if (!gap || std::find(ids.begin(), ids.end(), order[k].id.sender) != ids.end()) {
          script.push_back(delivery(*member, order[k], true));
        }
      }
      script.push_back(view_event(*member, {}, next, views_[next].members));
    }
  }

  void play(Member& member) {
    const Event event = member.script.front();
    member.script.pop_front();
    emit(event);
    if (event.kind != Kind::view || event.transitional) return;
    member.view = event.view;
    member.has.clear();
    member.delivered = member.stable = 0;
    views_[event.view].installed.insert(member.id);
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
    event.seq = message.seq;
    event.index = message.index;
    if (kind != Kind::originate) event.hash = message.id.number + 7;
    return event;
  }

  static Event delivery(const Member& member, const Message& message, bool transitional) {
    Event event = of_message(member.id, Kind::deliver, message);
    event.view = member.view;
    event.transitional = transitional;
    return event;
  }

  static Event view_event(const Member& member, const ViewId& old, const ViewId& view,
                          const std::vector<MemberId>& members) {
    Event event = make(member.id, Kind::view);
    event.transitional = old.number != 0;
    event.old = old;
    event.view = view;
    event.members = members;
    return event;
  }

  void emit(Event event) {
    event.at_ns = static_cast<std::int64_t>(out_.size());
    out_.push_back(std::move(event));
  }

  Random& random_;
  std::map<std::uint32_t, Member> members_;  // living members, by node
  std::map<std::uint32_t, std::uint64_t> epochs_;
  std::map<ViewId, View> views_;
  std::vector<Event> out_;
};

void change_field(Event& event, Random& random) {
  switch (random.below(10)) {
    case 0: event.seq += random.below(3) - 1; break;
    case 1: event.index ^= 1; break;
    case 2: event.service = is_safe(event.service) ? Service::agreed : Service::safe; break;
    case 3: event.hash ^= 1; break;
    case 4: event.view.number += random.below(3) - 1; break;
    case 5: event.transitional = !event.transitional; break;
    case 6:
      event.message.number = std::max<std::uint64_t>(1, event.message.number + random.below(3) - 1);
      break;
    case 7:
      event.message.sender.node.value = 1 + static_cast<std::uint32_t>(random.below(kNodes));
      break;
    case 8: event.node.node.value = 1 + static_cast<std::uint32_t>(random.below(kNodes)); break;
    default:
      if (event.members.empty()) break;
      if (random.below(2) == 0) {
        event.members.pop_back();
      } else {
        event.members.front().epoch += 1;
      }
  }
}

}  // namespace

std::vector<Event> random_history(Random& random) {
  return World(random).run(50 + random.below(400));
}

void damage(std::vector<Event>& events, Random& random) {
  const std::size_t at = random.below(events.size());
  const auto there = events.begin() + static_cast<std::ptrdiff_t>(at);
  const auto near = [&] {
    const std::size_t other = std::min(events.size() - 1, at + 1 + random.below(20));
    return events.begin() + static_cast<std::ptrdiff_t>(other);
  };
  switch (random.below(6)) {
    case 0: events.erase(there); return;
    case 1: {
      const Event copy = *there;
      events.insert(near(), copy);
      return;
    }
    case 2: std::iter_swap(there, near()); return;
    case 3: std::rotate(there, there + 1, near()); return;
    default: change_field(*there, random); return;
  }
}

}  // namespace peal::oracle::test
