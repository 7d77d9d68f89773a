// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "reference_companies.h"
#include "reference_parts.h"

namespace peal::oracle::test {
namespace {

using trace::Event;
using trace::Kind;
using trace::MessageId;

class Slow {
 public:
  explicit Slow(Promises promises)
      : quorum_(promises == Promises::quorum || promises == Promises::genuine),
        companies_(promises == Promises::companies),
        genuine_(promises == Promises::genuine) {}
  std::set<std::string> broken;

  void add(const Event& event) {
    Life& life = lives_[event.node];
    switch (event.kind) {
      case Kind::start:
        if (life.seen) broken.insert("E1");
        life.seen = true;
        life.ended = life.left = false;
        return;
      case Kind::crash:
      case Kind::leave:
        if (life.left && event.kind == Kind::crash) return;
        if (!alive(life)) return;
        life.ended = true;
        life.left = event.kind == Kind::leave;
        return;
      default: break;
    }
    if (!alive(life)) return;
    switch (event.kind) {
      case Kind::submit: return submit(event, life);
      case Kind::originate: return originate(event, life);
      case Kind::deliver: return deliver(event, life);
      default: return event.transitional ? transit(event, life) : install(event, life);
    }
  }

  void finish() {
    for (const Stay& stay : stays_) {
      self_delivery(stay);
      atomicity(stay);
      total_order(stay);
      safe(stay);
    }
    for (const auto& [way, members] : ways_) travel(way, members);
    for (const Stay& stay : stays_) told(stay);
    if (companies_) return companies();
    for (const auto& [view, order] : orders()) unique_positions(order);
    circles();
    if (quorum_) chain();
  }

 private:
  bool alive(Life& life) {
    life.seen = true;
    if (life.ended) broken.insert("E1");
    return !life.ended;
  }
  Stay* stay_of(Life& life) { return life.stays.empty() ? nullptr : &stays_[life.stays.back()]; }
  const Stay* stay_in(const ViewId& view, const MemberId& member) const {
    const Stay* found = nullptr;
    for (const Stay& stay : stays_) {
      if (stay.view == view && stay.member == member) found = &stay;
    }
    return found;
  }

  std::set<MemberId> members_of(const Event& event) {
    const std::set<MemberId> members(event.members.begin(), event.members.end());
    if (members.size() != event.members.size() || !members.contains(event.node)) {
      broken.insert("E1");
    }
    return members;
  }

  static bool within(const std::set<MemberId>& small, const std::set<MemberId>& large) {
    return std::includes(large.begin(), large.end(), small.begin(), small.end());
  }

  void install(const Event& event, Life& life) {
    const std::set<MemberId> members = members_of(event);
    Stay* old = stay_of(life);
    if (old != nullptr) {
      if (stay_in(event.view, event.node) != nullptr) {
        broken.insert("E2");
        return;
      }
      if (quorum_ && event.view.number <= old->view.number) broken.insert("chain");
      if (!life.in_transit || !old->way.has_value() || old->way->second != event.view ||
          event.view.number <= old->view.number) {
        broken.insert("E1");
      }
    }
    for (const auto& [view, its_members] : views_) {
      if (quorum_ && view.number == event.view.number && view != event.view) broken.insert("chain");
    }
    const std::set<MemberId>& agreed = views_.try_emplace(event.view, members).first->second;
    if (agreed != members) broken.insert("E2");
    if (old != nullptr) {
      old->next = event.view;
      if (old->way.has_value() && old->way->second == event.view &&
          !within(ways_.at(*old->way), agreed)) {
        broken.insert("E1");
      }
    }
    Stay stay;
    stay.member = event.node;
    stay.view = event.view;
    if (old != nullptr) stay.from = old->view;
    life.stays.push_back(stays_.size());
    life.in_transit = false;
    stays_.push_back(std::move(stay));
  }

  void transit(const Event& event, Life& life) {
    const std::set<MemberId> members = members_of(event);
    Stay* stay = stay_of(life);
    if (stay == nullptr || stay->view != event.old || life.in_transit) {
      broken.insert("E1");
      life.in_transit = stay != nullptr;
      return;
    }
    if (!within(members, views_.at(stay->view))) broken.insert("E1");
    const Way way{event.old, event.view};
    if (ways_.try_emplace(way, members).first->second != members) broken.insert("E2");
    stay->way = way;
    life.in_transit = true;
  }

