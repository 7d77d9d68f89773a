// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
#include "base/digest.h"
#include "order/paxos/engine.h"

// The reports of an engine: the reason why it waits, its counters, and its state.

namespace peal::order::paxos {

WaitReason PaxosEngine::why() const {
  return why(!own_units_.empty() || host_.backlog_units() > 0 || !joined());
}

/// `waits`: units wait to be ordered.
WaitReason PaxosEngine::why(bool waits) const {
  return diagnosis_.why({life_ == Life::opening, catch_up_.is_missing(), waits});
}

std::span<const Counter> PaxosEngine::counters() const {
  counters_.assign({
      {"quorum_originated", own_units_.placed()},
      {"quorum_delivered", consumer_.delivered()},
      {"quorum_ignored", consumer_.ignored()},
      {"quorum_views", consumer_.views()},
      {"quorum_elections", election_.elections()},
      {"quorum_repeats_asked", catch_up_.requests()},
      {"quorum_repeated", history_.sent()},
      {"quorum_resent", own_units_.resent()},
      {"quorum_checkpoints", transfer_.checkpoints()},
      {"quorum_no_buffer", outbox_.no_buffer()},
      {"quorum_next", state_.next()},
      {"quorum_instances_ahead", store_.end() - store_.next()},
      {"quorum_round", election_.round().count},
      {"quorum_window", coordinator_ && coordinator_->leads() ? coordinator_->window() : 0},
      {"quorum_member_window", own_units_.window()},
      {"quorum_list", state_.nodes().number},
      {"quorum_acceptors", peers_.acceptors()},
      {"quorum_acceptors_heard", peers_.live_acceptors()},
      {"quorum_acceptors_living", peers_.lives()},
      {"quorum_links_failing", links_.failing()},
      {"quorum_acceptor", peers_.self().named ? 1U : 0U},
      {"quorum_amnesiac", incarnations_.is_amnesiac() ? 1U : 0U},
      {"quorum_owed_bytes", history_.retained().bytes()},
      {"quorum_owed_dropped", history_.retained().dropped()},
      {"quorum_order", state_.known() ? state_.nodes().first & 0xffff'ffff : 0},
  });
  if (early_) early_->append_counters(counters_);
  admission_.append_counters(counters_);
  return counters_;
}

void PaxosEngine::check_invariants() const {
  if (acceptor_) acceptor_->check_invariants();
  if (coordinator_) coordinator_->check_invariants();
  if (early_) early_->check_invariants();
  checkpointer_.check_invariants();
  incarnations_.check_invariants();
  links_.check_invariants();
  election_.check_invariants();
  learner_.check_invariants();
  own_units_.check_invariants();
  consumer_.check_invariants();
  catch_up_.check_invariants();
  reconfiguration_.check_invariants();
  voter_.check_invariants();
  recall_.check_invariants();
  report_.check_invariants();
  PEAL_ASSERT(!state_.known() || store_.next() == state_.next());
}

// Covers all state that the protocol depends on, except times: the same inputs at other times give
// the same decisions. tests/order/explore.h relies on this property.
std::uint64_t PaxosEngine::digest() const {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(life_));
  for (const Round& round : {election_.round(), election_.leading()}) add_to(digest, round);
  voter_.add_to(digest);
  report_.add_to(digest);
  digest.add((catch_up_.is_missing() ? 2U : 0U));
  learner_.add_to(digest);
  consumer_.add_to(digest);
  own_units_.add_to(digest);
  digest.add(election_.leads_again() ? 1 : 0);
  checkpointer_.add_to(digest);
  incarnations_.add_to(digest);
  state_.add_to(digest);
  given_.add_to(digest);
  store_.add_to(digest);
  history_.add_to(digest);
  kept_.add_to(digest);
  recall_.add_to(digest);
  peers_.add_to(digest);
  if (acceptor_) acceptor_->add_to(digest);
  if (coordinator_) coordinator_->add_to(digest);
  if (early_) early_->add_to(digest);
  routes_->add_to(digest);
  return digest.value();
}

}  // namespace peal::order::paxos
