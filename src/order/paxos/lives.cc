// SPDX-License-Identifier: Apache-2.0
// Which acceptors begin an order, and which have forgotten what they said in one, since their log
// is lost or their votes were in memory. README.md has the reasons ("How an order begins").
//
// The list of nodes that counts names the life of each of its acceptors: its log, or in memory its
// incarnation. An acceptor votes and promises in that life alone, and others count nobody else's
// word.

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/paxos/engine.h"

namespace peal::order::paxos {
namespace {

/// Is this the life of an acceptor that the list names?
bool names(const wire::Nodes& list, NodeId node, std::uint64_t life) {
  const auto at = std::lower_bound(list.acceptors.begin(), list.acceptors.end(), node);
  if (at == list.acceptors.end() || *at != node || list.lives.empty()) return false;
  return list.lives[static_cast<std::size_t>(at - list.acceptors.begin())] == life;
}

}  // namespace

// At each heartbeat, as long as no order is known: whom this acceptor takes for those that begin
// one.
void PaxosEngine::found(Effects& out) {
  const Peer& self = peers_.self();
  if (state_.known() || !self.named || !acceptor_ || !copy_check_.is_sure()) return;
  if (now_ - started_ < config_.options.suspect) return;
  if (founding_.take(state_.nodes(), peers_)) taken_written_ = false;
  if (founding_.taken().lives.empty()) return;
  // What it says of it has to be true after a restart too.
  if (!taken_written_) taken_written_ = acceptor_->take(founding_.taken(), founding_.heard());
  if (!taken_written_ || !acceptor_->is_taken()) return;
  founding_.note_own(self.node);
  outbox_.multicast(Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_lives(header, founding_.taken(), bytes);
  });
  begin_order(out);
}

wire::Drop PaxosEngine::on_lives(Peer& from, const BufferRef& packet, Effects& out) {
  wire::Lives said;
  const wire::Drop reason = wire::decode_lives(packet.view(), said);
  if (reason != wire::Drop::none) return reason;
  if (!from.named) return wire::Drop::wrong_state;
  if (state_.known()) return wire::Drop::stale;
  from.bound = said.list != state_.nodes().hash;
  founding_.note(said, from);
  begin_order(out);
  return wire::Drop::none;
}

void PaxosEngine::begin_order(Effects& out) {
  if (state_.known() || !founding_.complete()) return;
  PEAL_PROBE("paxos.order_founded");
  state_.found(founding_.taken().lives);
  from_ = state_.key();
  checkpoint_at_ = state_.next();
  sworn_ = true;
  // All others are about to know it too, and the one whose turn it is may not yet.
  retry_at_ = std::max(retry_at_, now_ + config_.options.suspect / 2);
  forget_other_orders();
  know_nodes();
  routes_->nodes_changed();
  checkpoint_wanted_ = true;
  more_ = true;
  report_forgotten(out);
}

// What others said of orders that are not the one that this node goes by from now on.
void PaxosEngine::forget_other_orders() {
  round_seen_ = leading_ = decided_round_ = {};
  highest_decided_ = decided_upto_ = told_ = marked_ = 0;
  for (Peer& peer : peers_.all()) {
    if (peer.self || peer.state.next == 0) continue;
    if (peer.state.first_list == state_.nodes().first) continue;
    peers_.forget_state(peer);
  }
}

/// It goes by the order that this node knows: what it says of instances is of use here. Packets say
/// of which order they are by who sends them: nobody ever goes over to another one.
bool PaxosEngine::shares_order(const Peer& peer) const {
  return state_.known() && peer.state.next != 0 && peer.state.first_list == state_.nodes().first;
}

/// An acceptor's word that an order goes on in its life is one that others vote by.
bool PaxosEngine::may_speak_for_order() const {
  return state_.known() && (sworn_ || !peers_.self().acceptor);
}

/// This node did not know of the order that it is told of. As an acceptor of it, in its life, may
/// it vote at once? Not by hearsay: another order may have begun meanwhile, with its word.
bool PaxosEngine::is_told_to_vote(const Peer& from, const wire::Nodes& order) const {
  if (founding_.took_those_of(order)) return true;
  return names(order, from.node, from.has_life) && founding_.needs(from);
}