  void submit(const Event& event, Life& life) {
    if (event.message.sender != event.node || submitted_.contains(event.message)) {
      broken.insert("E3");
      return;
    }
    if (sent_.contains(event.message)) return;  // originated before, so E3 is broken already
    submitted_[event.message] = {event.service, event.hash, {}, {}};
    if (const Stay* stay = stay_of(life)) {
      submitted_[event.message].view = stay->view;
      submitted_[event.message].before = stay->regular;
    }
  }

  void originate(const Event& event, Life& life) {
    const MessageId& id = event.message;
    const auto placed = sent_.find(id);
    if (id.sender != event.node ||
        (placed != sent_.end() && !(by_delivery() && !placed->second.by_sender))) {
      broken.insert("E3");
      return;
    }
    if (placed != sent_.end()) return confirm(event, placed->second, life);
    const auto known = submitted_.find(id);
    if (known == submitted_.end() || known->second.service != event.service) broken.insert("E3");
    number_order(id, life.last_number);
    if (companies_) number_order(id, life.last_placed);
    if (known == submitted_.end()) services_[id] = event.service;
    Sent sent{event.view, {event.seq, event.index}, sent_.size(), false, true, {}};
    has_its_place(event);
    Stay* stay = stay_of(life);
    if (stay == nullptr || stay->view != event.view || (life.in_transit && !by_delivery())) {
      broken.insert("E3");
    } else {
      sent.in_view = true;
      sent.before = companies_ ? before_submission(event) : stay->regular;
      sent.before.insert(sent.before.end(), stay->sent.begin(), stay->sent.end());
      if (genuine_) sent.before.clear();  // judge_across() knows the causes
      if (!genuine_) stay->sent.push_back(id);
      if (!quorum_) all_are_here(event.view, "E9");
    }
    sent_[id] = std::move(sent);
  }

  // The sender originates a message that another member delivered earlier.
  void confirm(const Event& event, Sent& sent, Life& life) {
    const Stay* stay = stay_of(life);
    if (sent.view != event.view) {
      broken.insert("E3");
    } else if (!companies_ && sent.position != Position{event.seq, event.index}) {
      broken.insert("E7");
    } else if (stay == nullptr || stay->view != event.view) {
      broken.insert("E3");
    } else {
      if (service_of(event.message) != event.service) broken.insert("E3");
      has_its_place(event);
      if (companies_) number_order(event.message, life.last_placed);
      sent.by_sender = true;
      sent.position = {event.seq, event.index};
      if (companies_ || !sent.in_view) return;
      sent.before.insert(sent.before.end(), stay->regular.begin(), stay->regular.end());
    }
  }

  // A delivery by another member counts as the origination, if the sender is in the view. With
  // Promises::genuine, the sender may be anywhere.
  void originate_by_delivery(const Event& event) {
    const MessageId& id = event.message;
    if (!submitted_.contains(id)) return;
    if (genuine_) {
      sent_[id] = {event.view, {event.seq, event.index}, sent_.size(), false, false, {}};
      return;
    }
    if (!views_.at(event.view).contains(id.sender)) return;
    for (Stay& stay : stays_) {
      if (stay.view != event.view || stay.member != id.sender) continue;
      number_order(id, lives_.at(id.sender).last_number);
      Sent sent{event.view, {event.seq, event.index}, sent_.size(), true, false, stay.sent};
      if (companies_) {
        const Sequence before = before_submission(event);
        sent.before.insert(sent.before.end(), before.begin(), before.end());
        all_are_here(event.view, "E9");
      }
      sent_[id] = std::move(sent);
      stay.sent.push_back(id);
      return;
    }
  }

  // Others may deliver a message before its sender originates it.
  bool by_delivery() const { return quorum_ || companies_; }

  Sequence before_submission(const Event& event) const {
    const auto known = submitted_.find(event.message);
    if (known == submitted_.end() || known->second.view != event.view) return {};
    return known->second.before;
  }

  void has_its_place(const Event& event) {
    if (!companies_) return;
    if (has_a_place(service_of(event.message)) != (event.seq != 0)) broken.insert("E7");
  }

  void all_are_here(const ViewId& view, const char* property) {
    for (const MemberId& member : views_.at(view)) {
      if (stay_in(view, member) == nullptr) broken.insert(property);
    }
  }

