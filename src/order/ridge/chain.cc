// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/chain.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ridge {

using wire::Drop;
using wire::PaxosKind;

namespace {

/// If the copies of a value for all nodes outside the chain have at most this size in total, the
/// last acceptor itself sends them. This saves a step, and costs hardly more than one packet to a
/// distributor.
constexpr std::size_t kSmallBytes = 1'024;
/// Size of a packet besides its value.
constexpr std::size_t kPacketBytes = 128;
/// A node that was silent for more heartbeats than this becomes a distributor only if no better
/// node exists.
constexpr std::int64_t kQuietHeartbeats = 3;

}  // namespace

std::unique_ptr<paxos::Routes> make_chain(const Links& links) {
  return std::make_unique<Chain>(links);
}

Chain::Chain(const Links& links) : l_(links), self_(index_of(links.config.self.node)) {}

void Chain::nodes_changed() {
  self_ = index_of(l_.config.self.node);
  avoid_until_.fill({});
  mine_ = chain_ = 0;
  first_ = last_ = kNobody;
}

// ---- order within a chain ----

std::size_t Chain::index_of(NodeId node) const {
  const auto& acceptors = l_.state.nodes().acceptors;
  const auto at = std::lower_bound(acceptors.begin(), acceptors.end(), node);
  if (at == acceptors.end() || *at != node) return kNobody;
  return static_cast<std::size_t>(at - acceptors.begin());
}

std::size_t Chain::next_in(Bits chain, std::size_t first, std::size_t at) const {
  const std::size_t count = l_.state.nodes().acceptors.size();
  for (std::size_t i = (at + 1) % count; i != first; i = (i + 1) % count) {
    if (is_in(chain, i)) return i;
  }
  return kNobody;
}

std::size_t Chain::last_in(Bits chain, std::size_t first) const {
  std::size_t last = first;
  for (std::size_t i = first; i != kNobody; i = next_in(chain, first, i)) last = i;
  return last;
}

bool Chain::has(Bits chain, NodeId node) const {
  const std::size_t index = index_of(node);
  return index != kNobody && is_in(chain, index);
}

const Peer& Chain::acceptor(std::size_t index) const {
  return *l_.peers.find(l_.state.nodes().acceptors[index]);
}

// ---- for a coordinator ----

bool Chain::usable(Instant now, std::size_t index) const {
  const Peer& peer = acceptor(index);
  return votes(index) && avoid_until_[index] <= now && peer.serve && !peer.state.disk_hangs;
}

/// True if the acceptor seems alive and is not amnesiac.
bool Chain::votes(std::size_t index) const {
  return acceptor(index).acceptor && !acceptor(index).suspected;
}

// The chain consists of the coordinator and of acceptors that are alive and fast. It stays the same
// while all its acceptors are alive and fast. If too few acceptors are alive and fast, the chain
// includes other acceptors too, which may have recovered.
bool Chain::choose(Instant now, bool anew) {
  PEAL_ASSERT(self_ != kNobody);
  const std::size_t count = l_.state.nodes().acceptors.size();
  bool works = !anew;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != self_ && is_in(mine_, i)) works = works && usable(now, i);
  }
  if (works || (PEAL_MUTANT(rd_chain_fixed) && !anew)) return false;
  const auto chosen = [&] {
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) size += is_in(mine_, i) ? 1U : 0U;
    return size;
  };
  const Bits before = anew ? Bits{0} : mine_;
  mine_ = static_cast<Bits>(1U << self_);
  const auto add = [&](const auto& fits) {
    for (std::size_t i = 1; i < count && chosen() < l_.peers.majority(); ++i) {
      const std::size_t index = (self_ + i) % count;
      if (fits(index)) mine_ = static_cast<Bits>(mine_ | 1U << index);
    }
  };
  if (!PEAL_MUTANT(rd_chain_fixed)) {
    const auto served = [&](std::size_t i) { return votes(i) && acceptor(i).serve; };
    add([&](std::size_t i) { return usable(now, i); });
    // Prefer an acceptor that was slow recently to one whose disk hangs.
    add([&](std::size_t i) { return served(i) && !acceptor(i).state.disk_hangs; });
    add(served);
    add([&](std::size_t i) { return votes(i); });
  }
  add([](std::size_t) { return true; });
  if (mine_ != before) PEAL_PROBE("ridge.chain_chosen");
  return mine_ != before;
}

