// SPDX-License-Identifier: Apache-2.0
#include "random_companies.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace peal::oracle::test {
namespace {

using trace::Event;
using trace::Kind;

// A model of members that share one sequence of messages with places in each view, the *line*.
// Before the transitional view, each member delivers a prefix of the line. A company that leaves
// the view chooses its own order for its other messages of the line. But no safe message overtakes
// a safe message that some member may have delivered already.
class Companies {
 public:
  explicit Companies(Random& random) : random_(random) {
    for (std::uint32_t node = 1; node <= kNodes; ++node) boot(node, 1);
  }

  std::vector<Event> run(std::uint64_t steps) {
    change_views();
    for (std::uint64_t i = 0; i < steps; ++i) step();
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kNodes = 4;
  using Items = std::set<std::size_t>;  ///< indexes into Shared::messages

  struct Message {
    trace::MessageId id;
    Service service{};
    Seq seq = 0;
    std::uint32_t index = 0;
    std::size_t on_line = 0;  ///< index in Shared::line
    Items before;             ///< the messages that each member delivers before this one
    bool placed() const { return service == Service::agreed || service == Service::safe; }
  };

  /// What the members of a view share.
  struct Shared {
    std::vector<MemberId> members;
    std::vector<Message> messages;
    std::vector<std::size_t> line;  ///< the messages with places
    std::set<MemberId> installed;
    std::size_t stable = 0;  ///< length of the prefix of `line` that some member may have delivered
  };

  struct Submission {
    Message message;
    ViewId view{};
    Items delivered;
  };

  struct Member {
    MemberId id{};
    ViewId view{};  ///< number 0: none yet
    Items has, delivered;
    std::size_t on_line = 0;  ///< length of the delivered prefix of the line
    std::size_t stable = 0;   ///< length of the line's prefix that all are known to have
    std::uint64_t submitted = 0;
    std::deque<Submission> waiting;
    std::deque<Event> script;  ///< a view change in progress
  };

  void step() {
    const std::uint64_t dice = random_.below(100);
    if (dice == 0) return random_.below(2) == 0 ? change_views() : crash();
    if (members_.empty()) return;
    auto at = members_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(members_.size())));
    Member& member = at->second;
    if (!member.script.empty()) return play(member);
    if (dice < 15) return submit(member);
    if (member.view.number == 0) return;
    if (dice < 35) return send(member);
    if (dice < 75) return receive(member);
    if (dice < 85) return deliver_causal(member);
    deliver(member);
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

  void submit(Member& member) {
    static constexpr Service kServices[] = {Service::agreed, Service::agreed, Service::safe,
                                            Service::causal, Service::causal, Service::fifo};
    Submission submission;
    submission.message.id = {member.id, ++member.submitted};
    submission.message.service = kServices[random_.below(std::size(kServices))];
    submission.view = member.view;
    submission.delivered = member.delivered;
    emit(of_message(member.id, Kind::submit, submission.message));
    member.waiting.push_back(std::move(submission));
  }

  /// Sends the member's oldest waiting message, which follows its earlier messages of the view.
  void send(Member& member) {
    Shared& view = views_[member.view];
    if (view.installed.size() < view.members.size() || member.waiting.empty()) return;
    Message message = member.waiting.front().message;
    if (member.waiting.front().view == member.view)
      message.before = member.waiting.front().delivered;
    member.waiting.pop_front();
    for (std::size_t k = 0; k < view.messages.size(); ++k) {
      if (view.messages[k].id.sender == member.id) message.before.insert(k);
    }
    const std::size_t item = view.messages.size();
    member.has.insert(item);
    if (message.placed()) {
      const Message* last = view.line.empty() ? nullptr : &view.messages[view.line.back()];
      take_place(message, last, random_.below(3) == 0);
      message.on_line = view.line.size();
      view.line.push_back(item);
    }
    view.messages.push_back(std::move(message));
  }

  /// Gives the message the place after `last`. `same`: within the same position, if the messages
  /// have one sender.
  static void take_place(Message& message, const Message* last, bool same) {
    same = same && last != nullptr && last->id.sender == message.id.sender;
    message.seq = last == nullptr ? 1 : last->seq + (same ? 0 : 1);
    message.index = same ? last->index + 1 : 0;
  }

  void receive(Member& member) {
    const Shared& view = views_[member.view];
    for (std::uint64_t n = random_.below(4); n > 0 && !view.messages.empty(); --n) {
      take(member, view, random_.below(view.messages.size()));
    }
  }

  static void take(Member& member, const Shared& view, std::size_t item) {
    if (!member.has.insert(item).second) return;
    for (const std::size_t before : view.messages[item].before) take(member, view, before);
  }

  // ---- deliveries before the transitional view ----

  void deliver(Member& member) {
    Shared& view = views_[member.view];
    if (member.on_line == view.line.size()) return;
    const std::size_t item = view.line[member.on_line];
    if (!member.has.contains(item) || !follows(view, item, member.delivered)) return;
    if (is_safe(view.messages[item].service)) {
      member.stable = received_by_all(member);
      view.stable = std::max(view.stable, member.stable);
      if (member.on_line >= member.stable) return;
    }
    ++member.on_line;
    give(member, view.messages[item], item);
  }

