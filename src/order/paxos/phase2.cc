// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/paxos/coordinator.h"
#include "order/paxos/next_view.h"

// Phase 2, once a majority has promised: proposals of units, views and lists, and retransmissions.

namespace peal::order::paxos {
namespace {

constexpr std::uint32_t kResendsAtOnce = 8;
/// Consecutive unanswered requests to an acceptor before it counts as slow.
constexpr unsigned kSlowAfter = 2;
/// How long a coordinator waits for all nodes of the list before it proposes the first view, in
/// units of Options::suspect.
constexpr std::int64_t kFirstViewPatience = 3;

}  // namespace

bool Coordinator::submit(const wire::ValueHead& head, const BufferRef& bytes, bool fresh,
                         std::uint64_t stamp) {
  return phase_ == Phase::lead && waiting_.take(head, bytes, fresh, stamp);
}

Arrival Coordinator::proposal_of(Instance instance, const Value& value) const {
  Arrival proposal;
  proposal.round = round_;
  proposal.instance = instance;
  proposal.behind = static_cast<std::uint32_t>(instance - p_.state.next());
  proposal.head = value.head;
  return proposal;
}

BufferRef Coordinator::packet_again(Instance instance, const Value& value) {
  return p_.routes.pack(proposal_of(instance, value), value.bytes, false);
}

void Coordinator::propose(Value value, bool fresh, Effects& out) {
  PEAL_ASSERT(phase_ == Phase::lead && tip_.next() == next_);
  const Instance instance = next_++;
  Slot* slot = p_.store.make(instance);
  PEAL_ASSERT(slot != nullptr && "the window is within the store");
  if (slot->decided) {
    // The instance was decided in a higher round, of which this node has not heard. This node
    // proposes the decided value instead of `value`. If `value` is a unit, its sender sends it
    // again.
    PEAL_PROBE("paxos.proposes_decided");
    value = slot->heard;
    fresh = false;
  }
  const std::uint64_t stamp = stamp_of(value.head, value.bytes.view(), p_.config.merger != nullptr);
  if (tip_.apply(value.head, value.bytes.view(), stamp) == OrderState::Outcome::view) {
    view_at_ = instance;
    waiting_.begin_view();
  }
  const Arrival proposal = proposal_of(instance, value);
  BufferRef packet;
  if (!p_.routes.propose_own(proposal, out)) {
    packet = p_.routes.pack(proposal, value.bytes, fresh);
    // Keep only the copy of the bytes that is in the packet.
    if (packet) value.bytes = bytes_behind(packet, p_.routes.header_bytes());
    if (packet) p_.routes.propose(packet, out);
  }
  slot->heard_round = round_;
  slot->heard = value;
  flight_.push_back({packet, std::move(value), now_, false});
}

bool Coordinator::pass(Instant now, std::uint64_t key, Effects& out) {
  if (phase_ != Phase::lead) return false;
  now_ = now;
  if (!forget_consumed() || wants_list() || wants_lives() || !may_propose()) return false;
  // Members may keep the window full all the time. So one empty value at a time may exceed the
  // window.
  if (under_way() >= window_.size() && passed_ >= p_.state.next()) return false;
  passed_ = next_;
  propose({{wire::ValueKind::nothing, Service::agreed, 0, p_.config.self, key}, {}}, false, out);
  return true;
}

// Other acceptors are asked for their votes now, so they need all proposals in progress.
void Coordinator::propose_again(Effects& out) {
  PEAL_PROBE("paxos.other_voters");
  for (std::size_t i = 0; i < flight_.size(); ++i) {
    Flight& flight = flight_[i];
    flight.packet = packet_again(flight_first_ + i, flight.value);
    flight.resent = true;
    if (flight.packet) p_.routes.propose(flight.packet, out);
  }
}

bool Coordinator::forget_consumed() {
  if (p_.state.next() > next_) {
    PEAL_PROBE("paxos.overtaken");
    step_down();  // another node coordinates, and this node has not heard of that yet
    return false;
  }
  while (flight_first_ < p_.state.next()) {
    if (!flight_.front().resent) {
      const Duration time = now_ - flight_.front().at;
      pace_.took(time);
      window_.took(now_, time);
    }
    flight_.pop_front();
    ++flight_first_;
  }
  return true;
}

bool Coordinator::has_room() {
  return may_propose() && window_.allows(now_, next_ - p_.state.next());
}

bool Coordinator::may_propose() const {
  // A proposed list is active after its instance, so later instances need a round of that list.
  if (!tip_.governs(round_) && !PEAL_MUTANT(px_beyond_list)) return false;
  return !too_far_behind();
}

std::optional<MemberId> Coordinator::too_far_behind() const {
  const Instance headway = headway_.size();
  for (const wire::ViewMember& each : tip_.members()) {
    const Peer* peer = p_.peers.find(each.member.node);
    if (peer == nullptr || peer->self || peer->suspected || peer->member != each.member) continue;
    if (peer->state.next == 0) continue;
    if (next_ >= peer->state.next + headway) return each.member;
  }
  return std::nullopt;
}

/// Did a member request decided values since the last call?
bool Coordinator::somebody_asked() {
  bool asked = false;
  for (Peer& peer : p_.peers.all()) {
    const bool member = p_.state.has(peer.member);
    asked = (std::exchange(peer.asked, false) && member) || asked;
  }
  return asked;
}

// Proposes one unit of each member in turn. False: no unit was proposed. The turn is kept between
// calls: usually the window has space for only one more unit, which must not always be a unit of
// the first member.
bool Coordinator::propose_units(Effects& out) {
  if (p_.early != nullptr) return propose_by_stamp(out);
  bool any = false;
  for (std::size_t i = 0; i < waiting_.members() && has_room(); ++i) {
    const std::size_t index = waiting_.next_turn();
    if (!waiting_.has_next(index)) continue;
    propose_unit(index, out);
    any = true;
  }
  return any;
}

// With optimistic delivery: proposes the unit with the lowest timestamp, once all units with lower
// timestamps should have arrived. All nodes expect this order. False: no unit was proposed.
bool Coordinator::propose_by_stamp(Effects& out) {
  const std::optional<std::size_t> index = waiting_.lowest();
  if (!index || p_.early->due(waiting_.stamp_of(*index)) > now_) return false;
  propose_unit(*index, out);
  return true;
}

std::optional<Instant> Coordinator::next_due() const {
  const std::optional<std::size_t> index = leads() ? waiting_.lowest() : std::nullopt;
  if (!index) return std::nullopt;
  return p_.early->due(waiting_.stamp_of(*index));
}

void Coordinator::propose_unit(std::size_t index, Effects& out) {
  WaitingUnits::Next unit = waiting_.remove_next(index);
  propose(std::move(unit.value), unit.fresh, out);
}

void Coordinator::propose_view(Instant now, Effects& out) {
  // Only one view is in progress at a time, because a new member must have consumed the previous
  // view. A member that is too far behind does not delay the view that excludes it.
  if (tip_.view() != p_.state.view() || !tip_.governs(round_)) return;
  if (!window_.allows(now, next_ - p_.state.next())) return;
  const std::vector<wire::ViewMember> wanted = wanted_members(p_, {tip_, view_at_, now_});
  const std::vector<wire::ViewMember>& members = tip_.members();
  const bool same = wanted.size() == members.size() &&
                    std::equal(wanted.begin(), wanted.end(), members.begin(),
                               [](const auto& a, const auto& b) { return a.member == b.member; });
  if (same || wanted.size() * 2 <= p_.peers.listed()) return;
  const bool goes_on = std::all_of(members.begin(), members.end(), [&](const auto& each) {
    const Peer* peer = p_.peers.find(each.member.node);
    return peer == nullptr || is_served(p_, *peer, now_) || peer->member != each.member;
  });
  if (goes_on && too_far_behind()) return;
  const bool all = wanted.size() == p_.peers.listed();
  if (members.empty() && !all && now - since_ < p_.config.options.suspect * kFirstViewPatience) {
    return;
  }
  const BufferRef bytes = p_.outbox.build(
      [&](const wire::Header&, ByteSpan room) { return wire::encode_view_members(wanted, room); });
  if (!bytes) return;
  wire::ValueHead head;
  head.kind = wire::ValueKind::view;
  head.view = tip_.next_view();
  head.origin = p_.config.self;
  // With several ensembles: each new member has all values above a certain key, and the view's key
  // is not lower. So each new member has all values after the view.
  for (const wire::ViewMember& each : wanted) {
    const Peer* peer = p_.peers.find(each.member.node);
    if (peer != nullptr && !tip_.has(each.member)) {
      head.number = std::max(head.number, peer->state.from);
    }
  }
  propose({head, bytes}, false, out);
}

bool Coordinator::wants_list() const {
  return p_.given.next(p_.state) != nullptr && tip_.governs(round_) &&
         p_.given.waits(p_.state, p_.peers).kind == NodesWait::Kind::nothing;
}

/// True if an acceptor is up to date, but the active list names another incarnation of it. A new
/// list with the present incarnation lets the acceptor vote again.
bool Coordinator::wants_lives() const {
  return tip_.governs(round_) && p_.given.wants_lives(p_.state, p_.peers);
}

// Waits until all proposals in progress are decided, because other acceptors vote in later
// instances.
void Coordinator::propose_list(const wire::Nodes& nodes, Effects& out) {
  if (next_ != p_.state.next()) return;
  const BufferRef bytes = p_.outbox.build(
      [&](const wire::Header&, ByteSpan room) { return wire::encode_nodes(nodes, room); });
  if (!bytes) return;
  PEAL_PROBE("paxos.list_proposed");
  wire::ValueHead head;
  head.kind = wire::ValueKind::nodes;
  head.view = tip_.nodes().number + 1;
  head.origin = p_.config.self;
  propose({head, bytes}, false, out);
}

void Coordinator::repeat(NodeId to, Instance first, std::uint32_t count, bool again, Effects& out) {
  if (phase_ != Phase::lead) return;
  for (Instance k = std::max(first, flight_first_); k < std::min(next_, first + count); ++k) {
    Flight& flight = flight_[k - flight_first_];
    if (!flight.packet) flight.packet = packet_again(k, flight.value);
    flight.resent = true;
    const Lane lane = again ? Lane::control : p_.outbox.lane_for(flight.packet);
    if (flight.packet) out.send(to, lane, flight.packet);
  }
}

// Only requests for recent instances show a recent loss. A node that is far behind also requests
// values that were never lost.
void Coordinator::note_lost(Instant now, Instance first) {
  if (leads() && first + p_.config.options.window > p_.state.next()) window_.lost(now);
}

void Coordinator::resend(Instant now, Effects& out) {
  if (!forget_consumed()) return;
  if (p_.routes.choose(now, false)) propose_again(out);
  for (const Peer& peer : p_.peers.all()) {
    if (peer.self || !peer.acceptor || peer.suspected || !p_.routes.asks(peer)) continue;
    const bool mine = peer.state.voted_round == round_;
    const Instance voted = mine ? peer.state.voted_upto : 0;
    Progress& progress = progress_[peer.node];
    if (voted != progress.voted_upto || voted + 1 >= next_) {
      progress = {voted, now, 0};
      continue;
    }
    if (now - progress.since < pace_.wait(progress.vain)) continue;
    progress.since = now;
    ++progress.vain;
    window_.lost(now);
    if (progress.vain >= kSlowAfter) p_.routes.note_slow(now, peer.node);
    const Instance first = std::max(voted + 1, flight_first_);
    const bool again = progress.vain > kSlowAfter;
    repeat(peer.node, first, kResendsAtOnce, again, out);
    // A node that receives the last proposal sees which proposals it lacks, and requests all of
    // them.
    if (next_ > first + kResendsAtOnce) repeat(peer.node, next_ - 1, 1, again, out);
  }
}

void Coordinator::add_flight(Digest& digest) const {
  if (phase_ != Phase::lead) return;
  digest.add(next_);
  digest.add(view_at_);
  digest.add(flight_first_);
  digest.add(flight_.size());
  for (const Flight& each : flight_) paxos::add_to(digest, each.value);
  waiting_.add_to(digest);
  tip_.add_to(digest);
}

}  // namespace peal::order::paxos
