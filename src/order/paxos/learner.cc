// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/learner.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {

using wire::Drop;

bool Learner::is_ours(const Arrival& proposal) {
  if (!p_.knows_order_of(proposal.round)) return false;
  if (p_.state.governs(proposal.round) || PEAL_MUTANT(px_lists_mixed)) return true;
  if (wire::list_of(proposal.round) > p_.state.nodes().number) {
    note_decided(proposal.instance - proposal.behind - 1);
  }
  return false;
}

Drop Learner::take_proposal(const Arrival& proposal, const BufferRef& bytes) {
  const Round& round = proposal.round;
  const Instance floor = proposal.instance - proposal.behind;
  note_decided(floor - 1);
  if (proposal.tells_decided) p_.peers.note_decided(round, floor - 1);
  Slot* slot = p_.store.make(proposal.instance);
  if (slot == nullptr) {
    return proposal.instance < p_.store.next() ? Drop::duplicate : Drop::out_of_window;
  }
  if (slot->decided || slot->heard_round >= round) return Drop::duplicate;
  slot->heard_round = round;
  slot->heard = {proposal.head, bytes};
  if (round == round_ && proposal.instance <= decided_upto_) slot->decided = true;
  if (PEAL_MUTANT(rd_arrival_decides)) slot->decided = true;
  return Drop::none;
}

Drop Learner::take_decided(Instance instance, const wire::ValueHead& head, const BufferRef& bytes) {
  note_decided(instance);
  Slot* slot = p_.store.make(instance);
  if (slot == nullptr) return instance < p_.store.next() ? Drop::duplicate : Drop::out_of_window;
  if (slot->decided) return Drop::duplicate;
  slot->decided = true;
  slot->heard = {head, bytes};
  // The slot gets no round. Otherwise an acceptor could vote for this value as if the value had
  // been proposed in the acceptor's round.
  slot->heard_round = {};
  return Drop::none;
}

// An instance is decided once a majority voted for it in one round. Votes come in order of
// instances. So this function sorts the last voted instances of the acceptors in descending order.
// The instance at which a majority is complete is the highest decided one.
void Learner::count_votes() {
  const auto& peers = p_.peers.all();
  const std::size_t majority =
      PEAL_MUTANT(px_minority_decides) ? p_.peers.majority() - 1 : p_.peers.majority();
  for (const Peer& each : peers) {
    const Round round = each.state.voted_round;
    if (!each.acceptor || round.count == 0 || round < round_) continue;
    if (!p_.state.governs(round) && !PEAL_MUTANT(px_lists_mixed)) continue;
    votes_.clear();
    Instance upto = 0;  // the highest decided instance that other nodes report
    for (const Peer& peer : peers) {
      if (!peer.acceptor || !same_list(peer)) continue;
      const bool same = peer.state.voted_round == round;
      if (same || PEAL_MUTANT(px_rounds_mixed)) votes_.push_back(peer.state.voted_upto);
      if (same) upto = std::max(upto, peer.state.decided_upto);
    }
    if (votes_.size() >= std::max<std::size_t>(majority, 1)) {
      std::sort(votes_.begin(), votes_.end(), std::greater<>());
      upto = std::max(upto, votes_[std::max<std::size_t>(majority, 1) - 1]);
    } else if (upto == 0) {
      continue;
    }
    if (round > round_) begin_round(round);
    if (upto > decided_upto_) decided_upto_ = upto;
  }
  if (decided_upto_ > marked_) mark(decided_upto_);
}

/// True if the peer's report refers to this order and to the active list.
bool Learner::same_list(const Peer& peer) const {
  return (peer.state.first_list == p_.state.nodes().first &&
          peer.state.list == p_.state.nodes().number) ||
         PEAL_MUTANT(px_lists_mixed);
}

void Learner::begin_round(const Round& round) {
  PEAL_ASSERT(round > round_ && "rounds never go back");
  round_ = round;
  decided_upto_ = told_ = marked_ = 0;
}

// A vote is for the value that was proposed in the round of the vote. So a slot with a value of
// another round is not marked.
void Learner::mark(Instance upto) {
  PEAL_ASSERT(upto > marked_);
  const Instance end = p_.store.end();
  for (Instance k = std::max(marked_ + 1, p_.store.next()); k <= upto && k < end; ++k) {
    Slot* slot = p_.store.find(k);
    if (slot->heard_round == round_ ||
        (slot->heard_round.count != 0 && PEAL_MUTANT(px_any_value_decided))) {
      slot->decided = true;
    }
  }
  marked_ = upto;
  note_decided(upto);
}

bool Learner::has_news() {
  PEAL_ASSERT(told_ <= decided_upto_);
  if (told_ == decided_upto_) return false;
  told_ = decided_upto_;
  return true;
}

void Learner::forget() {
  round_ = {};
  decided_upto_ = told_ = marked_ = highest_ = 0;
}

void Learner::check_invariants() const {
  PEAL_ASSERT(told_ <= decided_upto_ && marked_ <= decided_upto_);
  PEAL_ASSERT(marked_ <= highest_);
  PEAL_ASSERT(round_.count != 0 || decided_upto_ == 0);
}

void Learner::add_to(Digest& digest) const {
  paxos::add_to(digest, round_);
  digest.add(decided_upto_);
  digest.add(marked_);
  digest.add(highest_);
}

}  // namespace peal::order::paxos
