// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/explanation.h"

#include <algorithm>
#include <utility>

#include "order/ramcast/vocabulary.h"

namespace peal::order::ramcast {
namespace {

WaitReason reason(const WaitKind& kind, std::vector<MemberId> who, Seq seq = 0) {
  std::sort(who.begin(), who.end());
  WaitReason out;
  out.kind = &kind;
  out.seq = seq;
  if (!who.empty()) out.who = who.front();
  out.all = std::move(who);
  return out;
}

}  // namespace

MemberId Explanation::member(NodeIndex node) const {
  if (node == parts_.index) return parts_.self;
  const MemberId& peer = links_.peer(node);
  return peer == MemberId{} ? MemberId{parts_.layout.role(node).node, 0} : peer;
}

WaitReason Explanation::why(Instant now) const {
  if (parts_.serves()) {
    WaitReason own = of_server(now);
    if (own.kind != &order::wait::nothing) {
      return own.domain == 0 ? in(parts_.domain, std::move(own)) : own;
    }
  }
  WaitReason sending = of_sender();
  if (sending.kind != &order::wait::nothing || !parts_.serves()) return sending;
  // Nothing of this node is under way. What waits outside the engine, such as for tables of groups,
  // may be for members that have not delivered as much as this one.
  std::vector<MemberId> late = state_.is_member() ? behind() : std::vector<MemberId>{};
  if (late.empty()) return sending;
  return in(parts_.domain, reason(wait::deliveries, std::move(late), state_.delivered()));
}

/// The nodes of the domain whose places have the property.
template <class Property>
std::vector<MemberId> Explanation::servers_that(Property has) const {
  std::vector<MemberId> found;
  const std::vector<NodeIndex>& servers = parts_.layout.servers(parts_.domain);
  for (Place place = 0; place < servers.size(); ++place) {
    if (has(place)) found.push_back(member(servers[place]));
  }
  return found;
}

/// Those that give no signs of life.
std::vector<MemberId> Explanation::unheard(Instant now) const {
  return servers_that(
      [&](Place place) { return place != parts_.place && !watch_.trusts(now, place); });
}

/// Those that have been in a view.
std::vector<MemberId> Explanation::knowing_order() const {
  return servers_that([this](Place place) {
    return place == parts_.place ? state_.has_view() : watch_.control(place).delivered > 0;
  });
}

/// Those that say that they lead.
std::vector<MemberId> Explanation::leading(Instant now) const {
  return servers_that([&](Place place) {
    return watch_.trusts(now, place) && watch_.control(place).mark_entry > 0;
  });
}

/// The members that are not known to have delivered what this server has.
std::vector<MemberId> Explanation::behind() const {
  return servers_that([this](Place place) {
    return state_.is_member(place) && watch_.delivered_by(place) < state_.delivered();
  });
}

WaitReason Explanation::of_server(Instant now) const {
  const Standing& standing = parts_.standing;
  std::vector<MemberId> silent = unheard(now);
  const std::size_t all = parts_.layout.servers(parts_.domain).size();
  if (!state_.has_view() && !silent.empty()) return reason(wait::beginning, std::move(silent));
  if (all - silent.size() < parts_.quorum()) return reason(wait::majority, std::move(silent));
  std::vector<MemberId> knowing = knowing_order();
  if (silent.empty() && !knowing.empty() && knowing.size() < parts_.quorum()) {
    return reason(wait::lost, std::move(knowing));
  }
  // This server has restarted, and the others have an order.
  if (!standing.has_order() && knowing.size() >= parts_.quorum()) {
    return reason(wait::readmission, leading(now));
  }
  std::vector<MemberId> leader;
  if (standing.promised.coordinator.node.value != 0)
    leader.push_back(standing.promised.coordinator);
  if (state_.has_view() && !state_.is_member()) return reason(wait::readmission, std::move(leader));
  if (backlogs_.is_owed()) {
    return reason(wait::owed, servers_that([&](Place place) {
                    return place != parts_.place && watch_.trusts(now, place);
                  }));
  }
  if (!standing.in_step() || !standing.active) return reason(wait::leader, std::move(leader));
  if (outlet_.held()) return reason(order::wait::slow_application, {parts_.self});
  if (const Record* record = outlet_.lacks_body()) {
    return reason(order::wait::packet, {record->id.sender}, record->key);
  }
  const Seq front = outlet_.blocked_by();
  if (front == 0 && standing.waits_for_slot) return reason(order::wait::window, behind());
  if (front == 0) return of_proposals(std::move(leader));
  for (const Record* record : messages_.pending()) {
    if (record->own.key == front) return of_message(*record);
  }
  return reason(wait::acknowledgements, {}, front);
}

/// No stamp blocks the order. Messages may have none yet: a leader proposes as long as a majority
/// has room for its log.
WaitReason Explanation::of_proposals(std::vector<MemberId> leader) const {
  const std::vector<Record*>& pending = messages_.pending();
  const bool waits = std::any_of(pending.begin(), pending.end(), [](const Record* record) {
    return record->own.key == 0 && record->key == 0;
  });
  if (!waits) return {};
  if (!parts_.standing.leads()) return reason(wait::leader, std::move(leader));
  std::vector<MemberId> full = servers_that([this](Place place) {
    const NodeIndex server = parts_.layout.servers(parts_.domain)[place];
    return server != parts_.index && !log_.has_room_at(server);
  });
  return full.empty() ? WaitReason{} : reason(order::wait::window, std::move(full));
}

/// The domain whose order has to advance. It is not named if there is only one.
WaitReason Explanation::in(unsigned domain, WaitReason reason) const {
  if (parts_.layout.is_divided()) reason.domain = static_cast<Domain>(domain);
  return reason;
}

/// Nodes of the domain to which this one has no connection.
std::vector<MemberId> Explanation::closed(unsigned domain) const {
  std::vector<MemberId> found;
  for (const NodeIndex server : parts_.layout.servers(domain)) {
    if (server != parts_.index && !links_.open(server)) found.push_back(member(server));
  }
  return found;
}

/// The message has no key: one of its domains has proposed no timestamp that counts, or has no
/// majority that has acknowledged the timestamps.
WaitReason Explanation::of_message(const Record& record) const {
  const Seq seq = record.own.key;
  for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
    if (((record.head.to >> domain) & 1U) == 0 || domain == parts_.domain) continue;
    if (((record.replaced >> domain) & 1U) != 0) return in(domain, reason(wait::replaced, {}, seq));
    if (record.others[domain].key != 0) continue;
    return in(domain, reason(wait::timestamp, closed(domain), seq));
  }
  for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
    if (((record.head.to >> domain) & 1U) == 0) continue;
    std::vector<MemberId> who;
    for (const NodeIndex server : parts_.layout.servers(domain)) {
      const bool own = server == parts_.index;
      const bool agrees =
          own ? record.acknowledged != 0
              : record.said[server].acknowledged && record.said[server].digest == record.digest;
      if (!agrees) who.push_back(member(server));
    }
    if (parts_.layout.servers(domain).size() - who.size() >= parts_.layout.quorum(domain)) continue;
    return in(domain, reason(wait::acknowledgements, std::move(who), seq));
  }
  return in(parts_.domain, reason(wait::acknowledgements, {}, seq));
}

