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
void PaxosEngine::set_nodes(Instant now, const NodeList& nodes, Effects& out) {
  PEAL_ASSERT(nodes.hash != 0 && !nodes.acceptors.empty());
  PEAL_ASSERT(std::binary_search(nodes.nodes.begin(), nodes.nodes.end(), config_.self.node));
  if (life_ == Life::stopped) return;
  given_.give(nodes);
  // The list of those who begin may change until this node has said whom it takes for them: it says
  // so by one list alone in its life.
  if (!state_.known() && incarnations_.bootstrap().taken().lives.empty() &&
      nodes.hash != state_.nodes().hash) {
    state_ = OrderState(nodes_of(nodes));
    list_told_ = nodes.hash;
    routes_->nodes_changed();
    out.report({&event::nodes_adopted, consumer_.view(), {}, nodes.hash, 0});
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
    out.report({&event::acceptor_renewed, consumer_.view(), peer.member, 0, 0});
  }
  // Named as it lives, it has said nothing in rounds of this list, and nothing of any other counts.
  if (!voted && peers_.self().acceptor) incarnations_.let_vote();
  incarnations_.update_silence();
  routes_->nodes_changed();
  recall_.begin_list();
  election_.begin_list(now_, led);
  promise_for_.reset();
  checkpointer_.begin_list();
  checkpointer_.want(incarnations_.keeps_log());
  // What was decided while it was no acceptor is not in its log, and votes of its own may be.
  if (!voted && !PEAL_MUTANT(px_noted_from_kept)) checkpointer_.begin_history();
  announce_ = true;
  PEAL_PROBE("paxos.list_changed");
  incarnations_.report_amnesia(consumer_.view(), out);
  const std::uint64_t hash = state_.nodes().hash;
  // Who restarted votes again, and nothing else has changed.
  if (hash == std::exchange(list_told_, hash)) return;
  if (hash == given_.list().hash)
    out.report({&event::nodes_adopted, consumer_.view(), {}, hash, 0});
  // One that starts may have been given the list that is next.
  const bool member = consumer_.view().number != 0;
  if (hash != given_.list().hash && member && peers_.self().listed) {
    out.report({&event::nodes_not_given, consumer_.view(), {}, hash, 0});
  }
}

void PaxosEngine::vote() {
  const bool begun = incarnations_.votes() && acceptor_->round().count != 0;
  if (!begun || !state_.governs(acceptor_->round())) return;
  acceptor_->vote(store_);
  if (!parts_.in_memory() || !acceptor_->on_durable()) return;
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

}  // namespace peal::order::paxos
