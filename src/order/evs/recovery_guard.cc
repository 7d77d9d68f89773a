// SPDX-License-Identifier: Apache-2.0
#include "order/evs/recovery_guard.h"

#include <algorithm>
#include <utility>

#include "base/hooks.h"

namespace peal::order::evs {
namespace {

constexpr std::uint32_t kMissingMax = 1U << 28;

}  // namespace

void RecoveryGuard::begin(Instant now) {
  said_ = missing_ = 0;
  rounds_ = 0;
  since_ = now;
  gave_time_ = false;
  other_.reset();
  membership_.timers().arm(limits_.timer, now + limits_.longest);
}

void RecoveryGuard::note_round(Instant now, std::uint32_t missing, std::uint32_t& together) {
  together -= std::min(together, said_);
  said_ = std::min(missing, kMissingMax);
  together = std::min(together, kMissingMax) + said_;
  ++rounds_;
  if (together == missing_) return;
  missing_ = together;
  rounds_ = 0;
  since_ = now;
}

void RecoveryGuard::note_incomplete(std::uint16_t block, std::uint16_t self) {
  other_.reset();
  if (block != self) other_ = block;
}

bool RecoveryGuard::is_overdue(Instant now) const {
  return rounds_ > kStallRounds && now - since_ >= limits_.stall;
}

void RecoveryGuard::on_timer(Instant now, const Agreement& agreement, const MemberId& blocker,
                             Effects& out) {
  const MemberId self = membership_.self();
  if (blocker != self) return membership_.accuse(now, blocker, limits_.reason, out);
  // Complete members accuse this member. If this member gave up first, accusing nobody, the same
  // members would form the same view and wait for the same packet, again and again.
  if (!std::exchange(gave_time_, true)) {
    rounds_ = 0;
    since_ = now;
    membership_.timers().arm(limits_.timer, now + limits_.longest);
    return;
  }
  // No member has accused this one. If all members are incomplete, each accuses another, and they
  // form separate views.
  const bool known = other_ && *other_ < agreement.members.size();
  if (!known || PEAL_MUTANT(guard_one_sided)) {
    return membership_.regather(now, limits_.reason, {}, out);
  }
  membership_.accuse(now, agreement.members[*other_], limits_.reason, out);
}

}  // namespace peal::order::evs