  void number_order(const MessageId& id, std::uint64_t& last) {
    if (genuine_) return;  // judge_across()
    if (id.number <= last) {
      broken.insert("E6");
    } else {
      for (const auto& [other, what] : submitted_) {
        const bool between = other.number > last && other.number < id.number;
        if (other.sender == id.sender && between) broken.insert("E6");
      }
    }
    last = std::max(last, id.number);
  }

  Service service_of(const MessageId& id) const {
    const auto known = submitted_.find(id);
    return known == submitted_.end() ? services_.at(id) : known->second.service;
  }

  void deliver(const Event& event, Life& life) {
    const MessageId& id = event.message;
    Stay* stay = stay_of(life);
    const bool here =
        stay != nullptr && stay->view == event.view && life.in_transit == event.transitional;
    if (by_delivery() && here && id.sender != event.node && !sent_.contains(id)) {
      originate_by_delivery(event);
    }
    const auto sent = sent_.find(id);
    if (stay == nullptr || stay->view != event.view || life.in_transit != event.transitional ||
        sent == sent_.end() || sent->second.view != event.view || life.delivered.contains(id)) {
      broken.insert("E3");
      return;
    }
    if (id.sender == event.node && !sent->second.by_sender) {
      broken.insert("E3");
      return;
    }
    const auto known = submitted_.find(id);
    if (service_of(id) != event.service) broken.insert("E3");
    if (known != submitted_.end() && known->second.hash != event.hash) broken.insert("E3");
    const bool elsewhere = sent->second.position != Position{event.seq, event.index};
    if (elsewhere && (!companies_ || id.sender == event.node)) broken.insert("E7");
    has_its_place(event);
    for (const MessageId& before : sent->second.before) {
      if (!life.delivered.contains(before)) broken.insert("E6");
    }
    for (const MessageId& earlier : life.delivered) {
      if (earlier.sender == id.sender && earlier.number > id.number) broken.insert("E6");
    }
    const bool safe = !event.transitional && is_safe(service_of(id));
    if (!quorum_ && safe) all_are_here(event.view, "E8");
    life.delivered.insert(id);
    stay->places[id] = {event.seq, event.index};
    (event.transitional ? stay->tail : stay->regular).push_back(id);
  }

  std::map<ViewId, std::vector<MessageId>> orders() const {
    std::map<ViewId, std::vector<MessageId>> out;
    for (const auto& [id, sent] : sent_) out[sent.view].push_back(id);
    for (auto& [view, order] : out) {
      std::sort(order.begin(), order.end(), [&](const MessageId& a, const MessageId& b) {
        const Sent& x = sent_.at(a);
        const Sent& y = sent_.at(b);
        return std::tie(x.position, x.arrival) < std::tie(y.position, y.arrival);
      });
    }
    return out;
  }

  void unique_positions(const std::vector<MessageId>& order) {
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (sent_.at(order[i - 1]).position == sent_.at(order[i]).position) broken.insert("E7");
    }
  }

  void self_delivery(const Stay& stay) {
    if (!stay.next.has_value()) return;
    std::set<MessageId> have(stay.regular.begin(), stay.regular.end());
    have.insert(stay.tail.begin(), stay.tail.end());
    for (const MessageId& id : stay.sent) {
      const bool judged = companies_ || sent_.at(id).by_sender;
      if (judged && !have.contains(id)) broken.insert("E4");
    }
  }

  void atomicity(const Stay& a) {
    if (!a.way.has_value()) return;
    const auto same = [&](const Sequence& one, const Sequence& other) {
      return companies_ ? same_but_unplaced(one, other, service()) : one == other;
    };
    for (const Stay& b : stays_) {
      if (b.way != a.way) continue;
      if (!same(a.regular, b.regular)) broken.insert("E5");
      const bool both_on = a.next == a.way->second && b.next == b.way->second;
      if (both_on && !same(a.tail, b.tail)) broken.insert("E5");
    }
  }

  ServiceOf service() const {
    return [this](const MessageId& id) { return service_of(id); };
  }

  void total_order(const Stay& stay) {
    if (companies_) return;
    const Sequence all = delivered_in(stay);
    Position last{};
    for (const MessageId& id : all) {
      const Position position = sent_.at(id).position;
      if (id != all.front() && position <= last) broken.insert("E7");
      last = std::max(last, position);
    }
    if (all.empty()) return;
    const std::vector<MessageId> order = orders()[stay.view];
    for (std::size_t k = 0; k < stay.regular.size(); ++k) {
      if (order[k] != stay.regular[k]) broken.insert("E7");
    }
    if (stay.tail.empty() || !stay.way.has_value()) return;
    const std::set<MessageId> have(all.begin(), all.end());
    for (const MessageId& id : order) {
      if (sent_.at(id).position >= last) break;
      if (!have.contains(id) && ways_.at(*stay.way).contains(id.sender)) broken.insert("E7");
    }
  }