  void deliver_causal(Member& member) {
    const Shared& view = views_[member.view];
    std::vector<std::size_t> ready;
    for (const std::size_t item : member.has) {
      const bool fresh = !view.messages[item].placed() && !member.delivered.contains(item);
      if (fresh && follows(view, item, member.delivered)) ready.push_back(item);
    }
    if (ready.empty()) return;
    const std::size_t item = ready[random_.below(ready.size())];
    give(member, view.messages[item], item);
  }

  void give(Member& member, const Message& message, std::size_t item) {
    member.delivered.insert(item);
    for (const Event& event : taken(member, message, false)) emit(event);
  }

  /// Whether all messages that must precede this one are delivered.
  static bool follows(const Shared& view, std::size_t item, const Items& delivered) {
    const Items& before = view.messages[item].before;
    return std::includes(delivered.begin(), delivered.end(), before.begin(), before.end());
  }

  std::size_t received_by_all(const Member& member) {
    const Shared& view = views_[member.view];
    std::size_t least = view.line.size();
    for (const MemberId& id : view.members) {
      const auto found = members_.find(id.node.value);
      const Member* other = found == members_.end() ? nullptr : &found->second;
      const bool there = other != nullptr && other->id == id && other->view == member.view &&
                         other->script.empty();
      if (!there) return member.stable;
      std::size_t count = 0;
      while (count < view.line.size() && other->has.contains(view.line[count])) ++count;
      least = std::min(least, count);
    }
    return std::max(least, member.stable);
  }

  // The events of a member that delivers a message. A sender originates its message right before it
  // delivers the message.
  static std::vector<Event> taken(const Member& member, const Message& message, bool transitional) {
    std::vector<Event> events;
    for (const Kind kind : {Kind::originate, Kind::deliver}) {
      if (kind == Kind::originate && message.id.sender != member.id) continue;
      Event event = of_message(member.id, kind, message);
      event.view = member.view;
      event.seq = message.seq;
      event.index = message.index;
      event.transitional = transitional && kind == Kind::deliver;
      events.push_back(event);
    }
    return events;
  }

  // ---- view changes ----

  /// Splits the members that can take part into groups, and lets each group form a view.
  void change_views() {
    std::map<std::uint64_t, std::vector<Member*>> groups;
    const std::uint64_t parts = 1 + random_.below(2);
    for (auto& [node, member] : members_) {
      if (member.script.empty()) groups[random_.below(parts)].push_back(&member);
    }
    for (auto& [part, group] : groups) {
      if (random_.below(5) != 0) form(group);
    }
  }

  void form(const std::vector<Member*>& group) {
    std::uint64_t number = 0;
    std::map<ViewId, std::vector<Member*>> companies;
    std::vector<MemberId> members;
    for (Member* member : group) {
      number = std::max(number, member->view.number);
      companies[member->view].push_back(member);
      members.push_back(member->id);
    }
    const ViewId next{number + 1, members.front()};
    if (views_.contains(next)) return;
    views_[next].members = members;
    for (auto& [old, company] : companies) recover(old, next, company);
  }

  /// The members of a company deliver every message that any of them has. Before the transitional
  /// view they deliver a prefix of the line. It ends at the latest before the first gap, or before
  /// the first safe message that is not known to be stable. The rest is delivered in the
  /// transitional view.
  void recover(const ViewId& old, const ViewId& next, const std::vector<Member*>& company) {
    const Shared& view = views_[old];
    std::vector<MemberId> ids;
    Items have;
    std::size_t stable = 0, delivered_most = 0;
    for (const Member* member : company) {
      ids.push_back(member->id);
      have.insert(member->has.begin(), member->has.end());
      stable = std::max(stable, member->stable);
      delivered_most = std::max(delivered_most, member->on_line);
    }
    const std::size_t most = line_end(view, have, stable);
    const std::size_t end = delivered_most + random_.below(most - delivered_most + 1);
    const Items regular = regular_part(view, have, end);
    Items rest;
    std::set_difference(have.begin(), have.end(), regular.begin(), regular.end(),
                        std::inserter(rest, rest.end()));
    const std::vector<Message> order = own_order(view, regular, rest);
    for (Member* member : company) {
      Items delivered = member->delivered;
      Items missing;
      std::set_difference(regular.begin(), regular.end(), delivered.begin(), delivered.end(),
                          std::inserter(missing, missing.end()));
      write(*member, view, missing, line_of(view, missing), delivered, false);
      if (old.number != 0) member->script.push_back(view_event(*member, old, next, ids));
      write(*member, view, rest, order, delivered, true);
      member->script.push_back(view_event(*member, {}, next, views_[next].members));
    }
  }

  static std::size_t line_end(const Shared& view, const Items& have, std::size_t stable) {
    std::size_t end = 0;
    while (end < view.line.size() && have.contains(view.line[end])) {
      if (is_safe(view.messages[view.line[end]].service) && end >= stable) break;
      ++end;
    }
    return end;
  }

