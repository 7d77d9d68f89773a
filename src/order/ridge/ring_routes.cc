// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/ring_routes.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ridge {

using paxos::Arrival;
using paxos::Instance;
using paxos::Peer;
using paxos::Round;
using wire::Drop;
using wire::PaxosKind;

std::unique_ptr<paxos::Routes> make_ring(const paxos::Links& links) {
  return std::make_unique<RingRoutes>(links);
}

RingRoutes::RingRoutes(const paxos::Links& links) : l_(links) {
  PEAL_ASSERT(l_.config.options.window < kUnderWayMax);
  nodes_changed();
}

void RingRoutes::nodes_changed() {
  const wire::Nodes& nodes = l_.state.nodes();
  others_.clear();
  std::set_difference(nodes.all.begin(), nodes.all.end(), nodes.acceptors.begin(),
                      nodes.acceptors.end(), std::back_inserter(others_));
}

std::uint32_t RingRoutes::hops() const {
  return static_cast<std::uint32_t>(std::max<std::size_t>(l_.state.nodes().all.size(), 2) - 1);
}

// ---- order within a ring ----

std::size_t RingRoutes::place_of(NodeId coordinator, NodeId node) const {
  const auto index = [](const std::vector<NodeId>& nodes, NodeId wanted) {
    const auto at = std::lower_bound(nodes.begin(), nodes.end(), wanted);
    const bool there = at != nodes.end() && *at == wanted;
    return there ? static_cast<std::size_t>(at - nodes.begin()) : kNowhere;
  };
  const auto& acceptors = l_.state.nodes().acceptors;
  const std::size_t first = index(acceptors, coordinator);
  if (first == kNowhere) return kNowhere;
  const std::size_t acceptor = index(acceptors, node);
  if (acceptor != kNowhere) return (acceptor + acceptors.size() - first) % acceptors.size();
  const std::size_t other = index(others_, node);
  return other == kNowhere ? kNowhere : acceptors.size() + other;
}

NodeId RingRoutes::at(NodeId coordinator, std::size_t place) const {
  const auto& acceptors = l_.state.nodes().acceptors;
  if (place >= acceptors.size()) return others_[place - acceptors.size()];
  const auto first = std::lower_bound(acceptors.begin(), acceptors.end(), coordinator);
  return acceptors[(static_cast<std::size_t>(first - acceptors.begin()) + place) %
                   acceptors.size()];
}

const Peer* RingRoutes::next() const {
  const NodeId first = round_.coordinator.node;
  for (std::size_t i = place_of(first, l_.config.self.node) + 1; i < l_.state.nodes().all.size();
       ++i) {
    const Peer* peer = l_.peers.find(at(first, i));
    if (!peer->suspected && peer->works && peer->serve) return peer;
    PEAL_PROBE("ridge.ring_passes_over");
  }
  return nullptr;
}

bool RingRoutes::join(const Round& round, std::uint16_t number) {
  if (round < round_) return false;
  if (round == round_ && number <= number_) return true;
  round_ = round;
  number_ = number;
  sent_.fill(0);
  return true;
}

bool RingRoutes::note_sent(Instance instance) {
  Instance& last = sent_[instance % kUnderWayMax];
  if (instance <= last) return false;
  last = instance;
  return true;
}

// ---- for a coordinator ----

// If a node of the ring failed, it may not have forwarded some values. So this coordinator sends
// the values in progress again along a new ring, in the same round. If a node joins, no new ring is
// needed: the node requests the values that it lacks.
bool RingRoutes::choose(Instant /*now*/, bool anew) {
  std::vector<MemberId> alive;
  for (const Peer& peer : l_.peers.all()) {
    if (peer.listed && !peer.suspected && peer.serve) alive.push_back(peer.member);
  }
  const bool gone = !std::includes(alive.begin(), alive.end(), ring_.begin(), ring_.end());
  ring_ = std::move(alive);
  if (anew || !gone || !mine()) return false;
  PEAL_PROBE("ridge.ring_chosen");
  if (number_ < std::numeric_limits<std::uint16_t>::max()) {
    join(round_, static_cast<std::uint16_t>(number_ + 1));
  }
  return true;
}

