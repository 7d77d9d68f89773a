// SPDX-License-Identifier: Apache-2.0
#include "order/ring/token_rest.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/ring/timers.h"

namespace peal::order::ring {

void TokenRest::on_visit() {
  holding_ = pacing_ = false;
  p_.timers.cancel(kHoldCancelTimer);
  p_.timers.cancel(kHoldTimer);
  p_.timers.cancel(kPaceTimer);
}

bool TokenRest::rests(Instant now, bool quiet, bool idle, Instant sent_at) {
  PEAL_ASSERT(!holding_ && !pacing_);
  quiet_ = quiet;
  idle_rounds_ = idle ? idle_rounds_ + 1 : 0;
  if (p_.membership.index() != 0 || !is_long_idle()) {
    rests_ = 0;
    return false;
  }
  // If the last rotation was slow, the token was lost and retransmitted. Retransmissions and a long
  // rest share the time until the token timeout. So begin with a short rest again.
  if (now - sent_at > p_.options.token_retransmit) rests_ = 0;
  holding_ = true;
  ++p_.counts.held;
  flow_.spoil();
  const Duration grown = p_.options.hold * (std::int64_t{1} << std::min(rests_++, 10U));
  p_.timers.arm(kHoldTimer, now + std::min(grown, rest_max(p_.options)));
  return true;
}

void TokenRest::pace(Instant now, Duration pace) {
  PEAL_ASSERT(!holding_);
  PEAL_PROBE("ring.requests_paced");
  pacing_ = true;
  p_.timers.arm(kPaceTimer, now + pace);
}

bool TokenRest::end_hold() {
  if (!holding_ || PEAL_MUTANT(hold_forever)) return false;
  holding_ = false;
  return true;
}

bool TokenRest::end_pace() {
  if (!pacing_) return false;
  pacing_ = false;
  return true;
}

bool TokenRest::release() {
  if (!holding_) return false;
  holding_ = false;
  p_.timers.cancel(kHoldTimer);
  idle_rounds_ = rests_ = 0;
  return true;
}

bool TokenRest::on_hold_cancel() {
  idle_rounds_ = 0;
  return release();
}

void TokenRest::on_work(Instant now, Effects& out) {
  if (quiet_ && !p_.timers.armed(kHoldCancelTimer)) request(now, out);
}

void TokenRest::request(Instant now, Effects& out) {
  const bool wanted = p_.membership.state() == evs::State::operational && !p_.alone() && quiet_ &&
                      (flow_.wants_token() || list_.wanted());
  if (!wanted || p_.membership.index() == 0) return;
  const wire::HoldCancel cancel{p_.membership.view()};
  const BufferRef packet =
      p_.membership.frames().build(wire::FrameKind::hold_cancel, cancel, wire::encode_hold_cancel);
  if (!packet) return;
  p_.timers.arm(kHoldCancelTimer, now + p_.options.token_retransmit / 2);
  p_.membership.tracked().end_extra(now);
  out.send(p_.membership.members().front().node, Lane::token, packet);
}

bool TokenRest::is_long_idle() const { return idle_rounds_ >= p_.options.idle_rounds; }

bool TokenRest::is_expected() const { return p_.membership.index() != 0 && is_long_idle(); }

void TokenRest::begin_view() {
  PEAL_ASSERT(!holding_ && !pacing_);
  quiet_ = false;
  idle_rounds_ = rests_ = 0;
}

void TokenRest::check_invariants() const {
  PEAL_ASSERT(!(holding_ && pacing_));
  PEAL_ASSERT(!(holding_ || pacing_) || p_.membership.state() == evs::State::operational);
  PEAL_ASSERT(!holding_ || p_.timers.armed(kHoldTimer) || PEAL_MUTANT(hold_forever));
  PEAL_ASSERT(!pacing_ || p_.timers.armed(kPaceTimer));
}

}  // namespace peal::order::ring
