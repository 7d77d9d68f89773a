// SPDX-License-Identifier: Apache-2.0
// Going over to another list of nodes, acceptors among them, while messages are ordered.
//
// The list is a value like others: the coordinator proposes it once all members have been given it
// and nothing is under way, and proposes nothing behind it. Each round is for one list, which its
// number says, so whoever has consumed the value is done with all rounds before, and the next one
// begins with Phase 1 among the acceptors of the new list. An instance is thus voted for by the
// acceptors of the list that counts at it, and by no others: what was decided stays decided,
// however the two lists differ. Votes for instances behind the value that rounds before it may have
// left are of no use to anybody: no majority of them can come together, since the round that
// decided the value asked a majority for them, and found none.
//
// An acceptor's log knows of a list, by a checkpoint behind it, before it says anything in a round
// of it. Else all might start again, before the value that they all promised to be past.

#include <algorithm>
#include <map>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/paxos/engine.h"

namespace peal::order::paxos {
namespace {

constexpr std::uint64_t kNotLogged = ~std::uint64_t{0};

}  // namespace

void PaxosEngine::set_nodes(Instant now, const NodeList& nodes, Effects& out) {
  PEAL_ASSERT(nodes.hash != 0 && !nodes.acceptors.empty());
  PEAL_ASSERT(std::binary_search(nodes.nodes.begin(), nodes.nodes.end(), config_.self.node));
  if (life_ == Life::stopped) return;
  given_.give(nodes);
  // The list of those who begin may change until this node has said whom it takes for them: it says
  // so by one list alone in its life.
  if (!state_.known() && founding_.taken().lives.empty() && nodes.hash != state_.nodes().hash) {
    state_ = OrderState(nodes_of(nodes));
    list_told_ = nodes.hash;
    routes_->nodes_changed();
    out.report({&event::nodes_adopted, view_, {}, nodes.hash, 0});
  }
  know_nodes();
  reported_.clear();
  if (life_ != Life::running) return;
  update_self();
  say(state(), Lane::control, out);  // the coordinator waits for it
  work(now, out);
}

/// Who is to be known: nodes of the list that counts, and of the next one.
void PaxosEngine::know_nodes() {
  const NodeList* next = given_.next(state_);
  peers_.know(state_.nodes(), next == nullptr ? std::vector<NodeId>{} : next->nodes);
}

void PaxosEngine::change_nodes(Effects& out) {
  const bool led = coordinator_ && coordinator_->leads();
  const bool voted = acceptor_ && peers_.self().acceptor;
  std::map<NodeId, std::uint64_t> lives;
  for (const Peer& peer : peers_.all()) lives[peer.node] = peer.life;
  know_nodes();
  for (const Peer& peer : peers_.all()) {
    const std::uint64_t before = lives[peer.node];
    if (before == 0 || peer.life == 0 || peer.life == before) continue;
    if (peer.self && !peer.acceptor) continue;  // it is not this life that was taken in
    out.report({&event::acceptor_renewed, view_, peer.member, 0, 0});
  }
  // Named as it lives, it has said nothing in rounds of this list, and nothing of any other counts.
  if (!voted && peers_.self().acceptor) swear();
  look_at_silence();
  routes_->nodes_changed();
  recall_.clear();  // others vote from here on
  // Rounds of the list before are over. Who coordinated them has the first word.
  if (coordinator_) coordinator_->step_down();
  promise_for_.reset();
  round_seen_at_ = now_;
  const Peer& self = peers_.self();
  leads_again_ = led && self.acceptor;
  logged_list_ = kNotLogged;
  checkpoint_wanted_ = acceptor_ && sworn_ && self.acceptor;
  // What was decided while it was no acceptor is not in its log, and votes of its own may be.
  if (!voted && !PEAL_MUTANT(px_noted_from_kept)) noted_from_ = state_.next();
  announce_ = true;
  PEAL_PROBE("paxos.list_changed");
  report_forgotten(out);
  const std::uint64_t hash = state_.nodes().hash;
  // Who restarted votes again, and nothing else has changed.
  if (hash == std::exchange(list_told_, hash)) return;
  if (hash == given_.list().hash) out.report({&event::nodes_adopted, view_, {}, hash, 0});
  // One that starts may have been given the list that is next.
  const bool member = view_.number != 0;
  if (hash != given_.list().hash && member && self.listed) {
    out.report({&event::nodes_not_given, view_, {}, hash, 0});
  }
}

// Behind a view that left members out a restart would not put by again what they are owed, and the
// log would let go of it: so that is on disk before.
void PaxosEngine::write_checkpoint() {
  // Of several ensembles that is known once the order of them all has come to that view.
  const bool ahead = config_.merger != nullptr && config_.merger->exclusions_ahead();
  const bool unmerged = ahead && !PEAL_MUTANT(px_owed_not_kept) && !PEAL_MUTANT(px_owed_unmerged);
  const bool waits = !left_out_.durable() || unmerged;
  // A disk that hangs writes no checkpoint either, and what is consumed meanwhile must not wait.
  const Instance most = config_.options.max_gap + config_.options.checkpoint_every;
  if (waits && state_.next() < acceptor_->base() + most) {
    PEAL_PROBE("paxos.checkpoint_waits_for_owed");
    return;
  }
  if (waits) PEAL_PROBE("paxos.checkpoint_overtakes_owed");
  Instance oldest = std::max(store_.oldest(), noted_from_);
  // Several ensembles share the log. One that orders hardly anything has a history that is small
  // and begins long ago; for it the log would keep all that the others have ordered since.
  const Instance kept = std::max<Instance>(512, gap_max(config_.options) + config_.options.window);
  if (config_.merger != nullptr && state_.next() > kept) {
    oldest = std::max(oldest, state_.next() - kept);
  }
  if (!acceptor_->checkpoint(state_, oldest, kept_)) return;
  checkpoint_wanted_ = false;
  checkpoint_at_ = state_.next();
  logged_list_ = state_.nodes().number;
  more_ = true;
}

void PaxosEngine::lead_again(Instant now, Effects& out) {
  if (!votes()) return;
  leads_again_ = false;
  if (wire::list_of(round_seen_) >= state_.nodes().number) return;  // another one was faster
  const Round round{wire::first_count(state_.nodes().number), config_.self};
  see_round(now, round);
  coordinator_->prepare(now, round.count, out);
}

/// This node may promise and vote: it is an acceptor of the list that counts, in the life that the
/// list names, and its log knows.
bool PaxosEngine::votes() const {
  return acceptor_ && peers_.self().acceptor && !state_.nodes().lives.empty() &&
         (sworn_ || PEAL_MUTANT(px_amnesiac_votes)) && copy_check_.is_sure() &&
         (logged_list_ == state_.nodes().number || PEAL_MUTANT(px_list_not_logged));
}

void PaxosEngine::vote() {
  const bool begun = votes() && acceptor_->round().count != 0;
  if (!begun || !state_.governs(acceptor_->round())) return;
  acceptor_->vote(store_);
  if (!in_memory() || !acceptor_->on_durable()) return;
  // No disk is waited for: its own vote counts at once.
  announce_ = true;
  update_self();
  more_ = true;
}

/// Two nodes that know orders know the same one; two that know none were given the same list.
bool PaxosEngine::same_order(const wire::State& said) const {
  if ((said.next != 0) != state_.known()) return true;
  return said.first_list == state_.nodes().first;
}

/// Its votes are those of an acceptor of the list that counts here.
bool PaxosEngine::same_list(const Peer& peer) const {
  return (peer.state.first_list == state_.nodes().first &&
          peer.state.list == state_.nodes().number) ||
         PEAL_MUTANT(px_lists_mixed);
}

/// A node that knows nothing yet may have been given a list that never counted: then rounds of the
/// first list are not of the list that it goes by, and say nothing of that.
bool PaxosEngine::knows_order_of(const Round& round) const {
  const Peer* peer = peers_.find(round.coordinator.node);
  return peer != nullptr && peer->has_state && peer->state.first_list == state_.nodes().first;
}

/// Is this the value of a round of the list that counts? Else others have another list, and only
/// where they are is of use.
bool PaxosEngine::is_ours(const Arrival& arrival) {
  if (!knows_order_of(arrival.round)) return false;
  if (state_.governs(arrival.round) || PEAL_MUTANT(px_lists_mixed)) return true;
  if (wire::list_of(arrival.round) > state_.nodes().number) {
    highest_decided_ = std::max(highest_decided_, arrival.instance - arrival.behind - 1);
  }
  return false;
}

}  // namespace peal::order::paxos
