// SPDX-License-Identifier: Apache-2.0
// Repair of the old view on the new view's token, and installation. The commit token has fixed what
// the survivors hold together, so all of them deliver the same.

#include <algorithm>
#include <utility>

#include "base/hooks.h"
#include "order/ring/engine.h"

namespace peal::order::ring {
namespace {

using wire::kNoIndex;

constexpr std::uint64_t kGuardRounds = 500;

}  // namespace

// ---- evs::Protocol ----

void RingEngine::flush(Effects& /*out*/) {
  // A visit hands every packet to the transport before it ends, so no ordered packet is unsent
  // between two inputs.
}

void RingEngine::abandon() {
  if (repair_.active && PEAL_MUTANT(m8_recovered_forgotten)) {
    for (Seq seq = r_.delivered + 1; seq <= packets_.high(); ++seq) {
      if (packets_.has(seq) && packets_.at(seq).data.retransmission) packets_.forget(seq);
    }
  }
  if (PEAL_MUTANT(m1_obligation_forgotten)) obligation_ = {membership_.self()};
  holding_ = pacing_ = false;
  repair_.active = false;
}

void RingEngine::fold_options(wire::CommitOptions& options) const {
  // In the original ring every position that the token announces has been sent.
  const std::uint32_t lag =
      options_.accelerated_window == 0 ? 0 : std::max(options_.request_lag, 1U);
  const ViewOptions mine{options_.packet_bytes_max, lag, options_.max_gap};
  const ViewOptions theirs = options.empty() ? mine : decode_options(options);
  options = encode(ViewOptions{std::min(theirs.packet_bytes_max, mine.packet_bytes_max),
                               std::max(theirs.request_lag, mine.request_lag),
                               std::min(theirs.max_gap, mine.max_gap)});
}

void RingEngine::freeze(std::vector<std::byte>& bytes) {
  OldViewRecord record = bytes.empty() ? OldViewRecord{} : decode_record(bytes);
  const Seq aru = packets_.contiguous();
  const Seq base = std::max(record.base, aru);
  const Seq high = std::max({record.high, packets_.high(), base});
  std::vector<std::uint64_t> have((high - base + 63) / 64, 0);
  for (Seq seq = base + 1; seq <= high; ++seq) {
    bool mine = packets_.has(seq);
    if (PEAL_MUTANT(skip_own_in_recovery) && mine &&
        packets_.at(seq).data.origin == membership_.self()) {
      mine = false;
    }
    if (PEAL_MUTANT(union_without_have)) mine = false;
    const bool theirs = record.bit(seq - record.base - 1);
    if (mine || theirs) have[(seq - base - 1) / 64] |= std::uint64_t{1} << ((seq - base - 1) % 64);
  }
  record.base = base;
  record.high = high;
  record.have = std::move(have);
  record.safe = std::max(record.safe, r_.safe_line);
  record.obligation = set_union(record.obligation, obligation_);
  bytes = encode(record);
}

bool RingEngine::accepts(ByteView bytes) const {
  const OldViewRecord record = decode_record(bytes);
  // The record must still have all that this member wrote into it; others may have added more.
  if (record.base < packets_.contiguous() || record.high < packets_.high() ||
      record.safe < r_.safe_line || record.high - packets_.discarded() > packets_.capacity()) {
    return PEAL_MUTANT(m5_accept_in_commit);
  }
  return is_subset(obligation_, record.obligation) || PEAL_MUTANT(m1_obligation_forgotten);
}

void RingEngine::recover(Instant now, const evs::Agreement& agreement, Effects& out) {
  repair_.active = true;
  repair_.agreement = agreement;
  repair_.old = decode_record(agreement.old_view.record);
  const MemberSet& survivors = agreement.old_view.survivors;
  repair_.bound = set_union(repair_.old.obligation, survivors);
  if (PEAL_MUTANT(m2_gap_delivers_only_trans)) repair_.bound = survivors;
  repair_.last_hop = first_count_;
  repair_.rounds = 0;
  repair_.since = now;
  repair_.gave_time = false;
  repair_.other_incomplete.reset();
  timers_.arm(kRecoveryGuardTimer, now + options_.recovery_guard);
  recovery_check();
  out.report({&event::recovery_started, agreement.view, {}, missing_count(), 0});
}

void RingEngine::lead_recovery(Instant now, Effects& out) {
  // Once per attempt: the first token must not overtake one that has moved on.
  PEAL_ASSERT(repair_.last_hop == first_count_);
  token_ = first_token(repair_.agreement.view);
  ++token_.hop;
  visit_recovery(now, out);
}

/// The token before the first visit.
wire::Token RingEngine::first_token(const ViewId& view) const {
  wire::Token token;
  token.view = view;
  token.hop = token.seq = token.aru = first_count_;
  return token;
}

void RingEngine::install_alone(Instant now, Effects& out) {
  PEAL_ASSERT(repair_.active && repair_.done);
  install(now, out);
}

// ---- what is missing ----

/// True if at least one survivor of this member's old view held the packet when it froze.
bool RingEngine::in_union(Seq seq) const {
  const OldViewRecord& old = repair_.old;
  if (PEAL_MUTANT(union_off_by_one)) {
    return seq <= old.base || (seq <= old.high && old.bit(seq - old.base));
  }
  return old.holds(seq);
}

std::uint64_t RingEngine::missing_count() const {
  std::uint64_t missing = 0;
  for (Seq seq = packets_.contiguous() + 1; seq <= repair_.old.high; ++seq) {
    if ((in_union(seq) || PEAL_MUTANT(waits_for_lost)) && !packets_.has(seq)) ++missing;
  }
  return missing;
}

void RingEngine::recovery_check() {
  repair_.done = missing_count() == 0;
  // Before this member reports itself complete, it is bound to deliver what others may deliver
  // because of that report. It stays bound if this attempt fails.
  if (repair_.done && !PEAL_MUTANT(m1_obligation_forgotten)) {
    obligation_ = set_union(obligation_, repair_.bound);
  }
}

// ---- the visit ----

void RingEngine::visit_recovery(Instant now, Effects& out) {
  const auto n = static_cast<std::uint16_t>(repair_.agreement.members.size());
  repair_.last_hop = token_.hop;
  ++repair_.rounds;
  membership_.note_life(now);
  membership_.tracked().arrived();
  answer_in_recovery(out);
  request_missing();
  if (repair_.done) {
    token_.recovery_run = static_cast<std::uint16_t>(std::min(token_.recovery_run + 1, 4 * n));
  } else {
    if (!PEAL_MUTANT(incomplete_run_kept)) token_.recovery_run = 0;
    repair_.other_incomplete.reset();
    if (token_.recovery_block != repair_.agreement.index) {
      repair_.other_incomplete = token_.recovery_block;
    }
    token_.recovery_block = repair_.agreement.index;
  }
  const std::uint16_t enough =
      PEAL_MUTANT(m3_install_one_short) && n > 1 ? static_cast<std::uint16_t>(n - 1) : n;
  if (token_.recovery_run >= enough && (repair_.done || PEAL_MUTANT(m3_install_one_short))) {
    install(now, out);
    r_.last_hop = token_.hop;
  } else if (repair_.rounds > kGuardRounds && now - repair_.since >= options_.stall) {
    on_guard(now, out);
    if (membership_.state() != evs::State::recovery) return;
  }
  if (PEAL_MUTANT(m9_originate_on_install) && !repair_.active) {
    work_on_token(now, out);
    return;
  }
  send_token(now, out);
}

void RingEngine::on_guard(Instant now, Effects& out) {
  if (!repair_.active || PEAL_MUTANT(guard_never)) return;
  ++counts_.guards;
  PEAL_PROBE("recovery.guard");
  const MemberId blocker = incomplete_member(token_.recovery_block);
  out.report({&event::recovery_guard, repair_.agreement.view, blocker, repair_.rounds, 0});
  if (blocker != membership_.self()) {
    return membership_.accuse(now, blocker, &gather::guard, out);
  }
  // Members that miss nothing accuse this member. If it gave up first, accusing nobody, the same
  // members would form the same view and wait for the same packet, again and again.
  if (!std::exchange(repair_.gave_time, true)) {
    repair_.rounds = 0;
    repair_.since = now;
    timers_.arm(kRecoveryGuardTimer, now + options_.recovery_guard);
    return;
  }
  // Nobody has accused it. If all members miss packets, each accuses another one, and they part.
  const MemberId other = incomplete_member(repair_.other_incomplete);
  if (other == membership_.self() || PEAL_MUTANT(guard_one_sided)) {
    return membership_.regather(now, &gather::guard, {}, out);
  }
  membership_.accuse(now, other, &gather::guard, out);
}

/// The incomplete member that the recovery token names; this member if it names none.
MemberId RingEngine::incomplete_member(std::optional<std::uint16_t> index) const {
  const MemberSet& members = repair_.agreement.members;
  const bool said = token_.view == repair_.agreement.view && index && *index < members.size();
  return said ? members[*index] : membership_.self();
}

// ---- installation ----

/// Zones 1 to 3: delivers what the survivors hold of the old view, each part in its own view.
void RingEngine::finish_old_view(Effects& out) {
  const evs::Agreement& agreement = repair_.agreement;
  const OldViewRecord& old = repair_.old;
  const MemberSet& survivors = agreement.old_view.survivors;
  Seq seq = r_.delivered + 1;

  const auto held = [this](Seq position) {
    const bool possession =
        PEAL_MUTANT(m5_accept_in_commit) || PEAL_MUTANT(m6_accept_outside_union);
    return packets_.has(position) && (in_union(position) || possession);
  };

  // Zone 1 belongs to the old regular view: up to the first gap, or the first safe packet that no
  // survivor knows to be stable. The test uses the union, not what this member holds.
  const Seq safe = PEAL_MUTANT(m7_zone1_own_safe_line) ? r_.safe_line : old.safe;
  for (; seq <= old.high; ++seq) {
    if (!held(seq)) break;
    if (is_safe(packets_.at(seq).data.service) && seq > safe) break;
    deliver(packets_.at(seq), false, out);
  }
  // Zone 2: from here on guarantees hold among the survivors only.
  if (membership_.place().announced() && !PEAL_MUTANT(transitional_omitted)) {
    View view;
    view.transitional = true;
    view.id = agreement.view;
    view.old = membership_.view();
    view.members = PEAL_MUTANT(transitional_of_all) ? membership_.members() : survivors;
    view.primary = membership_.lists().primary_of(survivors);
    out.install(view);
  }
  // Zone 3: behind a gap, only packets of members that are bound to have what they depend on.
  bool gap = false;
  for (; seq <= old.high; ++seq) {
    if (!held(seq)) {
      gap = true;
      continue;
    }
    const Packet& packet = packets_.at(seq);
    if (!gap || contains(repair_.bound, packet.data.origin) || PEAL_MUTANT(m10_gap_delivers_all)) {
      deliver(packet, true, out);
    }
  }
}

void RingEngine::install(Instant now, Effects& out) {
  const evs::Agreement agreement = repair_.agreement;
  const auto announce = [&] {
    View view;
    view.id = agreement.view;
    view.members = agreement.members;
    view.primary = membership_.lists().primary_of(agreement.members);
    out.install(view);
  };
  if (PEAL_MUTANT(install_before_deliver)) announce();
  finish_old_view(out);
  // Zone 4: the new regular view.
  const std::uint64_t hop = token_.hop;
  packets_.clear();
  r_ = Rotation(first_count_);
  const ViewOptions options = decode_options(agreement.options);
  packet_bytes_max_ = options.packet_bytes_max;
  request_lag_ = std::min<std::uint32_t>(options.request_lag, kHistory - 1);
  max_gap_ = options.max_gap;
  repair_.active = false;
  timers_.cancel(kRecoveryGuardTimer);
  membership_.installed(now, agreement, out);
  if (agreement.members.size() > 1) membership_.note_life(now);
  if (!PEAL_MUTANT(obligation_kept)) obligation_ = {membership_.self()};
  const auto n = static_cast<std::uint32_t>(agreement.members.size());
  window_.reset(n, request_lag_, std::max(1U, max_gap_ / (request_lag_ + 3)),
                options_.global_window);
  accelerated_.reset(options_.accelerated_window);
  if (!PEAL_MUTANT(install_before_deliver)) announce();
  list_best_ = 0;
  list_block_ = wire::kNoIndex;
  list_moves_ = false;
  if (n == 1 && membership_.lists().pending() != 0) {
    membership_.lists().all_have_next();
    membership_.try_adopt(now, out);
  }
  if (n == 1) {
    token_ = first_token(agreement.view);
    if (can_originate()) timers_.arm(kVisitTimer, now);
  } else {
    token_.hop = hop;
  }
}

}  // namespace peal::order::ring