/// An order in which nothing is decided may be over before any of its acceptors but one has heard
/// that it began. So it is learnt from its acceptors alone, and by none that could not vote in it:
/// else acceptors that are in no order yet would wait in this one for ever, and keep others from
/// beginning one.
bool PaxosEngine::believes(const Peer& from, const wire::Checkpoint& said) const {
  if (state_.known() || said.next > 1) return true;
  if (founding_.took_those_of(said.nodes)) return true;
  const auto& acceptors = said.nodes.acceptors;
  const bool own = std::binary_search(acceptors.begin(), acceptors.end(), config_.self.node);
  return names(said.nodes, from.node, from.has_life) &&
         (!own || names(said.nodes, config_.self.node, peers_.self().has_life));
}

/// This node knew of its order by hearsay. An acceptor that votes in it, in the life that the list
/// names, says now that the order goes on.
void PaxosEngine::hear_voter(const Peer& from) {
  if (sworn_ || !from.acceptor || !shares_order(from) || !founding_.needs(from)) return;
  PEAL_PROBE("paxos.told_to_vote");
  swear();
  look_at_silence();
  if (checkpoint_wanted_) write_checkpoint();
  more_ = true;
}

/// From now on this node votes in its order. Its log says so first; of what it has consumed before
/// it says nothing.
void PaxosEngine::swear() {
  if (copy_check_.is_put_back()) return;
  if (std::exchange(sworn_, true)) return;
  noted_from_ = state_.next();
  checkpoint_wanted_ = acceptor_ && peers_.self().acceptor;
}

void PaxosEngine::look_at_silence() {
  Peer& self = peers_.self();
  self.silent = self.acceptor && !sworn_ && !PEAL_MUTANT(px_amnesiac_votes);
}

/// No order is known. Some acceptors may be bound to another list than the others, this node
/// included: a node takes lives for one list alone. Then they never agree, and nothing else
/// matters.
WaitReason PaxosEngine::founding_waits() const {
  const auto waits_for = [](const WaitKind* kind, std::vector<MemberId> all) {
    WaitReason reason{kind, all.front(), 0};
    reason.all = std::move(all);
    return reason;
  };
  const wire::Lives& taken = founding_.taken();
  const bool bound_here = !taken.lives.empty() && taken.list != given_.list().hash;
  std::vector<MemberId> bound, refused;
  for (const Peer& peer : peers_.all()) {
    if (!peer.named || peer.suspected) continue;
    if (peer.self ? bound_here : peer.bound && !bound_here) bound.push_back(peer.member);
    if (peer.refused) refused.push_back(peer.member);
  }
  if (!bound.empty()) return waits_for(&wait::bound, std::move(bound));
  WaitReason silent = waits_for_acceptors(&wait::bootstrap, 0);
  if (silent.all.empty() && !refused.empty()) {
    return waits_for(&wait::other_list, std::move(refused));
  }
  return silent;
}

/// Those that are not heard from, or have forgotten their votes; none if all vote.
std::vector<MemberId> PaxosEngine::silent_acceptors() const {
  std::vector<MemberId> silent;
  for (const Peer& peer : peers_.all()) {
    if (peer.named && (peer.suspected || !peer.acceptor || peer.silent)) {
      silent.push_back({peer.node, peer.member.epoch});
    }
  }
  return silent;
}

bool PaxosEngine::has_forgotten() const {
  const Peer& self = peers_.self();
  return acceptor_ && state_.known() && self.named && !(self.acceptor && sworn_);
}

void PaxosEngine::report_forgotten(Effects& out) {
  if (!has_forgotten() || copy_check_.is_put_back() || told_forgotten_ == state_.nodes().number)
    return;
  told_forgotten_ = state_.nodes().number;
  PEAL_PROBE("paxos.votes_forgotten");
  out.report({&event::votes_forgotten, view_, config_.self, 0, 0});
}

}  // namespace peal::order::paxos
