// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/self_report.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {

wire::State SelfReport::state() const {
  wire::State state;
  state.round = from_.election.round();
  state.first_list = p_.state.nodes().first;
  if (p_.state.known()) state.list = p_.state.nodes().number;
  if (const NodeList* next = p_.given.next(p_.state)) state.next_list = next->hash;
  const Coordinator* coordinator = from_.coordinator;
  state.leading =
      coordinator != nullptr && coordinator->leads() && coordinator->round() == state.round;
  if (p_.acceptor != nullptr) add_votes(state);
  state.next = p_.state.next();
  state.oldest = p_.state.known() ? p_.store.oldest() : 0;
  state.view = from_.consumer.view().number;
  state.joined = p_.joined();
  state.visiting = from_.consumer.visiting();
  state.asks = from_.catch_up.asked();
  state.from = from_.consumer.views_from();
  state.misses = from_.election.misses();
  state.disk_hangs = from_.links.says_that_disk_hangs();
  state.app_full = p_.host.receive_room_units() == 0;
  state.fitness = from_.links.company().fitness();
  state.life = p_.peers.self().has_life;
  if (p_.config.log != nullptr && !p_.in_memory()) {
    state.log = p_.config.log->durable().value;
    state.log_word = from_.incarnations.log_word();
  }
  if (state.next != 0) state.unheard = from_.links.company().unheard();
  return state;
}

void SelfReport::add_votes(wire::State& state) const {
  state.voted_round = p_.acceptor->round();
  state.voted_upto = state.voted_round.count == 0 ? 0 : p_.acceptor->voted_upto();
  if (!p_.routes.tells_decided() || state.voted_round != from_.learner.round()) return;
  state.decided_upto = PEAL_MUTANT(rd_vote_decides)
                           ? state.voted_upto
                           : std::min(from_.learner.decided_upto(), state.voted_upto);
}

void SelfReport::update() {
  Peer& self = p_.peers.self();
  wire::State now = state();
  PEAL_ASSERT(now.next >= self.state.next && "the order never goes back");
  PEAL_ASSERT(now.voted_round >= self.state.voted_round || PEAL_MUTANT(px_old_round_accepted) ||
              PEAL_MUTANT(px_vote_without_promise));
  self.state = now;
  self.has_state = true;
}

void SelfReport::tell(NodeId to, Effects& out) const {
  if (const BufferRef packet = p_.outbox.state_packet(state())) out.send(to, Lane::control, packet);
}

void SelfReport::tell_all(const wire::State& said, Lane lane, Effects& out) const {
  if (const BufferRef packet = p_.outbox.state_packet(said)) out.multicast(lane, packet);
}

void SelfReport::work(Instant now, Effects& out) {
  if (!wanted_ || now < at_) return;
  wanted_ = false;
  at_ = now + p_.config.options.votes_apart;
  p_.routes.tell_votes(state(), from_.election.coordinator(), out);
}

std::optional<Instant> SelfReport::next_at() const {
  if (!wanted_) return std::nullopt;
  return at_;
}

void SelfReport::check_invariants() const {
  const wire::State& said = p_.peers.self().state;
  PEAL_ASSERT(said.next <= p_.state.next());
  PEAL_ASSERT(said.voted_upto == 0 || p_.acceptor != nullptr);
}

}  // namespace peal::order::paxos
