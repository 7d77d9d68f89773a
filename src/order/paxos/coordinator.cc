// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/coordinator.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

// Phase 1: taking over.

namespace peal::order::paxos {
namespace {

/// Votes that a new coordinator asks for and waits for at a time: as answers come, it goes on.
constexpr std::uint32_t kFetchesAtOnce = 64;
/// A coordinator that gets nothing for this many times as long as anything is waited for begins
/// anew.
constexpr std::int64_t kPatience = 10;

}  // namespace

wire::Promise promise_of(const Round& round, const Store& store, const OrderState& state) {
  wire::Promise promise;
  promise.round = round;
  // What is decided and waits for a slow application is nothing to vote on any more; what is not
  // decided is few runs: votes of a round are in a row, and each round ends the rows of others.
  promise.next = state.known() ? store.undecided() : 0;
  for (Instance instance = std::max(promise.next, store.next()); instance < store.end();
       ++instance) {
    const Slot& slot = *store.find(instance);
    if (slot.vote_round.count == 0) continue;
    const bool joins = !promise.runs.empty() && promise.runs.back().round == slot.vote_round &&
                       promise.runs.back().first + promise.runs.back().length == instance;
    if (joins) {
      ++promise.runs.back().length;
    } else {
      promise.runs.push_back({instance, 1, slot.vote_round});
    }
  }
  return promise;
}

void Coordinator::prepare(Instant now, std::uint64_t count, Effects& out) {
  step_down();
  round_ = {count, p_.config.self};
  phase_ = Phase::prepare;
  since_ = now;
  from_ = std::max<Instance>(p_.state.next(), 1);
  if (!p_.acceptor->prepare(round_)) {
    phase_ = Phase::idle;
    return;
  }
  send_prepare(out);
  answer_self(now, out);
}

void Coordinator::step_down() {
  phase_ = Phase::idle;
  promises_.clear();
  choices_.clear();
  recovered_.clear();
  fetching_ = {};
  flight_.clear();
  waiting_.clear();
  came_.clear();
  gaps_.clear();
  progress_.clear();
}

void Coordinator::send_prepare(Effects& out) {
  p_.outbox.multicast(Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_prepare(header, {round_.count, from_}, bytes);
  });
}

void Coordinator::answer_self(Instant now, Effects& out) {
  if (phase_ != Phase::prepare || promises_.count(p_.config.self.node) != 0) return;
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
  promises_.emplace(from.node, promise);
  const std::size_t enough = PEAL_MUTANT(px_promises_one_short)
                                 ? std::max<std::size_t>(p_.peers.majority(), 2) - 1
                                 : p_.peers.majority();
  if (promises_.size() < enough) return;
  choose();
  phase_ = Phase::recover;
  since_ = now;
  work(now, out);
}

// For every instance the vote of the highest round: if anything was decided, it was that.
void Coordinator::choose() {
  base_ = from_;
  for (const auto& [node, promise] : promises_) base_ = std::max(base_, promise.next);
  for (const auto& [node, promise] : promises_) {
    for (const wire::VoteRun& run : promise.runs) {
      const Instance end = run.first + run.length;
      // Nobody can have voted further ahead of what it knew to be decided.
      const Instance most = base_ + p_.store.ahead_max();
      for (Instance k = std::max(run.first, base_); k < std::min(end, most); ++k) {
        Choice& choice = choices_[k];
        const bool better = PEAL_MUTANT(px_lowest_vote_wins)
                                ? choice.round.count == 0 || run.round < choice.round
                                : run.round > choice.round;
        if (better) choice = {run.round, node};
      }
    }
  }
}

bool Coordinator::take_known(Instance instance, const Choice& choice) {
  if (recovered_.count(instance) != 0) return true;
  const Slot* slot = p_.store.find(instance);
  if (slot == nullptr) return false;
  if (slot->vote_round == choice.round) {
    recovered_[instance] = slot->vote;
  } else if (slot->heard_round == choice.round || slot->decided) {
    recovered_[instance] = slot->heard;
  } else {
    return false;
  }
  return true;
}

// All that was chosen and is here already, up to the first that is not. True: that is all of it.
bool Coordinator::knows_choices() {
  for (auto it = choices_.lower_bound(fetching_.known_upto); it != choices_.end(); ++it) {
    fetching_.known_upto = it->first;
    if (it->first >= p_.state.next() && !take_known(it->first, it->second)) return false;
  }
  return true;
}

void Coordinator::fetch(Effects& out) {
  if (fetching_.awaited > kFetchesAtOnce / 2) return;
  auto it = choices_.lower_bound(std::max(fetching_.asked_upto, fetching_.known_upto));
  for (; it != choices_.end() && fetching_.awaited < kFetchesAtOnce; ++it) {
    fetching_.asked_upto = it->first + 1;
    if (it->first < p_.state.next() || take_known(it->first, it->second)) continue;
    ++fetching_.awaited;
    p_.outbox.send(it->second.voter, Lane::control, out,
                   [&](const wire::Header& header, ByteSpan bytes) {
                     return wire::encode_fetch(header, {it->second.round, it->first}, bytes);
                   });
  }
}

