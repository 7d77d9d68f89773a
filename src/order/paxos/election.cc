// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/election.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// In units of Options::suspect: a coordinator that has been less fit than an acceptor for so long
/// counts as not serving that acceptor.
constexpr std::int64_t kLessFitFor = 2;

}  // namespace

// This node does not follow a round of a later list: the coordinator of that round may be the only
// node that knows that the list is active, and may be gone.
void Election::see(Instant now, const Round& round) {
  if (round <= round_ || wire::list_of(round) > p_.state.nodes().number) return;
  round_ = round;
  round_at_ = now;
  if (coordinator_ != nullptr && coordinator_->phase() != Coordinator::Phase::idle &&
      coordinator_->round() < round) {
    PEAL_PROBE("paxos.stepped_down");
    coordinator_->step_down();
    put_off(now + p_.config.options.suspect);
  }
}

void Election::follow(const Round& round) {
  PEAL_ASSERT(round > leading_ && "rounds never go back");
  PEAL_ASSERT(p_.state.governs(round) || PEAL_MUTANT(px_lists_mixed));
  PEAL_ASSERT(round <= round_ || PEAL_MUTANT(px_lists_mixed));
  leading_ = round;
}

bool Election::follow_self() {
  if (coordinator_ == nullptr || !coordinator_->leads() || leading_ >= coordinator_->round()) {
    return false;
  }
  leading_ = coordinator_->round();
  return true;
}

const Peer* Election::coordinator() const {
  const Peer* peer = p_.peers.find(leading_.coordinator.node);
  if (peer == nullptr || peer->member != leading_.coordinator || peer->suspected) return nullptr;
  return peer;
}

void Election::look(Instant now, wire::Fitness own) {
  const Peer* last = p_.peers.find(round_.coordinator.node);
  const bool less_fit = last != nullptr && !last->self && last->has_state &&
                        own >= wire::Fitness::connected && last->state.fitness < own &&
                        !PEAL_MUTANT(px_unfit_leads);
  if (!less_fit) fit_enough_at_ = now;
  misses_ = coordinator_ != nullptr && misses_last(now);
}

// If the coordinator does not serve most acceptors, the fittest acceptor that seems alive takes
// over (Peers::candidate()).
void Election::run(Instant now, bool votes, Effects& out) {
  PEAL_ASSERT(coordinator_ != nullptr);
  if (coordinator_->phase() != Coordinator::Phase::idle || now < retry_at_) return;
  if (p_.peers.live_acceptors() < p_.peers.majority()) return;
  if (!votes || !most_miss_last()) return;
  // The promise of the last round waits for the disk. Another round would make that promise
  // worthless, and the new promise would wait even longer: with slow disks, no round would ever
  // complete Phase 1.
  if (p_.acceptor->promise_under_way() && !PEAL_MUTANT(px_rounds_overtake)) return;
  const Peer* best = p_.peers.candidate(p_.config.first_candidate);
  if (best == nullptr || !best->self) return;
  ++elections_;
  PEAL_PROBE("paxos.election");
  // This node tries again only after the other candidates had their turn.
  retry_at_ = now + turn();
  const std::uint64_t count =
      std::max(round_.count + 1, wire::first_count(p_.state.nodes().number));
  see(now, {count, p_.config.self});
  coordinator_->prepare(now, count, out);
}

/// How long this node waits before it begins another round. Candidates with a later turn wait
/// longer.
Duration Election::turn() const {
  const auto& acceptors = p_.config.acceptors;
  const std::size_t all = acceptors.size();
  const auto index = static_cast<std::size_t>(
      std::lower_bound(acceptors.begin(), acceptors.end(), p_.config.self.node) -
      acceptors.begin());
  const auto rank =
      static_cast<std::int64_t>((index + all - p_.config.first_candidate % all) % all);
  return p_.config.options.suspect + p_.config.options.suspect * rank / 4;
}

/// True if the coordinator of the highest round does not serve this node, or if it did not complete
/// Phase 1 in time.
bool Election::misses_last(Instant now) const {
  if (round_.count == 0) return true;
  const Peer* last = p_.peers.find(round_.coordinator.node);
  if (last == nullptr || last->member != round_.coordinator) return true;
  // This node's own coordinator becomes idle once it sees a higher round.
  if (last->self) return coordinator_->phase() == Coordinator::Phase::idle;
  if (last->suspected || !last->acceptor || last->state.leaving) return true;
  // The coordinator's data may arrive while its STATE does not.
  if (!last->reception.works() && !PEAL_MUTANT(px_silent_leads)) return true;
  const bool leads = leading_ == round_ && p_.state.governs(round_);
  if (!leads && now - round_at_ >= last->patience * 4) return true;
  return now - fit_enough_at_ >= p_.config.options.suspect * kLessFitFor;
}

// A coordinator that does not serve this node may serve most other nodes. If this node took over,
// the two nodes would only swap their roles.
bool Election::most_miss_last() const {
  if (PEAL_MUTANT(px_one_misses) || round_.coordinator == p_.config.self) return misses_;
  const auto& peers = p_.peers.all();
  const auto missing = std::count_if(peers.begin(), peers.end(), [this](const Peer& peer) {
    if (!peer.acceptor || peer.silent || peer.suspected) return false;
    if (peer.self) return misses_;
    // `misses` in a lower round counts too: that peer does not hear this round's coordinator.
    return peer.state.misses && peer.state.round <= round_;
  });
  return static_cast<std::size_t>(missing) >= p_.peers.majority();
}

// While no node coordinates, pauses do not delay an election: a process that rarely gets a
// processor would never begin an election.
void Election::forgive(Instant now) {
  fit_enough_at_ = now;
  if (coordinator() != nullptr || PEAL_MUTANT(px_pauses_add_up)) {
    put_off(now + p_.config.options.suspect);
  }
}

void Election::forget() { round_ = leading_ = {}; }

void Election::begin_list(Instant now, bool led) {
  if (coordinator_ != nullptr) coordinator_->step_down();
  round_at_ = now;
  // The node that coordinated under the previous list tries first under this one.
  leads_again_ = led && p_.peers.self().acceptor;
}

void Election::lead_again(Instant now, Effects& out) {
  PEAL_ASSERT(leads_again_ && coordinator_ != nullptr);
  leads_again_ = false;
  if (wire::list_of(round_) >= p_.state.nodes().number) return;  // another node has begun a round
  const Round round{wire::first_count(p_.state.nodes().number), p_.config.self};
  see(now, round);
  coordinator_->prepare(now, round.count, out);
}

void Election::check_invariants() const {
  PEAL_ASSERT(leading_ <= round_ || PEAL_MUTANT(px_lists_mixed));
  if (coordinator_ == nullptr) {
    PEAL_ASSERT(!misses_ && !leads_again_ && elections_ == 0);
    return;
  }
  // This node coordinates only in the highest round that it knows.
  const bool idle = coordinator_->phase() == Coordinator::Phase::idle;
  PEAL_ASSERT(idle || coordinator_->round() == round_);
}

}  // namespace peal::order::paxos
