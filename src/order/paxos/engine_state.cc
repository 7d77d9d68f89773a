// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
#include "base/digest.h"
#include "order/paxos/engine.h"

// What others see of an engine: what it waits for, its counters, its state.

namespace peal::order::paxos {

WaitReason PaxosEngine::why() const {
  return why(!own_.empty() || host_.backlog_units() > 0 || !joined());
}

/// `waits`: for anything to be ordered.
WaitReason PaxosEngine::why(bool waits) const {
  if (life_ == Life::opening && disk_hangs_) return {&wait::disk, config_.self, 0};
  if (host_.receive_room_units() == 0) return {&wait::slow_application, config_.self, 0};
  // Whoever is to coordinate, it cannot without most of them; nor will what comes next be ordered.
  if (!state_.known() && peers_.self().named && !peers_.anybody_knows()) return founding_waits();
  if (peers_.lives() < peers_.majority()) return waits_for_acceptors(&wait::amnesiac, seq_ + 1);
  if (peers_.live_acceptors() < peers_.majority()) {
    return waits_for_acceptors(&wait::majority, seq_ + 1);
  }
  if (state_.known() && !joined()) {
    if (const WaitReason outside = why_outside(); outside.kind != &wait::nothing) return outside;
  }
  if (is_missing_) return {&wait::packet, {}, seq_ + 1};
  if (!waits) return {};
  if (const MemberId full = full_application(); full != MemberId{}) {
    return {&wait::slow_application, full, 0};
  }
  if (disk_hangs_) return {&wait::disk, config_.self, seq_ + 1};
  if (const Peer* leader = coordinator(); leader == nullptr) {
    // The others go on with one that this node alone does not hear.
    const Peer* last = peers_.find(round_seen_.coordinator.node);
    if (last != nullptr && !last->self && !last->reception.works() && !most_miss_last()) {
      return {&wait::unheard, last->member, seq_ + 1, {}, {last->member}};
    }
    const Peer* best = peers_.candidate(config_.first_candidate);
    return {&wait::coordinator, best == nullptr ? MemberId{} : best->member, 0};
  }
  if (coordinator_ && coordinator_->leads()) {
    if (const auto slow = coordinator_->too_far_behind()) return {&wait::window, *slow, 0};
  }
  const WaitReason quorum = waits_for_acceptors(&wait::quorum, seq_ + 1);
  if (!quorum.all.empty()) return quorum;
  if (const WaitReason disks = hung_disks(); !disks.all.empty()) return disks;
  const WaitReason unheard = unheard_members();
  return unheard.all.empty() ? quorum : unheard;
}

WaitReason PaxosEngine::waits_for_acceptors(const WaitKind* kind, Seq seq) const {
  WaitReason reason{kind, {}, seq};
  reason.all = silent_acceptors();
  if (!reason.all.empty()) reason.who = reason.all.front();
  return reason;
}

/// Acceptors whose disks hang, if too few others are left to vote.
WaitReason PaxosEngine::hung_disks() const {
  WaitReason reason{&wait::disk, {}, seq_ + 1};
  for (const Peer& peer : peers_.all()) {
    if (peer.acceptor && !peer.suspected && peer.state.disk_hangs)
      reason.all.push_back(peer.member);
  }
  if (peers_.live_acceptors() - reason.all.size() >= peers_.majority()) reason.all.clear();
  if (!reason.all.empty()) reason.who = reason.all.front();
  return reason;
}

/// Members of which something arrives, and not all.
WaitReason PaxosEngine::unheard_members() const {
  WaitReason reason{&wait::unheard, {}, seq_ + 1};
  for (const Peer& peer : peers_.all()) {
    const bool part = !peer.self && !peer.suspected && !peer.reception.works();
    if (part && state_.has(peer.member)) reason.all.push_back(peer.member);
  }
  if (!reason.all.empty()) reason.who = reason.all.front();
  return reason;
}

/// From how many nodes of the list something arrives, and not all.
std::uint64_t PaxosEngine::failing_links() const {
  const std::vector<Peer>& peers = peers_.all();
  return static_cast<std::uint64_t>(std::count_if(peers.begin(), peers.end(), [](const Peer& peer) {
    return peer.listed && !peer.self && !peer.suspected && !peer.reception.works();
  }));
}

/// What keeps this node out of the view, as far as it can tell.
WaitReason PaxosEngine::why_outside() const {
  if (disk_hangs_) return {&wait::disk, config_.self, seq_ + 1};
  WaitReason unheard{&wait::unheard, {}, seq_ + 1};
  WaitReason not_heard{&wait::not_heard, {}, seq_ + 1};
  for (const Peer& peer : peers_.all()) {
    if (peer.self || !state_.has(peer.member)) continue;
    const bool arrives = !peer.suspected && peer.reception.works();
    if (!arrives) unheard.all.push_back(peer.member);
    if (arrives && !peer.works) not_heard.all.push_back(peer.member);
  }
  WaitReason& reason = unheard.all.empty() ? not_heard : unheard;
  if (reason.all.empty()) return {};
  reason.who = reason.all.front();
  return reason;
}

/// A member whose application takes nothing, and that holds up the others or is about to. A
/// coordinator does so when it has consumed as much as others that wait for it.
MemberId PaxosEngine::full_application() const {
  const Peer* leader = coordinator();
  for (const Peer& peer : peers_.all()) {
    if (peer.self || peer.suspected || !peer.has_state || !state_.has(peer.member)) continue;
    const bool holds_up = peer.state.next < state_.next() || &peer == leader;
    if (peer.state.app_full && holds_up) return peer.member;
  }
  return {};
}

std::span<const Counter> PaxosEngine::counters() const {
  counters_.assign({
      {"quorum_originated", counts_.originated},
      {"quorum_delivered", counts_.delivered},
      {"quorum_ignored", counts_.ignored},
      {"quorum_views", counts_.views},
      {"quorum_elections", counts_.elections},
      {"quorum_repeats_asked", counts_.repeats},
      {"quorum_repeated", counts_.repeated},
      {"quorum_resent", counts_.resent},
      {"quorum_checkpoints", counts_.checkpoints},
      {"quorum_no_buffer", outbox_.no_buffer()},
      {"quorum_next", state_.next()},
      {"quorum_instances_ahead", store_.end() - store_.next()},
      {"quorum_round", round_seen_.count},
      {"quorum_window", coordinator_ && coordinator_->leads() ? coordinator_->window() : 0},
      {"quorum_member_window", own_window_.size()},
      {"quorum_list", state_.nodes().number},
      {"quorum_acceptors", peers_.acceptors()},
      {"quorum_acceptors_heard", peers_.live_acceptors()},
      {"quorum_acceptors_living", peers_.lives()},
      {"quorum_links_failing", failing_links()},
      {"quorum_acceptor", peers_.self().named ? 1U : 0U},
      {"quorum_amnesiac", has_forgotten() ? 1U : 0U},
      {"quorum_owed_bytes", left_out_.bytes()},
      {"quorum_owed_dropped", left_out_.dropped()},
      {"quorum_order", state_.known() ? state_.nodes().first & 0xffff'ffff : 0},
  });
  if (early_) early_->append_counters(counters_);
  for (std::size_t i = 1; i < drops_.size(); ++i) {
    counters_.push_back({wire::drop_name(static_cast<wire::Drop>(i)), drops_[i]});
  }
  return counters_;
}

void PaxosEngine::check_invariants() const {
  if (acceptor_) acceptor_->check_invariants();
  if (coordinator_) coordinator_->check_invariants();
  if (early_) early_->check_invariants();
  PEAL_ASSERT(!state_.known() || store_.next() == state_.next());
  PEAL_ASSERT(own_.size() <= config_.options.member_window);
  PEAL_ASSERT(own_.empty() || own_.back().head.number == own_number_);
}

// All that the protocol goes by, but for times: with the same inputs at other times the same is
// decided. tests/order/explore.h relies on it.
std::uint64_t PaxosEngine::digest() const {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(life_));
  for (const Round& round : {round_seen_, leading_, decided_round_}) add_to(digest, round);
  digest.add(promise_for_ ? promise_for_->value : 0);
  digest.add((announce_ ? 1U : 0U) | (is_missing_ ? 2U : 0U) | (checkpoint_wanted_ ? 4U : 0U));
  digest.add(decided_upto_);
  digest.add(marked_);
  digest.add(highest_decided_);
  digest.add(checkpoint_at_);
  digest.add(view_.number);
  digest.add(seq_);
  digest.add(own_number_);
  digest.add(own_.size());
  digest.add(logged_list_);
  digest.add((leads_again_ ? 1U : 0U) | (visiting_ ? 2U : 0U) | (sworn_ ? 4U : 0U));
  founding_.add_to(digest);
  copy_check_.add_to(digest);
  state_.add_to(digest);
  given_.add_to(digest);
  store_.add_to(digest);
  left_out_.add_to(digest);
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