  // Members that continue from the view must have the safe messages that this member delivered.
  void safe(const Stay& stay) {
    const auto expect = [&](const std::vector<MessageId>& list, const std::set<MemberId>& members,
                            bool uniform) {
      for (const MessageId& id : list) {
        if (!uniform && !is_safe(service_of(id))) continue;
        for (const MemberId& member : members) {
          const Stay* other = stay_in(stay.view, member);
          if (other == nullptr || !other->next.has_value()) continue;
          if (!lives_.at(member).delivered.contains(id)) broken.insert(uniform ? "uniform" : "E8");
        }
      }
    };
    expect(stay.regular, views_.at(stay.view), quorum_);
    if (stay.way.has_value()) expect(stay.tail, ways_.at(*stay.way), false);
  }

  void companies() {
    std::vector<const Stay*> here;
    for (const auto& [member, life] : lives_) {
      if (life.ended || life.in_transit || life.stays.empty()) continue;
      here.push_back(&stays_[life.stays.back()]);
    }
    broken.merge(judge_companies(stays_, here, service()));
  }

  void travel(const Way& way, const std::set<MemberId>& members) {
    for (const MemberId& member : members) {
      const Stay* stay = stay_in(way.second, member);
      if (stay != nullptr && stay->from != way.first) broken.insert("E2");
    }
  }

  // After a straight step (oracle/README.md), this member has all messages that the other members
  // of the new view delivered in the view that this member left, or in views since then.
  void told(const Stay& stay) {
    if (!stay.way.has_value() || stay.next != stay.way->second) return;
    const std::set<MemberId>& members = views_.at(*stay.next);
    if (members != ways_.at(*stay.way)) return;
    const Life& self = lives_.at(stay.member);
    for (const MemberId& member : members) {
      const auto life = lives_.find(member);
      if (member == stay.member || life == lives_.end()) continue;
      const std::vector<std::size_t>& stays = life->second.stays;
      std::size_t at = 0;
      while (at < stays.size() && stays_[stays[at]].view != *stay.next) ++at;
      if (at == stays.size()) continue;
      while (at-- > 0) {
        const Stay& before = stays_[stays[at]];
        for (const MessageId& message : delivered_in(before)) {
          if (!self.delivered.contains(message)) broken.insert("told");
        }
        if (before.view == stay.view) break;
      }
    }
  }

  void circles() {
    std::vector<Sequence> orders;
    for (const auto& [member, life] : lives_) {
      Sequence& order = orders.emplace_back();
      for (const std::size_t index : life.stays) {
        const Sequence there = delivered_in(stays_[index]);
        order.insert(order.end(), there.begin(), there.end());
      }
    }
    if (in_a_circle(orders)) broken.insert("acyclic");
  }

  void chain() {
    std::map<ViewId, std::vector<Sequence>> views;
    for (const Stay& stay : stays_) views[stay.view].push_back(delivered_in(stay));
    for (const auto& [view, sequences] : views) {
      if (!beginnings_of_one(sequences)) broken.insert("chain");
    }
  }

  bool quorum_;
  bool companies_;
  bool genuine_;
  std::map<MemberId, Life> lives_;
  std::map<ViewId, std::set<MemberId>> views_;
  std::map<Way, std::set<MemberId>> ways_;
  std::vector<Stay> stays_;
  std::map<MessageId, Submitted> submitted_;
  std::map<MessageId, Service> services_;
  std::map<MessageId, Sent> sent_;
};

}  // namespace

std::set<std::string> judge_slowly(const std::vector<Event>& events, Promises promises) {
  Slow slow(promises);
  for (const Event& event : events) slow.add(event);
  slow.finish();
  return slow.broken;
}

std::set<std::string> judge_slowly(const std::vector<Event>& events, const DomainNodes& domains) {
  std::set<std::string> broken = judge_across(events, domains);
  for (std::size_t d = 1; d <= domains.size(); ++d) {
    broken.merge(
        judge_slowly(part_of(events, domains, static_cast<DomainId>(d)), Promises::genuine));
  }
  return broken;
}

}  // namespace peal::oracle::test
