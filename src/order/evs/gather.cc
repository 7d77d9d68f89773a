// SPDX-License-Identifier: Apache-2.0
// Gather: each member says which members might be reachable and which it will not wait for, until
// all candidates say exactly the same.

#include <algorithm>

#include "base/hooks.h"
#include "order/evs/membership.h"

namespace peal::order::evs {
namespace {

// JOINs closer together than this carry no news.
constexpr Duration kJoinGapMin = milliseconds(2);

}  // namespace

void Membership::shift_to_gather(Instant now, const GatherReason* reason, const MemberId& who,
                                 Effects& out) {
  if (state_ == State::operational) protocol_.flush(out);
  if (PEAL_MUTANT(m13_committed_restored) && state_ != State::gather) {
    committed_ = view_;
    view_number_max_ = view_.number;
  }
  if (!episode_) gather_since_ = now;
  episode_ = true;
  state_ = State::gather;
  ++tally_.gathers;
  protocol_.abandon();
  timers_.cancel(Timer::silence);
  timers_.cancel(Timer::resend);
  timers_.cancel_those_of_engine();
  last_sent_.reset();
  consensus_ = {self_};
  agreed_ = false;
  out.report({&event::gather_started, view_, who, 0, candidates().size(), reason});
  if (!PEAL_MUTANT(gather_consensus_not_armed)) {
    timers_.arm(Timer::consensus, now + settings_.consensus);
  }
  if (!timers_.armed(Timer::probe)) arm_probe(now);
  expedite_join(now, out);
  check_consensus(now, false, out);
}

void Membership::expedite_join(Instant now, Effects& out) {
  if (!join_sent_ || now - last_join_at_ >= kJoinGapMin) {
    send_join(now, out);
    return;
  }
  const Instant at = last_join_at_ + kJoinGapMin;
  const auto armed = timers_.at(Timer::join);
  if (!armed.has_value() || at < *armed) timers_.arm(Timer::join, at);
}

void Membership::send_join(Instant now, Effects& out, bool leaving) {
  wire::Join join;
  join.number = ++join_number_;
  join.committed = committed_;
  join.view_number_max = view_number_max_;
  join.leaving = leaving;
  join.processes = leaving && state_ == State::operational ? members_ : processes_;
  if (!leaving) join.failed = failed_;
  join.heard = heard_now(now);
  join.list = list();
  const BufferRef packet = build(wire::FrameKind::join, join, wire::encode_join);
  last_join_at_ = now;
  join_sent_ = true;
  if (!leaving) {
    // Jitter, so that a hundred nodes that start together do not stay synchronised.
    const std::int64_t fifth = settings_.join.ns / 5;
    timers_.arm(Timer::join, now + settings_.join + nanoseconds(random_.between(-fifth, fifth)));
  }
  if (!packet) return;
  ++tally_.joins_sent;
  out.multicast(Lane::control, packet);
}

void Membership::check_consensus(Instant now, bool from_timer, Effects& out) {
  const MemberSet cand = candidates();
  if (!is_subset(cand, consensus_)) return;
  // Form a view of one member only after the timeout.
  if (cand.size() == 1 && !from_timer && !PEAL_MUTANT(gather_one_agrees)) return;
  agreed_ = true;
  timers_.cancel(Timer::consensus);
  out.report({&event::consensus_reached, view_, {}, cand.size(), 0});
  if (cand.front() == self_) {
    create_commit(now, cand, out);
  } else {
    note_life(now);  // the representative's commit token is on its way, or lost
  }
}

void Membership::on_consensus_timeout(Instant now, Effects& out) {
  const MemberSet silent = set_minus(candidates(), consensus_);
  if (silent.empty()) {
    check_consensus(now, true, out);
    return;
  }
  for (const MemberId& member : silent) {
    note_accuser(member, {});  // it is silent in general, so no single link is to blame
    out.report({&event::member_accused, view_, member, 0, 0, &gather::consensus_timeout});
  }
  failed_ = set_union(failed_, silent);
  if (candidates().size() == 1) {
    send_join(now, out);
    check_consensus(now, true, out);
  } else {
    shift_to_gather(now, &gather::consensus_timeout, {}, out);
  }
}

void Membership::on_join(Instant now, const MemberId& from, const wire::Join& join, Effects& out) {
  Peer* known = peer(from.node);
  PEAL_ASSERT(known != nullptr && known->newest == from.epoch);
  if (join.number <= known->last_join && !PEAL_MUTANT(stale_join_accepted)) {
    tally_.drop(wire::Drop::stale);
    return;
  }
  known->last_join = join.number;
  ++tally_.joins_received;
  const MemberId me = self_;
  for (const MemberId& member : join.processes) {
    if (!note(now, member, out) && self_ != me) return;  // this JOIN gave this node a new epoch
  }
  view_number_max_ = std::max(view_number_max_, join.view_number_max);
  mark_heard(now, from);
  if (join.leaving) {
    on_leaving(now, from, out);
    return;
  }
  switch (state_) {
    case State::operational: {
      if (is_leftover(from, join) && !PEAL_MUTANT(leftover_join_obeyed)) return;
      if (contains(members_, from)) {
        if (join.committed.number < view_.number) return;  // sent before it joined this view
        for (const MemberId& member : join.failed) note_accuser(member, from);
      } else if (!intersects(join.processes, members_) && !intersects(join.heard, members_) &&
                 !PEAL_MUTANT(one_way_joins)) {
        answer(now, from, out);  // no proof that it hears this member
        return;
      } else if (PEAL_MUTANT(mute_joins) && muted(now, from)) {
        return;
      } else if (is_doubtful(from)) {
        consider(now, from);
        return;
      }
      start_sets_from_view();
      shift_to_gather(now, &gather::join, from, out);
      gather_join(now, from, join, out);
      return;
    }
    case State::gather:
      if (!contains(processes_, from) && !intersects(join.processes, processes_) &&
          !intersects(join.heard, processes_)) {
        answer(now, from, out);
        return;
      }
      if (PEAL_MUTANT(mute_joins) && muted(now, from)) return;
      if (!contains(processes_, from) && is_doubtful(from)) {
        consider(now, from);
        return;
      }
      gather_join(now, from, join, out);
      return;
    case State::commit:
    case State::recovery:
      // The attempt has lost a member that went on to a later view, accuses this member, or names
      // more processes than agreed. Give up now: waiting for the commit token to time out would
      // take as long as the others wait for this member's JOIN.
      if (contains(agreement_.members, from) &&
          (join.committed.number >= agreement_.view.number || contains(join.failed, self_) ||
           !is_subset(join.processes, processes_))) {
        PEAL_PROBE("membership.join_breaks_attempt");
        shift_to_gather(now, &gather::join, from, out);
        gather_join(now, from, join, out);
      }
      return;
  }
}

/// The sender will form its view without this member, and a probe merges the two views later. If
/// this member followed it, the two could accuse each other for ever on the basis of the previous
/// episode. A JOIN from outside that accuses one member accuses the whole view: otherwise the other
/// members would exclude that member, and its own next JOIN would do the same to their next view.
bool Membership::is_leftover(const MemberId& from, const wire::Join& join) const {
  if (contains(join.failed, self_)) return true;
  if (contains(members_, from)) return false;
  return std::any_of(join.failed.begin(), join.failed.end(),
                     [this](const MemberId& q) { return contains(members_, q) && !superseded(q); });
}

void Membership::gather_join(Instant now, const MemberId& from, const wire::Join& join,
                             Effects& out) {
  if (join.processes == processes_ &&
      (join.failed == failed_ || PEAL_MUTANT(gather_failed_not_compared))) {
    insert(consensus_, from);
    if (!agreed_) check_consensus(now, false, out);
    return;
  }
  erase(consensus_, from);
  const bool accuses = !is_subset(join.failed, failed_) && !PEAL_MUTANT(gather_accusations_skipped);
  if (is_subset(join.processes, processes_) && !accuses) {
    PEAL_PROBE("membership.join_of_less");
    return;
  }
  if (contains(failed_, from)) {  // accused members have no vote
    PEAL_PROBE("membership.join_of_accused");
    return;
  }
  MemberSet processes = set_union(processes_, join.processes);
  insert(processes, from);
  MemberSet failed = failed_;
  if (contains(join.failed, self_) && !PEAL_MUTANT(gather_accuser_trusted)) {
    // Accuse members that accuse this member: a one-sided accusation ends in two views, not in a
    // dispute.
    PEAL_PROBE("membership.accuser_accused");
    insert(failed, from);
  } else {
    failed = set_union(failed, join.failed);
  }
  for (const MemberId& member : processes) {
    if (!superseded(member) || PEAL_MUTANT(gather_old_lives_stay)) continue;
    PEAL_PROBE("membership.old_life_failed");
    insert(failed, member);
  }
  erase(failed, self_);
  if (processes.size() > wire::kProcessesMax) {
    // A JOIN cannot name so many incarnations: restart with the sender's and this member's.
    PEAL_PROBE("membership.sets_overflow");
    processes = {self_, from};
    std::sort(processes.begin(), processes.end());
    failed.clear();
  } else if (processes == processes_ && failed == failed_) {
    PEAL_PROBE("membership.join_says_nothing");
    return;  // restarting timers without news would let two sides talk for ever
  }
  processes_ = std::move(processes);
  failed_ = std::move(failed);
  shift_to_gather(now, &gather::sets_grew, from, out);
  // `from` may have said just this and stay silent since it has consensus: do not suspect it.
  if (join.processes != processes_ || join.failed != failed_) return;
  if (PEAL_MUTANT(gather_growth_unheard)) return;
  insert(consensus_, from);
  if (state_ == State::gather && !agreed_) check_consensus(now, false, out);
}

void Membership::on_leaving(Instant now, const MemberId& from, Effects& out) {
  if (PEAL_MUTANT(leave_ignored)) return;
  bool concerns_us = false;
  switch (state_) {
    case State::operational: concerns_us = contains(members_, from); break;
    case State::commit:
    case State::recovery: concerns_us = contains(agreement_.members, from); break;
    case State::gather: concerns_us = contains(processes_, from) && !contains(failed_, from); break;
  }
  if (concerns_us) regather(now, &gather::leave, from, out);
}

}  // namespace peal::order::evs
