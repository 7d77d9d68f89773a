// SPDX-License-Identifier: Apache-2.0
#include "order/toto/outlet.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

// Why causal units need no count, and wait for nothing but earlier units of their sender (README.md
// (b)): whatever the sender of a node had delivered before it made the node was decided by nodes in
// the node's past. These have joined here, and a criterion that held in the sender's graph holds in
// every larger one. So when a node joins, everything that its sender had delivered is decided here;
// safe units among that have their evidence in the node's past as well. What is left in the queue
// then was not delivered at the sender.

namespace peal::order::toto {
namespace {

/// For samples: members with a node in the graph that the newest node of `origin` does not follow,
/// and `origin` itself.
[[maybe_unused]] std::uint32_t concurrent_with(const CausalGraph& graph, Index origin) {
  std::uint32_t count = 1;
  for (Index other = 0; other < graph.members(); ++other) {
    if (graph.past_of(origin)[other] < graph.joined(other)) ++count;
  }
  return count;
}

}  // namespace

void Outlet::begin_view(Index win, std::uint32_t capacity) {
  const std::size_t members = p_.graph.members();
  order_.begin({.members = static_cast<Index>(members),
                .win = win,
                .rule = p_.options.delivery,
                .capacity = capacity});
  decided_.assign(members * capacity, {});
  decided_by_.assign(members, 0);
  activations_ = 0;
  first_ = end_ = 0;
  places_ = p_.graph.joined(0);  // numbers begin after the same first count
  newest_.reset();
  resume_.reset();
  late_lanes_.clear();
  held_ = owes_evidence_ = unlimited_ = transitional_ = false;
}

bool Outlet::has_room() const { return unlimited_ || p_.host.receive_room_units() > 0; }

void Outlet::on_joined(const Joined& joined, Effects& out) {
  // Only this member's own control nodes join while the application takes nothing.
  PEAL_ASSERT(!held_ || joined.kind == wire::NodeKind::control);
  std::uint64_t& stated = decided_by_[joined.node.origin];
  stated = std::max(stated, joined.decided);
  const bool ordered = joined.kind == wire::NodeKind::agreed || joined.kind == wire::NodeKind::safe;
  order_.on_node(joined.node.origin, joined.node.seq, ordered, p_.graph.past_of(joined.node.origin),
                 {joined.covers.begin(), joined.covers.size()});
  PEAL_SAMPLE(node_joined, p_.membership.self().node.value, joined.node.origin, joined.node.seq,
              ordered ? concurrent_with(p_.graph, joined.node.origin) : 0, order_.pending(),
              order_.candidates());
  decide();
  PEAL_SAMPLE(node_ordered, p_.membership.self().node.value, order_.steps());
  if (held_) return late_lanes_.set(joined.node.origin);
  if (PEAL_MUTANT(tt_causal_before_past)) advance(joined.node.origin, out);
  newest_ = joined.node;
  release(out);
}

void Outlet::on_status(Index member, std::span<const Seq> have, Effects& out) {
  std::vector<Seq> past(have.begin(), have.end());
  for (Index other = 0; other < past.size(); ++other) {
    past[other] = std::min(past[other], p_.graph.joined(other));
  }
  take_virtual(member, past);
  release(out);
}

/// A node of `member` that nobody sent. It follows the nodes up to `past`.
void Outlet::take_virtual(Index member, std::span<const Seq> past) {
  std::vector<Cover> covers;
  for (Index other = 0; other < past.size(); ++other) covers.push_back({other, past[other]});
  order_.on_node(member, past[member] + 1, false, past, covers);
  decide();
}

void Outlet::decide() {
  Activation activation;
  while (order_.decide(activation)) append(activation);
}

void Outlet::append(const Activation& activation) {
  ++p_.counts.activations;
  ++activations_;
  for (const NodeRef& node : activation) {
    const bool safe = p_.graph.stored().kind(node) == wire::NodeKind::safe;
    PEAL_ASSERT(end_ - first_ < decided_.size());
    decided_[end_++ % decided_.size()] = {node, safe, activations_};
    owes_evidence_ = owes_evidence_ || safe;
    PEAL_SAMPLE(unit_decided, p_.membership.self().node.value, node.origin, node.seq,
                order_.voters(), activations_, order_.candidates());
  }
}

/// Whether a node of every member says that its origin has decided the unit at the front.
bool Outlet::has_evidence() const {
  return PEAL_MUTANT(tt_safe_at_once) ||
         std::ranges::all_of(decided_by_,
                             [this](std::uint64_t count) { return count >= front().activation; });
}

MemberBits Outlet::without_evidence() const {
  MemberBits lacking;
  if (empty() || !front().safe) return lacking;
  for (Index member = 0; member < decided_by_.size(); ++member) {
    if (decided_by_[member] < front().activation) lacking.set(member);
  }
  return lacking;
}

void Outlet::release(Effects& out) {
  held_ = false;
  if (resume_) {
    const Index origin = *resume_;
    resume_.reset();
    advance(origin, out);
  }
  while (!held_ && !empty()) {
    if (front().safe && !transitional_ && !has_evidence()) break;
    if (!has_room()) {
      held_ = true;
      return;
    }
    deliver_front(out);
  }
  if (held_) return;
  if (!newest_) return advance_late(out);
  const Index origin = newest_->origin;
  newest_.reset();
  advance(origin, out);
  advance_late(out);
}

void Outlet::advance_late(Effects& out) {
  late_lanes_.for_each([&](Index late) {
    if (!held_) advance(late, out);
  });
  if (!held_) late_lanes_.clear();
}

void Outlet::deliver_front(Effects& out) {
  const Decided unit = front();
  ++first_;
  PEAL_ASSERT(p_.graph.consumed(unit.node.origin) + 1 == unit.node.seq);
  const bool overtaken = PEAL_MUTANT(tt_causal_overtakes) && is_overtaken(unit.node);
  const NodeRef next{unit.node.origin, unit.node.seq + 1};
  if (overtaken) deliver(next, 0, 0, out);
  deliver(unit.node, ++places_, unit.activation, out);
  if (overtaken) p_.graph.consume(next.origin, next.seq);
  advance(unit.node.origin, out);
}

/// Only for the mutant tt_causal_overtakes: the next node of another member has a causal unit.
bool Outlet::is_overtaken(NodeRef node) const {
  return node.origin != p_.membership.index() && node.seq < p_.graph.joined(node.origin) &&
         p_.graph.stored().kind({node.origin, node.seq + 1}) == wire::NodeKind::causal;
}

/// Delivers the causal units of `origin` that wait for no earlier unit of it.
void Outlet::advance(Index origin, Effects& out) {
  for (;;) {
    const NodeRef next{origin, p_.graph.consumed(origin) + 1};
    if (next.seq > p_.graph.joined(origin) || next == newest_) return;
    const wire::NodeKind kind = p_.graph.stored().kind(next);
    if (kind == wire::NodeKind::control) {
      p_.graph.consume(origin, next.seq);
      continue;
    }
    if (kind != wire::NodeKind::causal) return;
    if (!has_room()) {
      held_ = true;
      resume_ = origin;
      return;
    }
    deliver(next, 0, 0, out);
  }
}

void Outlet::deliver(NodeRef node, Seq place, std::uint64_t set, Effects& out) {
  Delivery delivery;
  delivery.view = p_.membership.view();
  delivery.transitional = transitional_;
  delivery.seq = place;
  delivery.set = set;
  delivery.origin = p_.membership.members()[node.origin];
  switch (p_.graph.stored().kind(node)) {
    case wire::NodeKind::causal: delivery.service = Service::causal; break;
    case wire::NodeKind::safe: delivery.service = Service::safe; break;
    case wire::NodeKind::agreed:
    case wire::NodeKind::control: delivery.service = Service::agreed; break;
  }
  delivery.unit = p_.graph.stored().unit(node);
  p_.graph.consume(node.origin, node.seq);
  ++p_.counts.delivered;
  if (node.origin == p_.membership.index()) out.originate(delivery.view, place);
  out.deliver(delivery);
}

/// The members outside `survivors` vote no more, and each survivor sends, so to speak, one more
/// node that follows everything. All survivors have the same graph, so these nodes need not be sent
/// (README.md (c)). Then every column is determined, and all units are decided.
void Outlet::drain(const MemberBits& survivors, Effects& out) {
  transitional_ = true;
  release(out);
  MemberBits::first(p_.graph.members()).without(survivors).for_each([&](Index member) {
    order_.on_crash(member);
    decide();
  });
  survivors.for_each([&](Index member) { take_virtual(member, p_.graph.joined()); });
  release(out);
  deliver_leftovers(out);
}

/// Only nodes that contradict each other can leave units without a decision. Survivors have the
/// same nodes, and deliver these units in the same order.
void Outlet::deliver_leftovers(Effects& out) {
  for (Index origin = 0; origin < p_.graph.members(); ++origin) {
    for (Seq seq = p_.graph.consumed(origin) + 1; seq <= p_.graph.joined(origin); ++seq) {
      const NodeRef node{origin, seq};
      const wire::NodeKind kind = p_.graph.stored().kind(node);
      if (kind == wire::NodeKind::control) {
        p_.graph.consume(origin, seq);
      } else {
        const bool causal = kind == wire::NodeKind::causal;
        deliver(node, causal ? 0 : ++places_, causal ? 0 : activations_ + 1, out);
      }
    }
  }
}

void Outlet::add_to(Digest& digest) const {
  digest.add(places_);
  digest.add(order_.pending());
  digest.add(end_ - first_);
}

void Outlet::check_invariants() const {
  order_.check_invariants();
  PEAL_ASSERT(end_ - first_ <= decided_.size());
  PEAL_ASSERT(!transitional_);
}

}  // namespace peal::order::toto