BufferRef RingRoutes::pack(const Arrival& proposal, const BufferRef& bytes, bool fresh) {
  if (round_ != proposal.round) {
    join(proposal.round, 1);
    base_ = proposal.instance;
    decided_ = told_ = 0;
  }
  // `behind` may announce only decisions by votes in this round. This node may have consumed other
  // values that were decided in a higher round, and that differ from this node's proposals.
  Instance floor = std::max(base_, decided_ + 1);
  if (PEAL_MUTANT(rr_proposed_is_decided)) floor = proposal.instance;
  if (floor <= proposal.instance) told_ = decided_;
  floor = std::min(floor, proposal.instance);
  const auto behind = static_cast<std::uint32_t>(proposal.instance - floor);
  const wire::Relay frame{proposal.round, proposal.instance, behind, number_, proposal.head};
  return l_.outbox.relay(PaxosKind::relay, frame, bytes, fresh);
}

void RingRoutes::propose(const BufferRef& packet, Effects& out) {
  if (const Peer* peer = next()) out.send(peer->node, l_.outbox.lane_for(packet), packet);
}

// ---- for all nodes ----

Drop RingRoutes::read(const Peer& from, PaxosKind kind, ByteView packet, Arrival& out) const {
  if (kind != PaxosKind::relay) return Drop::unknown_kind;
  wire::Relay frame;
  const Drop reason = wire::decode_relay(packet, frame);
  if (reason != Drop::none) return reason;
  if (frame.own) return Drop::bad_value;
  // The order of the ring follows from the list of nodes, so a packet of another list is dropped.
  if (!l_.state.governs(frame.round)) return Drop::wrong_state;
  const NodeId first = frame.round.coordinator.node;
  const std::size_t self = place_of(first, l_.config.self.node);
  // Accept values only from nodes that are earlier in the ring, so that no value circulates for
  // ever.
  if (self == kNowhere || place_of(first, from.node) >= self) return Drop::bad_sender;
  out.round = frame.round;
  out.instance = frame.instance;
  out.behind = frame.behind;
  out.head = frame.head;
  out.chain = frame.chain;
  out.vote = self < l_.state.nodes().acceptors.size();
  out.tells_decided = true;
  return Drop::none;
}

// A value may come along an earlier ring of this round. Forwards it along the current ring, because
// the nodes after this node may lack the value.
void RingRoutes::pass_on(const Arrival& arrival, const BufferRef& bytes, bool fresh, Effects& out) {
  if (!join(arrival.round, arrival.chain) || !note_sent(arrival.instance)) return;
  const Peer* peer = next();
  if (peer == nullptr) return;
  const wire::Relay frame{arrival.round, arrival.instance, arrival.behind, number_, arrival.head};
  const BufferRef onward = l_.outbox.relay(PaxosKind::relay, frame, bytes, fresh);
  if (onward) out.send(peer->node, l_.outbox.lane_for(onward), onward);
}

void RingRoutes::tell_votes(const wire::State& said, const Peer* coordinator, Effects& out) {
  if (coordinator == nullptr || coordinator->self) return;
  const BufferRef packet = l_.outbox.state_packet(said);
  if (packet) out.send(coordinator->node, Lane::data, packet);
}

bool RingRoutes::tell_decided(Instant /*now*/, const wire::State& said, Effects& /*out*/) {
  if (mine() && said.voted_round == round_) decided_ = std::max(decided_, said.decided_upto);
  return false;
}

// Announces decisions that no proposal of this turn has carried. Under load the proposals carry
// all decisions, so this function sends nothing.
void RingRoutes::end_turn(const wire::State& said, Effects& out) {
  if (!mine() || said.voted_round != round_) return;
  decided_ = std::max(decided_, said.decided_upto);
  if (decided_ == told_) return;
  told_ = decided_;
  const BufferRef packet = l_.outbox.state_packet(said);
  for (const Peer& peer : l_.peers.all()) {
    if (packet && !peer.self && !peer.suspected) out.send(peer.node, Lane::data, packet);
  }
}

void RingRoutes::add_to(Digest& digest) const {
  paxos::add_to(digest, round_);
  digest.add(number_);
  for (const Instance instance : sent_) digest.add(instance);
  digest.add(ring_.size());
  for (const MemberId& member : ring_) digest.add(member.node.value);
  digest.add(base_);
  digest.add(decided_);
  digest.add(told_);
}

}  // namespace peal::order::ridge