bool Chain::asks(const Peer& peer) const { return has(mine_, peer.node); }

void Chain::note_slow(Instant now, NodeId node) {
  const std::size_t index = index_of(node);
  if (index == kNobody) return;
  PEAL_PROBE("ridge.slow_acceptor");
  avoid_until_[index] = now + l_.config.options.suspect_max;
}

wire::Relay Chain::frame_of(const Arrival& proposal) {
  Arrival mine = proposal;
  mine.chain = mine_;
  join(mine);
  return {proposal.round, proposal.instance, proposal.behind, mine_, proposal.head};
}

BufferRef Chain::pack(const Arrival& proposal, const BufferRef& bytes, bool fresh) {
  return l_.outbox.relay(PaxosKind::relay, frame_of(proposal), bytes, fresh);
}

void Chain::propose(const BufferRef& packet, Effects& out) {
  const std::size_t next = next_in(mine_, self_, self_);
  if (next != kNobody) out.send(acceptor(next).node, l_.outbox.lane_for(packet), packet);
}

bool Chain::propose_own(const Arrival& proposal, Effects& out) {
  const std::size_t next = next_in(mine_, self_, self_);
  if (next == kNobody || !is_of(proposal.head, acceptor(next))) return false;
  // The next acceptor has sent this unit. If an earlier coordinator also proposed the unit, the
  // next acceptor may have consumed this instance and dropped the unit's bytes.
  if (acceptor(next).state.next > proposal.instance) return false;
  wire::Relay frame = frame_of(proposal);
  frame.own = true;
  const BufferRef packet = l_.outbox.relay_packet(PaxosKind::relay, frame, {});
  if (packet) out.send(acceptor(next).node, Lane::data, packet);
  return static_cast<bool>(packet);
}

// ---- for all nodes ----

Drop Chain::read(const Peer& /*from*/, PaxosKind kind, ByteView packet, Arrival& out) const {
  if (kind != PaxosKind::relay && kind != PaxosKind::distribute) return Drop::unknown_kind;
  wire::Relay frame;
  const Drop reason = wire::decode_relay(packet, frame);
  if (reason != Drop::none) return reason;
  // The chain names acceptors by index. In another list, the indices mean other acceptors.
  if (!l_.state.governs(frame.round)) return Drop::wrong_state;
  if (!has(frame.chain, frame.round.coordinator.node)) return Drop::bad_sender;
  if (frame.chain >> l_.state.nodes().acceptors.size() != 0) return Drop::bad_value;
  out.round = frame.round;
  out.instance = frame.instance;
  out.behind = frame.behind;
  out.head = frame.head;
  out.chain = frame.chain;
  out.own = frame.own;
  out.decided = kind == PaxosKind::distribute;
  out.vote = !out.decided && has(frame.chain, l_.config.self.node);
  return Drop::none;
}

void Chain::join(const Arrival& arrival) {
  if (arrival.round < round_) return;
  if (arrival.round != round_ || arrival.chain != chain_) {
    round_ = arrival.round;
    chain_ = arrival.chain;
    first_ = index_of(round_.coordinator.node);
    last_ = last_in(chain_, first_);
    // The last acceptor of the previous chain distributes the values of earlier instances.
    told_ = std::max(told_, arrival.instance);
  }
}

void Chain::pass_on(const Arrival& arrival, const BufferRef& bytes, bool fresh, Effects& out) {
  if (arrival.decided) {
    wire::ValueFrame frame;
    frame.instance = arrival.instance;
    frame.head = arrival.head;
    return send_to_rest(arrival.chain, l_.outbox.value(PaxosKind::decided, frame, bytes, fresh),
                        out);
  }
  if (!arrival.vote || arrival.round < round_) return;
  join(arrival);
  const std::size_t next = next_in(chain_, first_, self_);
  if (next == kNobody) return;
  wire::Relay frame{arrival.round, arrival.instance, arrival.behind, arrival.chain, arrival.head};
  frame.own = is_of(arrival.head, acceptor(next));
  const BufferRef onward = frame.own ? l_.outbox.relay_packet(PaxosKind::relay, frame, {})
                                     : l_.outbox.relay(PaxosKind::relay, frame, bytes, fresh);
  if (onward) out.send(acceptor(next).node, l_.outbox.lane_for(onward), onward);
}

