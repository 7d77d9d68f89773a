// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/checkpointer.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/paxos/ensemble.h"

namespace peal::order::paxos {
namespace {

bool same_value(const Value& a, const Value& b) {
  const ByteView left = a.bytes.view();
  const ByteView right = b.bytes.view();
  if (a.head != b.head || left.size() != right.size()) return false;
  // Usually both values are in the same buffer, which saves the comparison of bytes.
  return left.data() == right.data() || left.empty() ||
         std::memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace

void Checkpointer::start() {
  if (p_.state.known()) logged_list_ = p_.state.nodes().number;
  begin();
}

void Checkpointer::begin_history() {
  PEAL_ASSERT(noted_from_ <= p_.state.next() && "the order never goes back");
  noted_from_ = p_.state.next();
}

void Checkpointer::begin_list() { logged_list_ = kNotLogged; }

bool Checkpointer::note(const Slot& slot) {
  const Instance instance = p_.state.next();
  PEAL_ASSERT(slot.decided && at_ <= instance);
  // At this distance from the last checkpoint, a restart could not read the record back.
  if (instance - std::min(instance, p_.acceptor->base()) >= p_.store.ahead_max()) {
    wanted_ = true;
    return false;
  }
  const bool any_vote = slot.vote_round.count != 0;
  const bool voted =
      any_vote && (same_value(slot.vote, slot.heard) || PEAL_MUTANT(px_decided_not_noted));
  if (any_vote && !voted) PEAL_PROBE("paxos.other_than_voted");
  if (!voted && !p_.acceptor->note_decided(instance, slot.heard.head, slot.heard.bytes.view())) {
    return false;
  }
  if (instance + 1 >= at_ + p_.config.options.checkpoint_every) wanted_ = true;
  return true;
}

bool Checkpointer::write() {
  if (!wanted_) return false;
  PEAL_ASSERT(p_.acceptor != nullptr);
  const bool waits = waits_for_retained();
  // The wait is limited, because consumption must not wait for a disk that hangs. While the disk
  // hangs, the checkpoint does not become durable either.
  const Instance most = p_.config.options.max_gap + p_.config.options.checkpoint_every;
  if (waits && p_.state.next() < p_.acceptor->base() + most) {
    PEAL_PROBE("paxos.checkpoint_waits_for_owed");
    return false;
  }
  if (waits) PEAL_PROBE("paxos.checkpoint_overtakes_owed");
  if (!p_.acceptor->checkpoint(p_.state, oldest_needed(), p_.kept)) return false;
  PEAL_ASSERT(p_.state.next() >= at_ && "checkpoints never go back");
  wanted_ = false;
  at_ = p_.state.next();
  logged_list_ = p_.state.nodes().number;
  return true;
}

// If a view excluded members, this node retains the values that these members may lack. A restart
// from a checkpoint after that view would not retain these values again, and the acceptor's log may
// have dropped them. So the retained values must be on disk before the checkpoint is written.
bool Checkpointer::waits_for_retained() const {
  // With several ensembles, the values that excluded members may lack are known only once the
  // merged order has reached the view that excluded the members.
  const bool ahead = p_.config.merger != nullptr && p_.config.merger->exclusions_ahead();
  const bool unmerged = ahead && !PEAL_MUTANT(px_owed_not_kept) && !PEAL_MUTANT(px_owed_unmerged);
  return !history_.durable() || unmerged;
}

/// The log needs no records of instances below the result.
Instance Checkpointer::oldest_needed() const {
  const Instance next = p_.state.next();
  Instance oldest = std::max(p_.store.oldest(), noted_from_);
  // Several ensembles share the log. An ensemble that orders hardly anything has a small history
  // that begins long ago. To keep all of this history, the log would also have to keep everything
  // that the other ensembles have ordered in that time.
  const Instance kept =
      std::max<Instance>(512, gap_max(p_.config.options) + p_.config.options.window);
  if (p_.config.merger != nullptr && next > kept) oldest = std::max(oldest, next - kept);
  PEAL_ASSERT(oldest <= next && "only what is consumed is trimmed");
  return oldest;
}

void Checkpointer::check_invariants() const {
  PEAL_ASSERT(at_ <= p_.state.next());
  PEAL_ASSERT(noted_from_ <= p_.state.next());
  PEAL_ASSERT(!wanted_ || p_.acceptor != nullptr);
  PEAL_ASSERT(logged_list_ <= p_.state.nodes().number || logged_list_ == kNotLogged);
}

void Checkpointer::add_to(Digest& digest) const {
  digest.add(wanted_ ? 1 : 0);
  digest.add(at_);
  digest.add(logged_list_);
}

}  // namespace peal::order::paxos