/// A message of this node to these domains has no place.
WaitReason Explanation::of_place(wire::DomainBits domains) const {
  WaitReason first;
  for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
    if (((domains >> domain) & 1U) == 0) continue;
    std::vector<MemberId> gone = closed(domain);
    const std::size_t reached = parts_.layout.servers(domain).size() - gone.size();
    WaitReason each = in(domain, reason(wait::place, std::move(gone)));
    if (reached < parts_.layout.quorum(domain)) return each;
    if (first.kind == &order::wait::nothing) first = std::move(each);
  }
  return first;
}

/// This node's oldest message has no place, or is not delivered by all.
WaitReason Explanation::of_sender() const {
  if (sender_.lacks_space()) return reason(order::wait::window, behind());
  if (sender_.idle()) return {};
  if (sender_.waiting() != 0) return of_place(sender_.waiting_for());
  if (!sender_.is_full()) return {};
  std::vector<MemberId> who;
  const wire::DomainBits domains = sender_.oldest_to();
  for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
    if (((domains >> domain) & 1U) == 0) continue;
    for (const NodeIndex server : parts_.layout.servers(domain)) {
      if (server != parts_.index) who.push_back(member(server));
    }
  }
  return reason(order::wait::window, std::move(who));
}

}  // namespace peal::order::ramcast