// Nothing came for a while: what was asked for is lost. Or who has it is gone; then others of those
// who voted for it are to be found.
void Coordinator::fetch_again(Effects& out) {
  if (std::exchange(fetching_.came, false)) return fetch(out);
  const auto first = choices_.lower_bound(fetching_.known_upto);
  if (first == choices_.end()) return;
  if (const Peer* voter = p_.peers.find(first->second.voter); voter && voter->suspected) {
    PEAL_PROBE("paxos.voter_gone");
    return step_down();
  }
  fetching_.asked_upto = fetching_.awaited = 0;
  fetch(out);
}

void Coordinator::on_fetched(const wire::Fetched& frame, const BufferRef& bytes) {
  if (phase_ != Phase::recover) return;
  const auto choice = choices_.find(frame.instance);
  const Round chosen = choice == choices_.end() ? Round{} : choice->second.round;
  if (frame.round != chosen) return;  // no vote is of round 0
  if (!recovered_.emplace(frame.instance, Value{frame.head, bytes}).second) return;
  fetching_.came = true;
  if (fetching_.awaited > 0) --fetching_.awaited;
}

void Coordinator::work(Instant now, Effects& out) {
  now_ = now;
  switch (phase_) {
    case Phase::idle: return;
    case Phase::prepare: answer_self(now, out); return;
    case Phase::recover: {
      if (!knows_choices()) return fetch(out);
      // What is below the base is learned from those who consumed it.
      if (p_.state.next() >= base_) begin_to_lead(now, out);
      return;
    }
    case Phase::lead: break;
  }
  if (!forget_consumed()) return;
  ask_for_gaps(out);
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
  forget_waiting();
  p_.acceptor->accept(round_, next_);
  const Instance end = choices_.empty() ? next_ : choices_.rbegin()->first + 1;
  while (next_ < end && tip_.governs(round_)) {
    const auto found = recovered_.find(next_);
    if (found != recovered_.end() && !PEAL_MUTANT(px_recovered_dropped)) {
      propose(found->second, false, out);
    } else {
      propose({{wire::ValueKind::nothing, Service::agreed, 0, p_.config.self, 0}, {}}, false, out);
    }
  }
  choices_.clear();
  recovered_.clear();
  promises_.clear();
}

void Coordinator::tick(Instant now, Effects& out) {
  const Options& options = p_.config.options;
  now_ = now;
  if (phase_ == Phase::idle) return;
  if (phase_ == Phase::lead) {
    headway_.tick(p_.state.next(), somebody_asked());
    look_for_gaps();
    resend(now, out);
    return;
  }
  // Promises wait for disks, however slow they are: a new round would only wait anew.
  const bool waits_for_disks = phase_ == Phase::prepare && !PEAL_MUTANT(px_rounds_overtake) &&
                               p_.peers.live_acceptors() >= p_.peers.majority();
  if (now - since_ >= options.suspect * kPatience && !waits_for_disks) {
    step_down();  // whoever was to answer is gone: a new round will ask others
    return;
  }
  if (phase_ == Phase::prepare) {
    p_.acceptor->prepare(round_);
    send_prepare(out);
  }
  if (phase_ == Phase::recover) fetch_again(out);
}

void Coordinator::add_to(Digest& digest) const {
  digest.add(static_cast<std::uint64_t>(phase_));
  if (phase_ == Phase::idle) return;
  paxos::add_to(digest, round_);
  digest.add(from_);
  digest.add(promises_.size());
  for (const auto& [node, promise] : promises_) {
    digest.add(node.value);
    digest.add(promise.next);
    digest.add(promise.runs.size());
    for (const wire::VoteRun& run : promise.runs) {
      digest.add(run.first);
      digest.add(run.length);
      paxos::add_to(digest, run.round);
    }
  }
  digest.add(base_);
  digest.add(choices_.size());
  for (const auto& [instance, choice] : choices_) {
    digest.add(instance);
    paxos::add_to(digest, choice.round);
    digest.add(choice.voter.value);
  }
  digest.add(fetching_.asked_upto);
  digest.add(fetching_.awaited);
  digest.add(fetching_.came ? 1 : 0);
  for (const auto& [instance, value] : recovered_) {
    digest.add(instance);
    paxos::add_to(digest, value);
  }
  add_flight(digest);
}

void Coordinator::check_invariants() const {
  if (phase_ != Phase::lead) return;
  PEAL_ASSERT(next_ >= flight_first_ && next_ - flight_first_ == flight_.size());
  PEAL_ASSERT(tip_.next() == next_);
  PEAL_ASSERT(waiting_.size() == tip_.members().size());
}

}  // namespace peal::order::paxos
