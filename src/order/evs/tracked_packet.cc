// SPDX-License-Identifier: Apache-2.0
#include "order/evs/tracked_packet.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/evs/vocabulary.h"

namespace peal::order::evs {
namespace {

// Score of retransmissions to one successor, in units of 1 / kScale. Each new packet reduces the
// score by a sixteenth, and adds the retransmissions of the previous packet, at most four. If
// packets need r retransmissions on average, the score approaches 16 r. With r = 0.1 the score
// stays near 1.6; the link is suspected from a score of 3.
constexpr std::uint32_t kScale = 16;
constexpr std::uint32_t kResentMax = 4;
constexpr std::uint32_t kSuspicion = 3 * kScale;
constexpr Duration kSuspectGap = seconds(2);

}  // namespace

void TrackedPacket::send(Instant now, const MemberId& to, const BufferRef& packet, Duration extra,
                         Effects& out) {
  PEAL_ASSERT(packet && to != p_.self);
  to_ = to;
  packet_ = packet;
  p_.timers.arm(Timer::resend, now + p_.settings.resend + extra);
  out.send(to.node, Lane::token, packet);
}

void TrackedPacket::end_extra(Instant now) {
  const auto due = p_.timers.at(Timer::resend);
  const Instant usual = now + p_.settings.resend;
  if (due && *due > usual) p_.timers.arm(Timer::resend, usual);
}

void TrackedPacket::resend_overdue(Instant now, Effects& out) {
  const auto due = p_.timers.at(Timer::resend);
  if (due && *due > now + p_.settings.resend) on_timer(now, out);
}

void TrackedPacket::on_timer(Instant now, Effects& out) {
  PEAL_ASSERT(packet_);
  if (PEAL_MUTANT(token_retx_never)) return;
  ++p_.tally.resent;
  ++resent_;
  out.report({&event::token_retransmitted, p_.place.view, to_, 0, 0});
  p_.timers.arm(Timer::resend, now + p_.settings.resend);
  out.send(to_.node, Lane::token, packet_);
}

void TrackedPacket::forget() {
  p_.timers.cancel(Timer::resend);
  packet_.reset();
}

bool TrackedPacket::is_suspect(Instant now, const MemberId& to, bool testing) {
  if (to != to_) {
    resent_score_ = resent_ = 0;
    return false;
  }
  resent_score_ += std::min(resent_, kResentMax) * kScale - resent_score_ / kScale;
  resent_ = 0;
  if (resent_score_ < kSuspicion || now < suspect_again_ || testing) return false;
  if (PEAL_MUTANT(resends_not_counted)) return false;
  PEAL_PROBE("membership.successor_suspected");
  suspect_again_ = now + kSuspectGap;
  return true;
}

void TrackedPacket::check_invariants() const {
  PEAL_ASSERT(packet_ || !p_.timers.armed(Timer::resend));
  PEAL_ASSERT(resent_score_ <= kScale * kScale * kResentMax);
}

}  // namespace peal::order::evs