  /// The first `end` messages of the line, and the messages without places that follow only
  /// messages of this set.
  static Items regular_part(const Shared& view, const Items& have, std::size_t end) {
    Items part;
    for (std::size_t k = 0; k < end; ++k) part.insert(view.line[k]);
    for (bool grows = true; grows;) {
      grows = false;
      for (const std::size_t item : have) {
        if (view.messages[item].placed() || !follows(view, item, part)) continue;
        grows = part.insert(item).second || grows;
      }
    }
    return part;
  }

  static std::vector<Message> line_of(const Shared& view, const Items& items) {
    std::vector<Message> line;
    for (const std::size_t item : view.line) {
      if (items.contains(item)) line.push_back(view.messages[item]);
    }
    return line;
  }

  /// Chooses the company's order of the messages with places in `rest`, and their places in it.
  std::vector<Message> own_order(const Shared& view, Items delivered, Items rest) {
    std::size_t start = 0;
    while (start < view.line.size() && delivered.contains(view.line[start])) ++start;
    Message last;
    if (start > 0) last = view.messages[view.line[start - 1]];
    std::vector<Message> order;
    while (!rest.empty()) {
      std::vector<std::size_t> ready;
      for (const std::size_t item : rest) {
        if (follows(view, item, delivered) && !overtakes(view, item, rest)) ready.push_back(item);
      }
      const std::size_t item = ready.at(random_.below(ready.size()));
      rest.erase(item);
      delivered.insert(item);
      if (!view.messages[item].placed()) continue;
      Message message = view.messages[item];
      take_place(message, last.seq == 0 ? nullptr : &last, random_.below(3) == 0);
      order.push_back(message);
      last = message;
    }
    return order;
  }

  /// Whether this is a safe message that would overtake a safe message of `rest` that some member
  /// may have delivered already.
  static bool overtakes(const Shared& view, std::size_t item, const Items& rest) {
    const Message& message = view.messages[item];
    if (!is_safe(message.service)) return false;
    return std::any_of(rest.begin(), rest.end(), [&](std::size_t other) {
      const Message& early = view.messages[other];
      return is_safe(early.service) && early.on_line < message.on_line &&
             early.on_line < view.stable;
    });
  }

  /// Adds the member's deliveries of `items` to its script. Messages with places come in `order`,
  /// and the others at random points between them.
  void write(Member& member, const Shared& view, Items items, const std::vector<Message>& order,
             Items& delivered, bool transitional) {
    std::size_t next = 0;
    while (!items.empty()) {
      std::vector<std::size_t> ready;
      for (const std::size_t item : items) {
        const Message& message = view.messages[item];
        const bool turn = !message.placed() || message.id == order[next].id;
        if (turn && follows(view, item, delivered)) ready.push_back(item);
      }
      const std::size_t item = ready.at(random_.below(ready.size()));
      items.erase(item);
      delivered.insert(item);
      const bool placed = view.messages[item].placed();
      const Message& message = placed ? order[next++] : view.messages[item];
      for (const Event& event : taken(member, message, transitional)) {
        member.script.push_back(event);
      }
    }
  }

  void play(Member& member) {
    const Event event = member.script.front();
    member.script.pop_front();
    emit(event);
    if (event.kind != Kind::view || event.transitional) return;
    member.view = event.view;
    member.has.clear();
    member.delivered.clear();
    member.on_line = member.stable = 0;
    views_[event.view].installed.insert(member.id);
  }

  // ---- events ----

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
    if (kind != Kind::originate) event.hash = message.id.number + 7;
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
  std::map<std::uint32_t, Member> members_;  // alive, by node
  std::map<std::uint32_t, std::uint64_t> epochs_;
  std::map<ViewId, Shared> views_;
  std::vector<Event> out_;
};

}  // namespace

std::vector<Event> random_companies_history(Random& random) {
  return Companies(random).run(50 + random.below(1'200));
}

void exchange_deliveries(std::vector<Event>& events, Random& random) {
  std::vector<std::size_t> deliveries;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == Kind::deliver) deliveries.push_back(i);
  }
  if (deliveries.empty()) return;
  const Event one = events[deliveries[random.below(deliveries.size())]];
  std::vector<const Event*> others;
  for (const std::size_t i : deliveries) {
    const Event& other = events[i];
    if (other.node == one.node && other.view == one.view && other.message != one.message) {
      others.push_back(&other);
    }
  }
  if (others.empty()) return;
  const Event other = *others[random.below(others.size())];
  std::set<MemberId> at{one.node};
  for (const std::size_t i : deliveries) {
    if (random.below(20) == 0) at.insert(events[i].node);
  }
  for (const std::size_t i : deliveries) {
    Event& event = events[i];
    if (!at.contains(event.node)) continue;
    const bool is_one = event.message == one.message;
    if (!is_one && event.message != other.message) continue;
    const Event& in_its_place = is_one ? other : one;
    event.message = in_its_place.message;
    event.service = in_its_place.service;
    event.hash = in_its_place.hash;
  }
}

}  // namespace peal::oracle::test
