// SPDX-License-Identifier: Apache-2.0
#include "order/evs/gathering.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::evs {

void Gathering::start_from(std::span<const MemberId> members) {
  processes_.assign(members.begin(), members.end());
  failed_.clear();
  drop_strangers();
}

void Gathering::drop_strangers() {
  const auto stranger = [this](const MemberId& each) { return !is_configured(each.node); };
  std::erase_if(processes_, stranger);
  std::erase_if(failed_, stranger);
}

void Gathering::begin(Instant now) {
  PEAL_ASSERT(contains(processes_, self_) && !contains(failed_, self_));
  if (!under_way_) since_ = now;
  under_way_ = true;
  consensus_ = {self_};
  agreed_ = false;
}

Gathering::Heard Gathering::merge(const MemberId& from, const wire::Join& join) {
  if (join.processes == processes_ &&
      (join.failed == failed_ || PEAL_MUTANT(gather_failed_not_compared))) {
    insert(consensus_, from);
    return Heard::same;
  }
  erase(consensus_, from);
  const bool accuses = !is_subset(join.failed, failed_) && !PEAL_MUTANT(gather_accusations_skipped);
  if (is_subset(join.processes, processes_) && !accuses) {
    PEAL_PROBE("membership.join_of_less");
    return Heard::nothing;
  }
  if (contains(failed_, from)) {  // a JOIN of an accused member changes no set
    PEAL_PROBE("membership.join_of_accused");
    return Heard::nothing;
  }
  MemberSet processes = set_union(processes_, join.processes);
  insert(processes, from);
  MemberSet failed = failed_;
  if (contains(join.failed, self_) && !PEAL_MUTANT(gather_accuser_trusted)) {
    // The sender accuses this member. So this member accuses the sender, and the two form separate
    // views. Otherwise their sets would never become equal.
    PEAL_PROBE("membership.accuser_accused");
    insert(failed, from);
  } else {
    failed = set_union(failed, join.failed);
  }
  for (const MemberId& member : processes) {
    if (!peers_.is_superseded(member) || PEAL_MUTANT(gather_old_lives_stay)) continue;
    PEAL_PROBE("membership.old_life_failed");
    insert(failed, member);
  }
  erase(failed, self_);
  if (processes.size() > wire::kProcessesMax) {
    // A JOIN cannot name so many incarnations. So start again with the sender and this member.
    PEAL_PROBE("membership.sets_overflow");
    processes = {self_, from};
    std::sort(processes.begin(), processes.end());
    failed.clear();
  } else if (processes == processes_ && failed == failed_) {
    PEAL_PROBE("membership.join_says_nothing");
    return Heard::nothing;  // if such JOINs restarted the timers, the gathering might never end
  }
  processes_ = std::move(processes);
  failed_ = std::move(failed);
  return Heard::grew;
}

bool Gathering::note_agreement(const MemberId& from, const wire::Join& join) {
  if (join.processes != processes_ || join.failed != failed_) return false;
  if (PEAL_MUTANT(gather_growth_unheard)) return false;
  insert(consensus_, from);
  return true;
}

bool Gathering::agree(bool from_timer) {
  const MemberSet all = candidates();
  if (!is_subset(all, consensus_)) return false;
  if (all.size() == 1 && !from_timer && !PEAL_MUTANT(gather_one_agrees)) return false;
  agreed_ = true;
  return true;
}

void Gathering::admit(const MemberId& member) {
  PEAL_ASSERT(!full());
  insert(processes_, member);
}

void Gathering::accuse(const MemberId& member) {
  PEAL_ASSERT(member != self_);
  insert(processes_, member);
  insert(failed_, member);
}

bool Gathering::hears_enough(const MemberSet& members, std::uint32_t index) const {
  const bool silent = std::any_of(members.begin(), members.end(), [this](const MemberId& member) {
    return member != self_ && peers_.is_silent(member);
  });
  if (silent && !PEAL_MUTANT(tt_silent_again)) return false;
  return std::all_of(members.begin() + index + 1, members.end(),
                     [this](const MemberId& member) { return contains(consensus_, member); });
}

void Gathering::add_sets_to(Digest& digest) const {
  for (const MemberSet* set : {&processes_, &failed_, &consensus_}) {
    digest.add(set->size());
    for (const MemberId& member : *set) {
      digest.add(member.node.value);
      digest.add(member.epoch);
    }
  }
}

void Gathering::check_invariants() const {
  PEAL_ASSERT(contains(processes_, self_) && !contains(failed_, self_));
  PEAL_ASSERT(is_subset(failed_, processes_));
  PEAL_ASSERT(!candidates().empty());
  PEAL_ASSERT(processes_.size() <= wire::kProcessesMax);
  // consensus_ is empty until this member first gathers.
  PEAL_ASSERT(consensus_.empty() || contains(consensus_, self_));
}

}  // namespace peal::order::evs
