// SPDX-License-Identifier: Apache-2.0
#include "order/ring/recovery.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/ring/timers.h"
#include "order/ring/vocabulary.h"

namespace peal::order::ring {

Recovery::Recovery(const Parts& parts, ViewPackets& view, Seq first)
    : p_(parts),
      view_(view),
      first_(first),
      obligation_({parts.membership.self()}),
      guard_(parts.membership, {.timer = kRecoveryGuardTimer,
                                .longest = parts.options.recovery_guard,
                                .stall = parts.options.stall,
                                .reason = &gather::guard}) {}

void Recovery::abandon() {
  if (active_ && PEAL_MUTANT(m8_recovered_forgotten)) view_.forget_repaired();
  if (PEAL_MUTANT(m1_obligation_forgotten)) obligation_ = {p_.membership.self()};
  active_ = false;
}

// ---- the record of the old view ----

void Recovery::freeze(std::vector<std::byte>& bytes) {
  PEAL_ASSERT(!active_);
  OldViewRecord record = bytes.empty() ? OldViewRecord{} : decode_record(bytes);
  const Seq aru = view_.stored().contiguous();
  const Seq base = std::max(record.base, aru);
  const Seq high = std::max({record.high, view_.stored().high(), base});
  std::vector<std::uint64_t> have((high - base + 63) / 64, 0);
  for (Seq seq = base + 1; seq <= high; ++seq) {
    bool mine = view_.stored().has(seq);
    if (PEAL_MUTANT(skip_own_in_recovery) && mine &&
        view_.stored().at(seq).data.origin == p_.membership.self()) {
      mine = false;
    }
    if (PEAL_MUTANT(union_without_have)) mine = false;
    const bool theirs = record.bit(seq - record.base - 1);
    if (mine || theirs) have[(seq - base - 1) / 64] |= std::uint64_t{1} << ((seq - base - 1) % 64);
  }
  record.base = base;
  record.high = high;
  record.have = std::move(have);
  record.safe = std::max(record.safe, view_.safe_line());
  record.obligation = set_union(record.obligation, obligation_);
  bytes = encode(record);
}

bool Recovery::accepts(ByteView bytes) const {
  const OldViewRecord record = decode_record(bytes);
  // The record must still contain all that this member merged into it. Others may have added more.
  if (record.base < view_.stored().contiguous() || record.high < view_.stored().high() ||
      record.safe < view_.safe_line() ||
      record.high - view_.stored().discarded() > view_.stored().capacity()) {
    return PEAL_MUTANT(m5_accept_in_commit);
  }
  return is_subset(obligation_, record.obligation) || PEAL_MUTANT(m1_obligation_forgotten);
}

void Recovery::begin(Instant now, const evs::Agreement& agreement, Effects& out) {
  PEAL_ASSERT(!active_);
  active_ = true;
  agreement_ = agreement;
  old_ = decode_record(agreement.old_view.record);
  const MemberSet& survivors = agreement.old_view.survivors;
  PEAL_ASSERT(contains(survivors, p_.membership.self()));
  bound_ = set_union(old_.obligation, survivors);
  if (PEAL_MUTANT(m2_gap_delivers_only_trans)) bound_ = survivors;
  last_hop_ = first_;
  guard_.begin(now);
  check();
  out.report({&event::recovery_started, agreement.view, {}, missing_, 0});
}

// ---- what is missing ----

/// True if at least one survivor of this member's old view had the packet when that survivor froze
/// its record.
bool Recovery::in_union(Seq seq) const {
  const OldViewRecord& old = old_;
  if (PEAL_MUTANT(union_off_by_one)) {
    return seq <= old.base || (seq <= old.high && old.bit(seq - old.base));
  }
  return old.holds(seq);
}

// The record is at most as long as the store (accepts()), so the number is small.
std::uint32_t Recovery::missing_count() const {
  std::uint32_t missing = 0;
  for (Seq seq = view_.stored().contiguous() + 1; seq <= old_.high; ++seq) {
    if ((in_union(seq) || PEAL_MUTANT(waits_for_lost)) && !view_.stored().has(seq)) ++missing;
  }
  return missing;
}

void Recovery::check() {
  missing_ = missing_count();
  // After this member's report that it is complete, other members may deliver packets of bound_
  // members behind a gap. So before the report, this member takes over the obligation to deliver
  // these packets too. The obligation remains if this attempt fails.
  if (done() && !PEAL_MUTANT(m1_obligation_forgotten)) {
    obligation_ = set_union(obligation_, bound_);
  }
}

// ---- the token ----

void Recovery::on_visit(Instant now) {
  PEAL_ASSERT(active_ && p_.membership.state() == evs::State::recovery);
  last_hop_ = p_.token.hop;
  guard_.note_round(now, missing_, p_.token.backlog);
}

bool Recovery::mark_token() {
  const auto n = static_cast<std::uint16_t>(agreement_.members.size());
  if (done()) {
    p_.token.recovery_run = static_cast<std::uint16_t>(std::min(p_.token.recovery_run + 1, 4 * n));
  } else {
    if (!PEAL_MUTANT(incomplete_run_kept)) p_.token.recovery_run = 0;
    guard_.note_incomplete(p_.token.recovery_block, agreement_.index);
    p_.token.recovery_block = agreement_.index;
  }
  const std::uint16_t enough =
      PEAL_MUTANT(m3_install_one_short) && n > 1 ? static_cast<std::uint16_t>(n - 1) : n;
  return p_.token.recovery_run >= enough && (done() || PEAL_MUTANT(m3_install_one_short));
}

void Recovery::on_guard(Instant now, Effects& out) {
  if (!active_ || PEAL_MUTANT(guard_never)) return;
  ++p_.counts.guards;
  PEAL_PROBE("recovery.guard");
  const MemberId blocker = named_blocker();
  out.report({&event::recovery_guard, agreement_.view, blocker, guard_.rounds(), 0});
  guard_.on_timer(now, agreement_, blocker, out);
}

/// The last incomplete member that a token of this attempt named; this member if there is none, or
/// if the last token is not of this attempt.
MemberId Recovery::named_blocker() const {
  const MemberSet& members = agreement_.members;
  const std::uint16_t index = p_.token.recovery_block;
  const bool named = p_.token.view == agreement_.view && index < members.size();
  return named ? members[index] : p_.membership.self();
}

// ---- installation ----

void Recovery::finish_old_view(Effects& out) {
  PEAL_ASSERT(active_ && (done() || PEAL_MUTANT(m3_install_one_short)));
  const evs::Agreement& agreement = agreement_;
  const OldViewRecord& old = old_;
  const MemberSet& survivors = agreement.old_view.survivors;
  Seq seq = view_.delivered() + 1;

  const auto held = [this](Seq position) {
    const bool possession =
        PEAL_MUTANT(m5_accept_in_commit) || PEAL_MUTANT(m6_accept_outside_union);
    return view_.stored().has(position) && (in_union(position) || possession);
  };

  // Zone 1, in the old regular view: the packets before the first gap, and before the first safe
  // packet that no survivor knows to be stable. Both limits come from the merged record of all
  // survivors, not only from this member's state.
  const Seq safe = PEAL_MUTANT(m7_zone1_own_safe_line) ? view_.safe_line() : old.safe;
  for (; seq <= old.high; ++seq) {
    if (!held(seq)) break;
    if (is_safe(view_.stored().at(seq).data.service) && seq > safe) break;
    view_.deliver(view_.stored().at(seq), false, out);
  }
  // Zone 2: the transitional view. From here on, the guarantees hold among the survivors only.
  if (p_.membership.place().announced() && !PEAL_MUTANT(transitional_omitted)) {
    View view;
    view.transitional = true;
    view.id = agreement.view;
    view.old = p_.membership.view();
    view.members = PEAL_MUTANT(transitional_of_all) ? p_.membership.members() : survivors;
    view.primary = p_.membership.lists().primary_of(survivors);
    out.install(view);
  }
  // Zone 3: the remaining packets, in the transitional view. Behind a gap, deliver only packets of
  // bound members (bound_). Such a member certainly has all packets on which its own packets
  // depend.
  bool gap = false;
  for (; seq <= old.high; ++seq) {
    if (!held(seq)) {
      gap = true;
      continue;
    }
    const Packet& packet = view_.stored().at(seq);
    if (!gap || contains(bound_, packet.data.origin) || PEAL_MUTANT(m10_gap_delivers_all)) {
      view_.deliver(packet, true, out);
    }
  }
}

void Recovery::end() {
  PEAL_ASSERT(active_);
  active_ = false;
  guard_.end();
}

void Recovery::begin_view() {
  PEAL_ASSERT(!active_);
  if (!PEAL_MUTANT(obligation_kept)) obligation_ = {p_.membership.self()};
}

void Recovery::add_to(Digest& digest) const {
  digest.add(last_hop_);
  for (const MemberId& member : obligation_) digest.add(member.epoch);
}

void Recovery::check_invariants() const {
  PEAL_ASSERT(contains(obligation_, p_.membership.self()) || p_.membership.view().number == 0);
  if (p_.membership.left()) return;
  PEAL_ASSERT(active_ == (p_.membership.state() == evs::State::recovery));
  if (!active_) return;
  PEAL_ASSERT(agreement_.members[agreement_.index] == p_.membership.self());
  PEAL_ASSERT(p_.timers.armed(kRecoveryGuardTimer) || PEAL_MUTANT(guard_never));
  if (done() && !PEAL_MUTANT(m1_obligation_forgotten)) PEAL_ASSERT(is_subset(bound_, obligation_));
}

}  // namespace peal::order::ring
