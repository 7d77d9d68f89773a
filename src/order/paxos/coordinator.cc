// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/coordinator.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

// Phase 1, and the takeover after it.

namespace peal::order::paxos {
namespace {

/// In units of Options::suspect: a coordinator gives up its round if Phase 1 makes no progress for
/// so long. But it keeps the round while it waits for promises and most acceptors seem alive.
constexpr std::int64_t kPatience = 10;

}  // namespace

void Coordinator::prepare(Instant now, std::uint64_t count, Effects& out) {
  step_down();
  PEAL_ASSERT(Round({count, p_.config.self}) > round_ && "rounds never go back");
  round_ = {count, p_.config.self};
  phase_ = Phase::prepare;
  since_ = now;
  phase1_.begin();
  if (!p_.acceptor->prepare(round_)) {
    phase_ = Phase::idle;
    return;
  }
  phase1_.ask(round_, out);
  answer_self(now, out);
}

void Coordinator::step_down() {
  phase_ = Phase::idle;
  phase1_.clear();
  flight_.clear();
  waiting_.clear();
  progress_.clear();
}

void Coordinator::answer_self(Instant now, Effects& out) {
  if (phase_ != Phase::prepare || phase1_.has_promise_of(p_.config.self.node)) return;
  if (!p_.acceptor->is_promised(round_)) return;
  on_promise(now, p_.peers.self(), promise_of(round_, p_.store, p_.state), out);
}

void Coordinator::on_promise(Instant now, const Peer& from, const wire::Promise& promise,
                             Effects& out) {
  const bool of_this_round = promise.round == round_ || PEAL_MUTANT(px_old_promises_count);
  if (of_this_round && phase_ != Phase::prepare && phase_ != Phase::idle) {
    PEAL_PROBE("paxos.promise_late");
  }
  if (phase_ != Phase::prepare || !of_this_round || !from.acceptor) return;
  if (!phase1_.note(from.node, promise)) return;
  phase1_.choose();
  phase_ = Phase::recover;
  since_ = now;
  work(now, out);
}

void Coordinator::on_fetched(const wire::Fetched& frame, const BufferRef& bytes) {
  if (phase_ == Phase::recover) phase1_.on_fetched(frame, bytes);
}

void Coordinator::work(Instant now, Effects& out) {
  now_ = now;
  switch (phase_) {
    case Phase::idle: return;
    case Phase::prepare: answer_self(now, out); return;
    case Phase::recover: {
      if (!phase1_.knows_values()) return phase1_.fetch(out);
      // This node leads once it has consumed all instances below the base. CatchUp fetches these
      // instances from nodes that consumed them.
      if (p_.state.next() >= phase1_.base()) begin_to_lead(now, out);
      return;
    }
    case Phase::lead: break;
  }
  if (!forget_consumed()) return;
  waiting_.ask_for_gaps(out);
  if (wants_list()) return propose_list(p_.given.value(p_.state, p_.peers), out);
  if (wants_lives()) return propose_list(p_.given.renewed(p_.state, p_.peers), out);
  propose_view(now, out);
  while (has_room() && propose_units(out)) {
  }
}

void Coordinator::begin_to_lead(Instant now, Effects& out) {
  phase_ = Phase::lead;
  since_ = now;
  p_.routes.choose(now, true);
  tip_ = p_.state;
  next_ = flight_first_ = p_.state.next();
  headway_.begin(next_);
  passed_ = 0;
  view_at_ = next_ - 1;
  waiting_.begin_view();
  p_.acceptor->accept(round_, next_);
  const Instance end = phase1_.end(next_);
  while (next_ < end && tip_.governs(round_)) {
    const Value* chosen = phase1_.chosen(next_);
    if (chosen != nullptr && !PEAL_MUTANT(px_recovered_dropped)) {
      propose(*chosen, false, out);
    } else {
      propose({{wire::ValueKind::nothing, Service::agreed, 0, p_.config.self, 0}, {}}, false, out);
    }
  }
  phase1_.finish();
}

void Coordinator::tick(Instant now, Effects& out) {
  const Options& options = p_.config.options;
  now_ = now;
  if (phase_ == Phase::idle) return;
  if (phase_ == Phase::lead) {
    headway_.tick(p_.state.next(), somebody_asked());
    waiting_.look_for_gaps();
    resend(now, out);
    return;
  }
  // Promises wait for disks, however slow these are. A new round would have to wait even longer for
  // its promises.
  const bool waits_for_disks = phase_ == Phase::prepare && !PEAL_MUTANT(px_rounds_overtake) &&
                               p_.peers.live_acceptors() >= p_.peers.majority();
  if (now - since_ >= options.suspect * kPatience && !waits_for_disks) {
    step_down();  // the node that should answer seems gone: a new round will ask other nodes
    return;
  }
  if (phase_ == Phase::prepare) {
    p_.acceptor->prepare(round_);
    phase1_.ask(round_, out);
  }
  if (phase_ == Phase::recover && !phase1_.fetch_again(out)) step_down();
}

void Coordinator::add_to(Digest& digest) const {
  digest.add(static_cast<std::uint64_t>(phase_));
  if (phase_ == Phase::idle) return;
  paxos::add_to(digest, round_);
  phase1_.add_to(digest);
  add_flight(digest);
}

void Coordinator::check_invariants() const {
  phase1_.check_invariants();
  if (phase_ != Phase::lead) return;
  PEAL_ASSERT(next_ >= flight_first_ && next_ - flight_first_ == flight_.size());
  PEAL_ASSERT(tip_.next() == next_);
  waiting_.check_invariants();
}

}  // namespace peal::order::paxos