// Sends the value to all nodes outside the chain. All distributors send in the same order of nodes,
// so that several distributors rarely send to one node at the same time.
void Chain::send_to_rest(Bits chain, const BufferRef& packet, Effects& out) {
  if (!packet) return;
  const std::vector<Peer>& peers = l_.peers.all();
  // All ensembles distribute at the same time. So each ensemble begins at another node, far from
  // the first nodes of the other ensembles.
  const std::size_t first = l_.config.first_candidate * peers.size() * 5 / 8;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const Peer& peer = peers[(first + i) % peers.size()];
    if (peer.self || peer.suspected || has(chain, peer.node)) continue;
    out.send(peer.node, l_.outbox.lane_for(packet), packet);
  }
}

void Chain::tell_votes(const wire::State& said, const Peer* coordinator, Effects& out) {
  const BufferRef packet = l_.outbox.state_packet(said);
  if (!packet) return;
  // is_last() refers to the chain of round_. In a higher round, another acceptor may be the last.
  if (is_last() && said.round == round_) return tell_chain(packet, out);
  const NodeId first = coordinator == nullptr ? NodeId{} : coordinator->node;
  const NodeId last = last_ == kNobody ? NodeId{} : acceptor(last_).node;
  const NodeId self = l_.config.self.node;
  if (last != NodeId{} && last != self) out.send(last, Lane::data, packet);
  if (first != NodeId{} && first != self && first != last) out.send(first, Lane::data, packet);
}

// ---- the last acceptor ----

// The last acceptor sends its votes, and thus the decisions, to the other acceptors of its chain.
void Chain::tell_chain(const BufferRef& packet, Effects& out) {
  for (std::size_t i = first_; i != kNobody; i = next_in(chain_, first_, i)) {
    if (i != self_) out.send(acceptor(i).node, Lane::data, packet);
  }
}

bool Chain::tell_decided(Instant now, const wire::State& said, Effects& out) {
  if (!is_last() || said.round != round_) return false;
  const std::vector<NodeId> nodes = able(now);
  Instance instance = std::max(told_, l_.store.next());
  for (; const paxos::Slot* slot = l_.store.find(instance); ++instance) {
    if (!slot->decided) break;
    distribute(instance, *slot, nodes, out);
  }
  told_ = instance;
  return true;
}

std::vector<NodeId> Chain::able(Instant now) const {
  std::vector<NodeId> members;
  std::vector<NodeId> others;
  for (const Peer& peer : l_.peers.all()) {
    const bool arrives = !peer.suspected && peer.works;
    if (peer.self || !arrives || has(chain_, peer.node)) continue;
    const bool quiet = now - peer.heard > l_.config.options.heartbeat * kQuietHeartbeats;
    (l_.state.has(peer.member) && !quiet ? members : others).push_back(peer.node);
  }
  return members.empty() ? others : members;
}

void Chain::distribute(Instance instance, const paxos::Slot& slot, const std::vector<NodeId>& nodes,
                       Effects& out) {
  const ByteView bytes = slot.heard.bytes.view();
  if ((bytes.size() + kPacketBytes) * nodes.size() <= kSmallBytes) {
    wire::ValueFrame frame;
    frame.instance = instance;
    frame.head = slot.heard.head;
    return send_to_rest(chain_, l_.outbox.value_packet(PaxosKind::decided, frame, bytes), out);
  }
  const Peer* sender = l_.peers.find(slot.heard.head.origin.node);
  const bool own = sender != nullptr && is_of(slot.heard.head, *sender);
  const NodeId wanted = own ? sender->node : NodeId{};
  const NodeId chosen = distributors_.choose(nodes, bytes.size() * nodes.size(), wanted);
  const wire::Relay frame{round_, instance, 0, chain_, slot.heard.head, chosen == wanted};
  const BufferRef packet =
      l_.outbox.relay_packet(PaxosKind::distribute, frame, frame.own ? ByteView{} : bytes);
  if (packet) out.send(chosen, l_.outbox.lane_for(packet), packet);
}

void Chain::add_to(Digest& digest) const {
  paxos::add_to(digest, round_);
  digest.add(mine_);
  digest.add(chain_);
  digest.add(told_);
  distributors_.add_to(digest);
}

}  // namespace peal::order::ridge
