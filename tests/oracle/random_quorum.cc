// SPDX-License-Identifier: Apache-2.0
#include "random_quorum.h"

#include <algorithm>
#include <deque>
#include <map>

namespace peal::oracle::test {
namespace {

using trace::Event;
using trace::Kind;

// Makes one chain of views. In each view, the acceptors choose one message after the other.
class Chain {
 public:
  explicit Chain(Random& random) : random_(random) {
    for (std::uint32_t node = 1; node <= kNodes; ++node) boot(node, 1);
  }

  std::vector<Event> run(std::uint64_t steps) {
    change_view();
    for (std::uint64_t i = 0; i < steps; ++i) step();
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kNodes = 4;

  struct Message {
    trace::MessageId id;
    Service service{};
    Seq seq = 0;
    std::uint32_t index = 0;
  };

  /// The order that the acceptors chose in one view. If `closed`, the next view is chosen, and the
  /// order ends.
  struct Log {
    std::vector<MemberId> members;
    std::vector<Message> order;
    bool closed = false;
  };

  struct Member {
    MemberId id{};
    ViewId view{};  ///< number 0: no view yet
    std::size_t delivered = 0;
    std::uint64_t submitted = 0;
    std::deque<Message> waiting;  ///< submitted, but not chosen yet
    std::deque<Event> script;     ///< the remaining events of a view change
  };

  void step() {
    const std::uint64_t dice = random_.below(100);
    if (dice < 2) return change_view();
    if (dice < 4) return crash();
    if (members_.empty()) return;
    auto at = members_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(members_.size())));
    Member& member = at->second;
    if (!member.script.empty()) return play(member);
    if (member.view.number == 0) return;
    if (dice < 20) return submit(member);
    if (dice < 45) return choose(member);
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
    if (found->second.view == newest_) gone_ = std::max(gone_, found->second.delivered);
    emit(make(found->second.id, random_.below(4) == 0 ? Kind::leave : Kind::crash));
    members_.erase(found);
  }

  void submit(Member& member) {
    Message message;
    message.id = {member.id, ++member.submitted};
    message.service = random_.below(3) == 0 ? Service::safe : Service::agreed;
    member.waiting.push_back(message);
    emit(of_message(member.id, Kind::submit, message));
  }

  // The acceptors choose the member's oldest message for the next place. No member knows the place
  // yet.
  void choose(Member& member) {
    Log& log = logs_[member.view];
    if (log.closed || member.waiting.empty()) return;
    Message message = member.waiting.front();
    member.waiting.pop_front();
    const bool same =
        !log.order.empty() && log.order.back().id.sender == member.id && random_.below(3) == 0;
    message.seq = log.order.empty() ? 1 : log.order.back().seq + (same ? 0 : 1);
    message.index = same ? log.order.back().index + 1 : 0;
    log.order.push_back(message);
  }

  void deliver(Member& member) {
    const Log& log = logs_[member.view];
    if (member.delivered == log.order.size()) return;
    for (const Event& event : taken(member, log.order[member.delivered++], false)) emit(event);
  }

  // The events of a member that reaches a message. If the member sent the message, it learns the
  // place now.
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

  // The newest view ends behind the last message that a member delivered in it. Another view
  // begins.
  void change_view() {
    std::vector<Member*> group;
    for (auto& [node, member] : members_) {
      if (member.script.empty() && random_.below(5) != 0) group.push_back(&member);
    }
    const bool anybody = std::any_of(group.begin(), group.end(),
                                     [&](const Member* member) { return member->view == newest_; });
    if (group.empty() || !anybody) return;
    close(logs_[newest_]);
    std::vector<MemberId> members;
    std::map<ViewId, std::vector<Member*>> companions;
    for (Member* member : group) {
      members.push_back(member->id);
      companions[member->view].push_back(member);
    }
    newest_ = {newest_.number + 1, members.front()};
    logs_[newest_].members = members;
    for (auto& [old, together] : companions) move(old, together);
  }

  void close(Log& log) {
    log.closed = true;
    std::size_t least = 0;
    for (const auto& [node, member] : members_) {
      if (member.view == newest_) least = std::max(least, member.delivered);
    }
    least = std::max(least, gone_);
    gone_ = 0;
    const std::size_t end = least + random_.below(log.order.size() - least + 1);
    while (log.order.size() > end) {
      const Message message = log.order.back();
      log.order.pop_back();
      const auto sender = members_.find(message.id.sender.node.value);
      if (sender == members_.end() || sender->second.id != message.id.sender) continue;
      sender->second.waiting.push_front(message);
    }
  }

  void move(const ViewId& old, const std::vector<Member*>& together) {
    const Log& log = logs_[old];
    std::vector<MemberId> ids;
    std::size_t least = 0;
    for (const Member* member : together) {
      ids.push_back(member->id);
      least = std::max(least, member->delivered);
    }
    const std::size_t cut = least + random_.below(log.order.size() - least + 1);
    for (Member* member : together) {
      const auto script = [&](const Event& event) { member->script.push_back(event); };
      for (std::size_t k = member->delivered; k < log.order.size(); ++k) {
        if (k == cut) script(view_event(*member, old, ids));
        for (const Event& event : taken(*member, log.order[k], k >= cut)) script(event);
      }
      if (old.number != 0 && cut == log.order.size()) script(view_event(*member, old, ids));
      script(view_event(*member, {}, logs_[newest_].members));
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
    if (kind != Kind::originate) event.hash = message.id.number + 7;
    return event;
  }

  Event view_event(const Member& member, const ViewId& old,
                   const std::vector<MemberId>& members) const {
    Event event = make(member.id, Kind::view);
    event.transitional = old.number != 0;
    event.old = old;
    event.view = newest_;
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
  std::map<ViewId, Log> logs_;
  ViewId newest_{};
  std::size_t gone_ = 0;  // most messages delivered in the newest view by a member that is gone
  std::vector<Event> out_;
};

}  // namespace

std::vector<Event> random_quorum_history(Random& random) {
  return Chain(random).run(50 + random.below(400));
}

}  // namespace peal::oracle::test
