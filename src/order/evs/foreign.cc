// SPDX-License-Identifier: Apache-2.0
// Other views and other incarnations: how members that do not share a view find each other, only if
// both directions of the link work, and without endless view changes if they do not.

#include <algorithm>

#include "base/hooks.h"
#include "order/evs/membership.h"

namespace peal::order::evs {
namespace {

constexpr Duration kProbeGapMin = milliseconds(5);
/// Consecutive checks after which a member counts as deaf.
constexpr std::uint8_t kDeaf = 2;
// An epoch this large is not a clock value; following it would leave no space for later
// incarnations.
constexpr std::uint64_t kEpochMax = std::uint64_t{1} << 62;

}  // namespace

bool Membership::note(Instant now, const MemberId& member, Effects& out) {
  if (member.epoch == 0 || member.epoch > kEpochMax) return false;
  if (member.node == self_.node) {
    if (member.epoch >= self_.epoch && member != self_ && !PEAL_MUTANT(epoch_not_corrected)) {
      correct_epoch(now, member.epoch, out);
    }
    return false;
  }
  Peer* known = peer(member.node);
  if (known == nullptr || member.epoch < known->newest) return false;
  if (member.epoch > known->newest) {
    known->newest = member.epoch;
    known->last_join = 0;
    known->accuser = {};
    known->was_heard = false;
  }
  return true;
}

void Membership::correct_epoch(Instant now, std::uint64_t epoch, Effects& out) {
  if (installed_once_) {
    out.fatal("another live process uses this node's id, or an earlier one had a later clock");
    return;
  }
  PEAL_PROBE("membership.epoch_corrected");
  self_.epoch = epoch + 1;
  view_ = ViewId{0, self_};
  members_ = {self_};
  processes_ = {self_};
  failed_.clear();
  join_number_ = settings_.first_count;
  committed_ = {};
  out.report({&event::epoch_corrected, view_, self_, self_.epoch, 0});
  shift_to_gather(now, &gather::epoch, {}, out);
}

void Membership::on_epoch_notice(Instant now, const wire::EpochNotice& notice, Effects& out) {
  note(now, notice.newest, out);
}

void Membership::tell_newest(Instant now, NodeId node, Effects& out) {
  Peer* known = peer(node);
  if (known == nullptr || known->newest == 0) return;
  // A restarted node waits one consensus timeout before it forms a view alone: tell it in time.
  if (known->was_noticed && now - known->noticed < settings_.join * 2) return;
  known->noticed = now;
  known->was_noticed = true;
  const wire::EpochNotice notice{{node, known->newest}};
  const BufferRef packet = build(wire::FrameKind::epoch_notice, notice, wire::encode_epoch_notice);
  if (!packet) return;
  out.send(node, Lane::control, packet);
}

void Membership::on_foreign(Instant now, const MemberId& from, Effects& out) {
  if (peer(from.node)->other_list) return;  // it would not join
  mark_heard(now, from);
  answer(now, from, out);
}

void Membership::answer(Instant now, const MemberId& from, Effects& out) {
  if (state_ == State::gather) {
    expedite_join(now, out);
    return;
  }
  if (state_ != State::operational) return;
  // Only two members answer, so that a foreign stream does not trigger a hundred probes.
  const bool my_turn = index_ == 0 || index_ == from.node.value % members_.size();
  if (my_turn && (!probe_sent_ || now - last_probe_at_ > kProbeGapMin)) send_probe(now, out);
}

/// Notes whether `from` says that it hears this view. Between two probes `from` may not have had
/// time to hear it.
void Membership::note_hearing(const MemberId& from, std::span<const MemberId> heard) {
  Peer* known = peer(from.node);
  if (known == nullptr) return;
  if (contains(members_, from) || intersects(heard, members_)) {
    known->deaf = 0;
    known->said_deaf = false;
  } else {
    known->said_deaf = true;
  }
}

void Membership::look_for_deaf(Instant now) {
  for (Peer& known : peers_) {
    // The members of its view take turns to probe, so the next report may take a while.
    const bool gone = !known.was_heard || now - known.heard > settings_.probe * 8;
    if (gone || contains(members_, {known.node, known.newest})) known.deaf = 0;
    if (known.said_deaf && known.deaf < kDeaf) ++known.deaf;
    known.said_deaf = false;
  }
}

MemberSet Membership::deaf_peers() const {
  MemberSet deaf;
  if (state_ != State::operational) return deaf;
  for (const Peer& known : peers_) {
    if (known.deaf >= kDeaf) deaf.push_back({known.node, known.newest});
  }
  return deaf;
}

void Membership::send_probe(Instant now, Effects& out) {
  wire::ProbeFrame probe;
  probe.view = view_;
  probe.heard = heard_now(now);
  probe.list = list();
  last_probe_at_ = now;
  probe_sent_ = true;
  const BufferRef packet = build(wire::FrameKind::probe, probe, wire::encode_probe);
  if (!packet) return;
  ++tally_.probes_sent;
  out.multicast(Lane::control, packet);
}

void Membership::arm_probe(Instant now) {
  const std::int64_t quarter = settings_.probe.ns / 4;
  timers_.arm(Timer::probe,
              now + settings_.probe + nanoseconds(random_.between(-quarter, quarter)));
}

void Membership::on_probe_timer(Instant now, Effects& out) {
  // If all configured nodes are members, there is nobody to look for until the view ends.
  if (state_ == State::operational && members_.size() == settings_.nodes.nodes.size()) return;
  arm_probe(now);
  look_for_deaf(now);
  ++probe_round_;
  if (state_ != State::operational) return;
  // Members take turns, so that finding others does not depend on one member's links.
  if (probe_round_ % members_.size() == index_) send_probe(now, out);
}

void Membership::on_probe(Instant now, const MemberId& from, const wire::ProbeFrame& probe,
                          Effects& out) {
  mark_heard(now, from);
  note_hearing(from, probe.heard);
  if (state_ == State::operational) {
    if (contains(members_, from)) return;
    if (!intersects(probe.heard, members_)) {
      answer(now, from, out);
      return;
    }
    if (muted(now, from)) {
      PEAL_PROBE("membership.muted_probe");
      return;
    }
    if (is_doubtful(from)) {
      consider(now, from);
      return;
    }
    start_sets_from_view();
    insert(processes_, from);
    shift_to_gather(now, &gather::foreign, from, out);
    return;
  }
  if (state_ != State::gather || contains(processes_, from)) return;
  if (!intersects(probe.heard, processes_)) {
    answer(now, from, out);
    return;
  }
  if (processes_.size() >= wire::kProcessesMax) return;
  if (is_doubtful(from)) {
    consider(now, from);
    return;
  }
  insert(processes_, from);
  shift_to_gather(now, &gather::foreign, from, out);
}

}  // namespace peal::order::evs
