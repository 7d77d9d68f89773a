// SPDX-License-Identifier: Apache-2.0
#include "order/ring/stall_watch.h"

#include "base/hooks.h"
#include "order/evs/recovery_guard.h"

namespace peal::order::ring {

void StallWatch::on_token(Instant now) {
  const bool blocked = p_.token.aru == aru_ && p_.token.aru_index == index_ &&
                       p_.token.aru_index != wire::kNoIndex &&
                       p_.token.aru_index != p_.membership.index();
  aru_ = p_.token.aru;
  index_ = p_.token.aru < p_.token.seq ? p_.token.aru_index : wire::kNoIndex;
  if (!blocked) {
    rounds_ = 0;
    since_ = now;
    return;
  }
  if (++rounds_ < evs::kStallRounds || now - since_ < p_.options.stall) return;
  if (p_.token.aru_index >= p_.membership.members().size() || p_.membership.is_trying()) return;
  const MemberSet& members = p_.membership.members();
  const MemberId blocker = members[p_.token.aru_index];
  if (packets_.received(p_.token.aru + 1) || PEAL_MUTANT(stall_without_trial)) {
    ++p_.counts.stalls;
    PEAL_PROBE("ring.stall_excludes");
    p_.membership.suspect(now, blocker, true);
    return;
  }
  const MemberId& other = members[(p_.membership.index() + 1U + suspects_++) % members.size()];
  if (other != blocker) p_.membership.suspect(now, other, false);
}

void StallWatch::begin_view() {
  aru_ = first_;
  index_ = wire::kNoIndex;
  rounds_ = suspects_ = 0;
}

}  // namespace peal::order::ring
