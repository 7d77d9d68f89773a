// SPDX-License-Identifier: Apache-2.0
#include "order/toto/causal_graph.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::order::toto {
namespace {

/// Whether both packets have the same node. `node`: that of `packet`, decoded.
bool is_same(const wire::Node& node, ByteView packet, ByteView other) {
  wire::Node decoded;
  const wire::Drop reason = wire::decode_node(other, decoded);
  PEAL_ASSERT(reason == wire::Drop::none);  // it was checked when it was stored
  decoded.retransmission = node.retransmission;
  const std::size_t header = wire::node_header_bytes(node.advances.size());
  return decoded == node && std::ranges::equal(other.subspan(header), packet.subspan(header));
}

}  // namespace

void CausalGraph::begin(std::size_t members, Index self, std::uint32_t capacity, Seq first) {
  PEAL_ASSERT(members >= 1 && members <= wire::kMembersMax && self < members);
  self_ = self;
  stored_.begin(members, capacity, first);
  for (auto* numbers : {&joined_, &known_, &stable_, &consumed_, &gapless_}) {
    numbers->assign(members, first);
  }
  least_.assign(members, first);
  witness_.assign(members, self);
  pasts_.assign(members * members, first);
  seen_.assign(members * members, first);
  blocked_on_.assign(members, 0);
  blocked_until_.assign(members, first);
  barred_.clear();
  waiting_.assign(members, {});
  fresh_.clear();
  ready_.clear();
  blocked_.clear();
}

// ---- this member's nodes ----

void CausalGraph::next_node(wire::Node& node, std::size_t most) const {
  node.origin = self_;
  node.seq = joined_[self_] + 1;
  node.advances.clear();
  const std::span<const Seq> past = past_of(self_);
  fresh_.for_each([&](Index other) {
    if (node.advances.size() == most) return;
    const Seq count = std::min<Seq>(joined_[other] - past[other], 0xffff);
    node.advances.push_back({other, static_cast<std::uint16_t>(count)});
  });
}

Joined CausalGraph::append(const wire::Node& node, const BufferRef& packet) {
  PEAL_ASSERT(node.origin == self_ && node.seq == joined_[self_] + 1 && room());
  stored_.put(node, packet);
  const std::span<const Seq> past = past_of(self_);
  for (const wire::Advance& advance : node.advances) {
    if (past[advance.index] + advance.count == joined_[advance.index]) fresh_.reset(advance.index);
  }
  return add(node);
}

// ---- nodes of other members ----

Taken CausalGraph::store(const wire::Node& node, const BufferRef& packet) {
  if (node.origin >= members()) return Taken::bad_value;
  for (const wire::Advance& advance : node.advances) {
    if (advance.index >= members()) return Taken::bad_value;
  }
  const NodeRef ref{node.origin, node.seq};
  if (stored_.holds(ref)) {
    // A member makes one node with each number.
    const bool same = is_same(node, packet.view(), stored_.packet(ref).view());
    return same ? Taken::duplicate : Taken::bad_value;
  }
  if (node.seq <= joined_[node.origin]) return Taken::duplicate;
  // A member makes its own nodes: one that it has not made is not its own.
  if (node.origin == self_) return Taken::bad_value;
  if (!stored_.in_window(ref)) return Taken::out_of_window;
  stored_.put(node, packet);
  if (node.seq == joined_[node.origin] + 1) ready_.set(node.origin);
  Seq& gapless = gapless_[node.origin];
  while (stored_.holds({node.origin, gapless + 1})) ++gapless;
  return Taken::stored;
}

bool CausalGraph::join(Joined& out) {
  while (ready_.any()) {
    const Index origin = ready_.lowest();
    ready_.reset(origin);
    if (!has_next(origin)) continue;
    // The packet was checked when it was stored.
    const wire::Drop reason =
        wire::decode_node(stored_.packet({origin, joined_[origin] + 1}).view(), arriving_);
    PEAL_ASSERT(reason == wire::Drop::none);
    if (!may_join(arriving_)) continue;
    out = add(arriving_);
    return true;
  }
  return false;
}

/// Whether all predecessors of the next node of its origin have joined. If not, the node waits for
/// the first that has not, or is refused.
bool CausalGraph::may_join(const wire::Node& node) {
  const std::span<const Seq> past = past_of(node.origin);
  for (const wire::Advance& advance : node.advances) {
    const Index other = advance.index;
    const Seq needed = past[other] + advance.count;
    if (needed <= joined_[other]) continue;
    // No honest member follows a node that was not made, or one that lies beyond all windows.
    if (other == self_ || needed - joined_[other] > 2 * Seq{stored_.capacity()}) {
      refuse_next(node.origin);
      return false;
    }
    note_exists({other, needed}, node.origin);
    blocked_.set(node.origin);
    blocked_on_[node.origin] = other;
    blocked_until_[node.origin] = needed;
    waiting_[other].set(node.origin);
    if (waits_in_circle(node.origin)) refuse_next(node.origin);
    return false;
  }
  return true;
}

