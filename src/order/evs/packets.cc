// SPDX-License-Identifier: Apache-2.0
// The packets of the membership: first the checks of their headers, then each kind of packet. Also
// how members of different views find each other. Two views merge only if both directions of the
// link between two of their members work; otherwise the views would merge and split endlessly.

#include <algorithm>

#include "base/hooks.h"
#include "order/evs/membership.h"

namespace peal::order::evs {

using wire::Drop;
using wire::FrameKind;

namespace {

// A larger epoch cannot be a clock value. If members accepted such an epoch, later incarnations of
// the node might run out of larger epochs.
constexpr std::uint64_t kEpochMax = std::uint64_t{1} << 62;

}  // namespace

// ---- senders ----

bool Membership::admit(Instant now, const wire::Header& header, Effects& out) {
  const MemberId& from = header.sender;
  if (header.cluster != settings_.cluster) {
    const Drop reason = wire::drop_of_cluster(header.cluster, settings_.cluster);
    tally_.drop(reason);
    report_incompatible(header, reason, out);
    return false;
  }
  if (from == self_) {
    tally_.drop(Drop::own);
    return false;
  }
  if (!lists_.is_configured(from.node)) {
    tally_.drop(Drop::bad_sender);
    return false;
  }
  if (!note(now, from, out)) {
    tally_.drop(Drop::stale);
    if (from.node != self_.node) announcer_.tell_newest(now, from.node, out);
    return false;
  }
  return true;
}

// Does the same as admit() for a packet of an earlier incarnation. Also notes `newest`.
void Membership::on_old_incarnation(Instant now, const MemberId& newest, Effects& out) {
  if (left_ || newest.node == self_.node) return;
  tally_.drop(Drop::stale);
  note(now, newest, out);
  announcer_.tell_newest(now, newest.node, out);
}

bool Membership::note(Instant now, const MemberId& member, Effects& out) {
  if (member.epoch == 0 || member.epoch > kEpochMax) return false;
  if (member.node != self_.node) return peers_.note(member);
  if (member.epoch >= self_.epoch && member != self_ && !PEAL_MUTANT(epoch_not_corrected)) {
    correct_epoch(now, member.epoch, out);
  }
  return false;
}

void Membership::report_incompatible(const wire::Header& header, Drop reason, Effects& out) {
  incompatible_.report(header.sender, lists_.is_configured(header.sender.node),
                       static_cast<unsigned>(reason), place_.view, out);
}

Drop Membership::check_list(Instant now, const wire::Header& header, std::uint64_t list,
                            Effects& out) {
  const MemberId& from = header.sender;
  if (lists_.may_follow_to(list)) {
    PEAL_PROBE("membership.list_followed");
    adopt(now, out);
    if (peers_.find(from.node) != nullptr) {
      if (place_.operational()) {
        gathering_.start_from(place_.members);
      } else {
        gathering_.drop_strangers();
      }
      shift_to_gather(now, &gather::nodes, from, out);
    }
  }
  Peer* known = peers_.find(from.node);  // null: this member just adopted a list without the sender
  const bool other = known == nullptr || list != lists_.active();
  if (known != nullptr) known->other_list = other;
  if (!other) return Drop::none;
  // If the sender's active list is this member's pending list, the cluster reconfigures. Otherwise
  // the configurations of the two nodes differ, which is worth a report.
  if (list != lists_.pending()) report_incompatible(header, Drop::other_list, out);
  return Drop::other_list;
}

// ---- kinds ----

Drop Membership::on_frame(Instant now, const wire::Header& header, const BufferRef& packet,
                          Effects& out) {
  const MemberId& from = header.sender;
  switch (header.kind) {
    case FrameKind::join: return take_join(now, header, packet.view(), out);
    case FrameKind::probe: return on_probe(now, header, packet.view(), out);
    case FrameKind::commit: {
      wire::Commit commit;
      const Drop reason = wire::decode_commit(packet.view(), protocol_.commit_format(), commit);
      if (reason == Drop::none) on_commit(now, from, commit, out);
      return reason;
    }
    case FrameKind::epoch_notice: {
      wire::EpochNotice notice;
      const Drop reason = wire::decode_epoch_notice(packet.view(), notice);
      if (reason == Drop::none) note(now, notice.newest, out);
      return reason;
    }
    case FrameKind::data:
      if (!wire::is_trial_of_data(packet.view())) return Drop::unknown_kind;
      [[fallthrough]];
    case FrameKind::trial: {
      wire::Trial trial;
      const Drop reason = wire::decode_trial(packet.view(), trial);
      if (reason == Drop::none) on_trial(now, from, trial, out);
      return reason;
    }
    default: return Drop::unknown_kind;
  }
}

Drop Membership::take_join(Instant now, const wire::Header& header, ByteView packet, Effects& out) {
  wire::Join join;
  Drop reason = wire::decode_join(packet, join);
  if (reason == Drop::none) reason = check_list(now, header, join.list, out);
  if (reason == Drop::none) on_join(now, header.sender, join, out);
  return reason;
}

void Membership::on_join(Instant now, const MemberId& from, const wire::Join& join, Effects& out) {
  Peer* known = peers_.find(from.node);
  PEAL_ASSERT(known != nullptr && known->newest == from.epoch);
  if (join.number <= known->last_join && !PEAL_MUTANT(stale_join_accepted)) {
    tally_.drop(Drop::stale);
    return;
  }
  known->last_join = join.number;
  ++tally_.joins_received;
  const MemberId me = self_;
  for (const MemberId& member : join.processes) {
    if (!note(now, member, out) && self_ != me) return;  // the JOIN made this node change its epoch
  }
  attempt_.note_number(join.view_number_max);
  peers_.mark_heard(now, from);
  if (join.leaving) {
    on_leaving(now, from, out);
    return;
  }
  switch (place_.state) {
    case State::operational: {
      if (is_leftover(from, join) && !PEAL_MUTANT(leftover_join_obeyed)) return;
      if (contains(place_.members, from)) {
        if (join.committed.number < place_.view.number) return;  // the JOIN is older than this view
        for (const MemberId& member : join.failed) peers_.note_accuser(member, from);
      } else if (!intersects(join.processes, place_.members) &&
                 !intersects(join.heard, place_.members) && !PEAL_MUTANT(one_way_joins)) {
        answer(now, from, out);  // the JOIN does not prove that `from` hears this view
        return;
      } else if (PEAL_MUTANT(mute_joins) && peers_.is_muted(now, from)) {
        return;
      } else if (peers_.is_doubtful(from)) {
        trial_.consider(now, from, members_or_processes());
        return;
      }
      gathering_.start_from(place_.members);
      shift_to_gather(now, &gather::join, from, out);
      gather_join(now, from, join, out);
      return;
    }
    case State::gather:
      if (!contains(gathering_.processes(), from) &&
          !intersects(join.processes, gathering_.processes()) &&
          !intersects(join.heard, gathering_.processes())) {
        answer(now, from, out);
        return;
      }
      if (PEAL_MUTANT(mute_joins) && peers_.is_muted(now, from)) return;
      if (!contains(gathering_.processes(), from) && peers_.is_doubtful(from)) {
        trial_.consider(now, from, members_or_processes());
        return;
      }
      gather_join(now, from, join, out);
      return;
    case State::commit:
    case State::recovery:
      // Give up the attempt if the JOIN shows that `from` has left it: `from` gathers again after
      // it committed to this view or a later view, accuses this member, or names more processes.
      // Otherwise this member would wait for the commit token, while the others wait for its JOIN.
      if (contains(attempt_.agreement().members, from) &&
          (join.committed.number >= attempt_.agreement().view.number ||
           contains(join.failed, self_) || !is_subset(join.processes, gathering_.processes()))) {
        PEAL_PROBE("membership.join_breaks_attempt");
        shift_to_gather(now, &gather::join, from, out);
        gather_join(now, from, join, out);
      }
      return;
  }
}

/// True if this member must ignore the JOIN. There are two cases: the JOIN accuses this member; or
/// its sender is outside the view, and accuses a live member of the view. The sender will form a
/// view without the accused member, and a probe merges the two views later. If the accused member
/// followed the JOIN, it and the sender could accuse each other for ever because of an old
/// accusation. If the other members followed a JOIN from outside the view, they would exclude the
/// accused member. The next JOIN of the accused member would then end their next view in the same
/// way.
bool Membership::is_leftover(const MemberId& from, const wire::Join& join) const {
  if (contains(join.failed, self_)) return true;
  if (contains(place_.members, from)) return false;
  return std::any_of(join.failed.begin(), join.failed.end(), [this](const MemberId& q) {
    return contains(place_.members, q) && !peers_.is_superseded(q);
  });
}

void Membership::on_leaving(Instant now, const MemberId& from, Effects& out) {
  if (PEAL_MUTANT(leave_ignored)) return;
  bool concerns_us = false;
  switch (place_.state) {
    case State::operational: concerns_us = contains(place_.members, from); break;
    case State::commit:
    case State::recovery: concerns_us = contains(attempt_.agreement().members, from); break;
    case State::gather: concerns_us = gathering_.concerns(from); break;
  }
  if (concerns_us) regather(now, &gather::leave, from, out);
}

void Membership::on_commit(Instant now, const MemberId& from, wire::Commit& commit, Effects& out) {
  const auto n = static_cast<std::uint32_t>(commit.members.size());
  const auto mine = static_cast<std::uint32_t>(index_in(commit.members, self_));
  if (mine == n || commit.hops % n != mine || commit.members[(mine + n - 1) % n] != from) {
    tally_.drop(Drop::bad_sender);
    return;
  }
  const bool this_attempt =
      commit.view == attempt_.agreement().view || PEAL_MUTANT(phase_two_of_any_attempt);
  switch (place_.state) {
    case State::gather:
      if (commit.hops == mine && mine > 0 && commit.members == gathering_.candidates() &&
          commit.list == lists_.active() &&
          (attempt_.is_newer(commit.view) || PEAL_MUTANT(stale_commit_accepted)) &&
          (gathering_.hears_enough(commit.members, mine) || PEAL_MUTANT(commit_unheard))) {
        enter_commit(now, commit, mine, out);
        return;
      }
      PEAL_PROBE("membership.commit_refused");
      break;
    case State::commit:
      if (this_attempt && commit.hops == n + mine) {
        enter_recovery(now, commit, out);
        return;
      }
      break;
    case State::recovery:
      if (this_attempt && commit.hops == 2 * n && mine == 0 && attempt_.lead()) {
        protocol_.lead_recovery(now, out);
        return;
      }
      break;
    case State::operational: break;
  }
  tally_.drop(Drop::wrong_state);
}

Drop Membership::on_probe(Instant now, const wire::Header& header, ByteView packet, Effects& out) {
  wire::ProbeFrame probe;
  Drop reason = wire::decode_probe(packet, probe);
  // Inside a view, members learn from the token when to adopt a list. So a PROBE from this member's
  // own view must not change this member's list.
  const bool from_view = probe.view == place_.view && place_.operational();
  if (reason == Drop::none && !from_view) reason = check_list(now, header, probe.list, out);
  if (reason != Drop::none) return reason;
  const MemberId& from = header.sender;
  peers_.mark_heard(now, from);
  peers_.note_hearing(from, probe.heard, place_.members);
  if (place_.operational()) {
    if (contains(place_.members, from)) return Drop::none;
    if (!intersects(probe.heard, place_.members)) {
      answer(now, from, out);
      return Drop::none;
    }
    if (peers_.is_muted(now, from)) {
      PEAL_PROBE("membership.muted_probe");
      return Drop::none;
    }
    if (peers_.is_doubtful(from)) {
      trial_.consider(now, from, members_or_processes());
      return Drop::none;
    }
    gathering_.start_from(place_.members);
    gathering_.admit(from);
    shift_to_gather(now, &gather::foreign, from, out);
    return Drop::none;
  }
  if (place_.state != State::gather || contains(gathering_.processes(), from)) return Drop::none;
  if (!intersects(probe.heard, gathering_.processes())) {
    answer(now, from, out);
    return Drop::none;
  }
  if (gathering_.full()) return Drop::none;
  if (peers_.is_doubtful(from)) {
    trial_.consider(now, from, members_or_processes());
    return Drop::none;
  }
  gathering_.admit(from);
  shift_to_gather(now, &gather::foreign, from, out);
  return Drop::none;
}

void Membership::on_trial(Instant now, const MemberId& from, const wire::Trial& frame,
                          Effects& out) {
  if (frame.to != self_) return tally_.drop(Drop::stale);
  switch (frame.step) {
    case wire::Trial::Step::ask: trial_.answer(from, frame, out); return;
    case wire::Trial::Step::echo:
      follow_verdict(now, trial_.on_echo(now, from, frame, out), out);
      return;
    case wire::Trial::Step::passed: trial_.on_passed(from, members_or_processes()); return;
  }
}

// ---- nodes outside the view ----

void Membership::on_foreign(Instant now, const MemberId& from, Effects& out) {
  if (peers_.find(from.node)->other_list) return;  // nodes with different lists form no view
  peers_.mark_heard(now, from);
  answer(now, from, out);
}

void Membership::answer(Instant now, const MemberId& from, Effects& out) {
  if (place_.state == State::gather && announcer_.expedite_join(now)) send_join(now, out);
  if (place_.operational()) announcer_.answer(now, from, out);
}

}  // namespace peal::order::evs
