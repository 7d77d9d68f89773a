// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/phase1.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// Maximum number of voted values that a new coordinator awaits at a time. It requests more values
/// as answers arrive.
constexpr std::uint32_t kFetchesAtOnce = 64;

}  // namespace

wire::Promise promise_of(const Round& round, const Store& store, const OrderState& state) {
  wire::Promise promise;
  promise.round = round;
  // Decided instances that wait for a slow application need no votes any more. Votes for undecided
  // ones form few runs: the votes of one round are for consecutive instances, and a vote of a later
  // round replaces the earlier vote.
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

void Phase1::begin() {
  clear();
  from_ = std::max<Instance>(p_.state.next(), 1);
}

void Phase1::clear() {
  finish();
  fetching_ = {};
}

void Phase1::finish() {
  promises_.clear();
  choices_.clear();
  values_.clear();
}

void Phase1::ask(const Round& round, Effects& out) {
  p_.outbox.multicast(Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_prepare(header, {round.count, from_}, bytes);
  });
}

bool Phase1::note(NodeId from, const wire::Promise& promise) {
  promises_.emplace(from, promise);
  const std::size_t majority = p_.peers.majority();
  const std::size_t enough =
      PEAL_MUTANT(px_promises_one_short) ? std::max<std::size_t>(majority, 2) - 1 : majority;
  return promises_.size() >= enough;
}

// For every instance, chooses the vote of the highest round: if the instance is decided, that vote
// is for the decided value.
void Phase1::choose() {
  PEAL_ASSERT(choices_.empty() && values_.empty());
  base_ = from_;
  for (const auto& [node, promise] : promises_) base_ = std::max(base_, promise.next);
  for (const auto& [node, promise] : promises_) {
    for (const wire::VoteRun& run : promise.runs) {
      const Instance end = run.first + run.length;
      // No acceptor votes for instance `most` or above: they are too far ahead of its decided
      // instances.
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

bool Phase1::take_known(Instance instance, const Choice& choice) {
  if (values_.count(instance) != 0) return true;
  const Slot* slot = p_.store.find(instance);
  if (slot == nullptr) return false;
  if (slot->vote_round == choice.round) {
    values_[instance] = slot->vote;
  } else if (slot->heard_round == choice.round || slot->decided) {
    values_[instance] = slot->heard;
  } else {
    return false;
  }
  return true;
}

// Advances to the first chosen value that is not here. True: all chosen values are here.
bool Phase1::knows_values() {
  for (auto it = choices_.lower_bound(fetching_.known_upto); it != choices_.end(); ++it) {
    fetching_.known_upto = it->first;
    if (it->first >= p_.state.next() && !take_known(it->first, it->second)) return false;
  }
  return true;
}

void Phase1::fetch(Effects& out) {
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

// Requests the missing values again if none arrived since the last heartbeat: a request was lost.
// False: the node that has the next value is gone.
bool Phase1::fetch_again(Effects& out) {
  if (std::exchange(fetching_.came, false)) {
    fetch(out);
    return true;
  }
  const auto first = choices_.lower_bound(fetching_.known_upto);
  if (first == choices_.end()) return true;
  if (const Peer* voter = p_.peers.find(first->second.voter); voter && voter->suspected) {
    PEAL_PROBE("paxos.voter_gone");
    return false;
  }
  fetching_.asked_upto = fetching_.awaited = 0;
  fetch(out);
  return true;
}

void Phase1::on_fetched(const wire::Fetched& frame, const BufferRef& bytes) {
  const auto choice = choices_.find(frame.instance);
  const Round chosen = choice == choices_.end() ? Round{} : choice->second.round;
  if (frame.round != chosen) return;  // also if nothing is chosen: no vote has round 0
  if (!values_.emplace(frame.instance, Value{frame.head, bytes}).second) return;
  fetching_.came = true;
  if (fetching_.awaited > 0) --fetching_.awaited;
}

const Value* Phase1::chosen(Instance instance) const {
  const auto found = values_.find(instance);
  return found == values_.end() ? nullptr : &found->second;
}

void Phase1::check_invariants() const {
  PEAL_ASSERT(values_.size() <= choices_.size() && "only what was chosen is proposed again");
  PEAL_ASSERT(choices_.empty() || choices_.begin()->first >= base_);
  PEAL_ASSERT(choices_.empty() || base_ >= from_);
}

void Phase1::add_to(Digest& digest) const {
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
  for (const auto& [instance, value] : values_) {
    digest.add(instance);
    paxos::add_to(digest, value);
  }
}

}  // namespace peal::order::paxos