/// Whether the next node of `origin` waits for a member whose next node, which is here, waits for
/// a member …, whose next node waits for `origin`.
bool CausalGraph::waits_in_circle(Index origin) const {
  Index at = blocked_on_[origin];
  for (std::size_t steps = 0; steps < members(); ++steps) {
    if (at == origin) return true;
    if (!blocked_.test(at)) return false;
    at = blocked_on_[at];
  }
  return false;
}

void CausalGraph::refuse_next(Index origin) {
  ++refused_;
  refused_origin_ = origin;
  barred_.set(origin);
  gapless_[origin] = joined_[origin];
  stored_.erase({origin, joined_[origin] + 1});
  if (blocked_.test(origin)) waiting_[blocked_on_[origin]].reset(origin);
  blocked_.reset(origin);
}

Joined CausalGraph::add(const wire::Node& node) {
  const Index origin = node.origin;
  Joined joined;
  joined.node = {origin, node.seq};
  joined.kind = node.kind;
  joined.decided = node.decided;
  const std::span<Seq> past = std::span(pasts_).subspan(row(origin), members());
  for (const wire::Advance& advance : node.advances) {
    past[advance.index] += advance.count;
    joined.covers.push_back({advance.index, past[advance.index]});
    note_seen(origin, advance.index, past[advance.index]);
  }
  past[origin] = node.seq;
  joined.covers.push_back({origin, node.seq});
  note_seen(origin, origin, node.seq);
  joined_[origin] = node.seq;
  gapless_[origin] = std::max(gapless_[origin], node.seq);
  barred_.reset(origin);
  note_exists(joined.node, origin);
  note_seen(self_, origin, node.seq);
  if (origin != self_) fresh_.set(origin);
  if (has_next(origin)) ready_.set(origin);
  waiting_[origin].for_each([&](Index waiter) {
    if (blocked_until_[waiter] > node.seq) return;
    waiting_[origin].reset(waiter);
    blocked_.reset(waiter);
    ready_.set(waiter);
  });
  return joined;
}

void CausalGraph::forget_beyond(Index origin, Seq last) {
  for (Seq seq = std::max(last, joined_[origin]) + 1; stored_.in_window({origin, seq}); ++seq) {
    stored_.erase({origin, seq});
  }
  known_[origin] = std::max(last, joined_[origin]);
  gapless_[origin] = std::min(gapless_[origin], known_[origin]);
}

// ---- gaps ----

void CausalGraph::note_exists(NodeRef node, Index witness) {
  if (node.seq <= known_[node.origin]) return;
  known_[node.origin] = node.seq;
  witness_[node.origin] = witness;
}

void CausalGraph::append_lacking(Index origin, wire::TotoLacks& out) const {
  for (Seq seq = gapless_[origin] + 1; seq <= known_[origin]; ++seq) {
    if (!stored_.in_window({origin, seq})) return;
    if (stored_.holds({origin, seq})) continue;
    if (!out.ranges.empty()) {
      wire::NodeRange& last = out.ranges.back();
      if (last.origin == origin && last.first + last.count == seq &&
          last.count < wire::kNodeRangeMax) {
        ++last.count;
        continue;
      }
    }
    if (out.ranges.full()) return;
    out.ranges.push_back({origin, seq, 1});
  }
}

// ---- stability ----

void CausalGraph::note_seen(Index member, Index origin, Seq seq) {
  Seq& known = seen_[row(member) + origin];
  known = std::max(known, seq);
}

void CausalGraph::discard_stable() {
  std::ranges::copy(joined_, least_.begin());
  for (Index member = 0; member < members(); ++member) {
    const Seq* seen = &seen_[row(member)];
    for (Index origin = 0; origin < members(); ++origin) {
      least_[origin] = std::min(least_[origin], seen[origin]);
    }
  }
  for (Index origin = 0; origin < members(); ++origin) {
    PEAL_ASSERT(least_[origin] >= stable_[origin]);
    stable_[origin] = least_[origin];
    stored_.discard(origin, std::min(least_[origin], consumed_[origin]));
  }
}

void CausalGraph::add_to(Digest& digest) const {
  for (Index origin = 0; origin < members(); ++origin) {
    for (const Seq line : {joined_[origin], known_[origin], stable_[origin], consumed_[origin]}) {
      digest.add(line);
    }
  }
}

void CausalGraph::check_invariants() const {
  for (Index origin = 0; origin < members(); ++origin) {
    const Seq discarded = stored_.discarded(origin);
    PEAL_ASSERT(discarded <= stable_[origin] && discarded <= consumed_[origin]);
    PEAL_ASSERT(stable_[origin] <= joined_[origin] && consumed_[origin] <= joined_[origin]);
    PEAL_ASSERT(joined_[origin] <= known_[origin] && joined_[origin] <= gapless_[origin]);
    PEAL_ASSERT(!stored_.holds({origin, gapless_[origin] + 1}));
    PEAL_ASSERT(joined_[origin] - discarded <= stored_.capacity());
    const std::span<const Seq> past = past_of(origin);
    PEAL_ASSERT(past[origin] == joined_[origin]);
    for (Index other = 0; other < members(); ++other) {
      PEAL_ASSERT(past[other] <= joined_[other]);  // causally closed
    }
    if (blocked_.test(origin)) PEAL_ASSERT(waiting_[blocked_on_[origin]].test(origin));
  }
}

}  // namespace peal::order::toto
