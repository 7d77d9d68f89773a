// SPDX-License-Identifier: Apache-2.0
// Gather: each member sends JOINs with two sets: the members that might be reachable, and those of
// them for which it will not wait. Gather ends when all candidates send the same two sets.
//
// Commit: the representative's commit token makes two rotations. In the first rotation the token
// collects what every member holds of its old view. The second rotation shows all members the
// collected records.

#include "order/evs/membership.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/digest.h"
#include "base/hooks.h"

namespace peal::order::evs {
namespace {

// After a pause, a member waits for the time of this number of retransmissions. One of them may be
// lost. Another may reach a receiver that still discards the packets of its own pause.
constexpr std::int64_t kRetransmissionsAfterPause = 3;

wire::OldView* record_of(wire::Commit& commit, const ViewId& view) {
  const auto record = std::find_if(commit.old_views.begin(), commit.old_views.end(),
                                   [&](const wire::OldView& old) { return old.view == view; });
  return record == commit.old_views.end() ? nullptr : &*record;
}

}  // namespace

Membership::Membership(const Settings& settings, Protocol& protocol)
    : settings_(settings),
      protocol_(protocol),
      self_(settings.self),
      place_{State::gather, {0, self_}, {self_}, 0},
      frames_(settings_, self_, tally_),
      parts_{settings_, self_, place_, timers_, tally_, frames_},
      lists_(settings_, place_),
      peers_(settings_, self_),
      announcer_(parts_, lists_, peers_),
      gathering_(self_, peers_),
      attempt_(settings_.first_count),
      tracked_(parts_),
      trial_(parts_, peers_, tracked_) {
  PEAL_ASSERT(settings_.self.node.value != 0 && settings_.self.epoch != 0);
  PEAL_ASSERT(settings_.nodes.hash != 0);
  peers_.configure(lists_.nodes());
  PEAL_ASSERT(peers_.size() + 1 == settings_.nodes.nodes.size());
}

void Membership::start(Instant now, Effects& out) {
  PEAL_ASSERT(protocol_.commit_format().is_sound());
  gathering_.start_from(place_.members);
  shift_to_gather(now, &gather::boot, {}, out);
}

void Membership::leave(Instant now, Effects& out) {
  if (left_) return;
  if (place_.operational()) protocol_.flush(out);
  if (place_.members.size() > 1 || !place_.operational()) {
    for (int copy = 0; copy < 3; ++copy) send_join(now, out, /*leaving=*/true);
  }
  left_ = true;
  protocol_.abandon();
  timers_.cancel_all();
  tracked_.forget();
}

// ---- timers and pauses ----

void Membership::on_timer(Instant now, Timer timer, Effects& out) {
  switch (timer) {
    case Timer::silence: on_silence(now, out); return;
    case Timer::resend: tracked_.on_timer(now, out); return;
    case Timer::join:
      if (place_.state == State::gather) send_join(now, out);
      return;
    case Timer::consensus:
      if (place_.state == State::gather) on_consensus_timeout(now, out);
      return;
    case Timer::probe: announcer_.on_probe_timer(now, out); return;
    case Timer::trial: follow_verdict(now, trial_.on_timer(now, out), out); return;
    case Timer::engine_0:
    case Timer::engine_1:
    case Timer::engine_2:
    case Timer::engine_3:
    case Timer::engine_late:
    case Timer::count: break;
  }
  PEAL_ASSERT(false && "not a timer of the membership");
}

// The events are named after the ring's signs of life: the token in a view, and the commit token in
// an attempt.
void Membership::on_silence(Instant now, Effects& out) {
  if (PEAL_MUTANT(token_retx_never)) return;
  ++tally_.silences;
  const bool operational = place_.operational();
  out.report({&event::token_lost, operational ? place_.view : attempt_.agreement().view, {}, 0, 0});
  if (operational) {
    gathering_.start_from(place_.members);
    shift_to_gather(now, long_pause_ ? &gather::pause : &gather::token_loss, {}, out);
    return;
  }
  // Keep the sets of processes and failed members after a failed attempt, because both sets are
  // still valid. If the sets shrank again, the gathering might never end.
  PEAL_PROBE("membership.attempt_lost");
  shift_to_gather(now, &gather::commit_loss, {}, out);
}

void Membership::on_pause(Instant now, Duration gap, Effects& out) {
  out.report({&event::paused, place_.view, {}, static_cast<std::uint64_t>(gap.ns), 0});
  trial_.give_up(now);
  if (place_.state == State::gather) {
    // Restart the consensus timeout, so that this member accuses nobody because of its own pause.
    if (!gathering_.agreed()) timers_.arm(Timer::consensus, now + settings_.consensus);
    timers_.arm(Timer::join, now);
    return;
  }
  // If all members run on one machine, the pause may have stopped all of them. So wait for a sign
  // of life as long as a few retransmissions take. If only this member was paused, the other
  // members continued without it, and no sign of life comes.
  const std::optional<Instant> due = timers_.at(Timer::silence);
  const Instant at = now + settings_.resend * kRetransmissionsAfterPause;
  if (!due || *due >= at) return;
  timers_.arm(Timer::silence, at);
  long_pause_ = gap >= settings_.silence;
}

// ---- gather ----

void Membership::shift_to_gather(Instant now, const GatherReason* reason, const MemberId& from,
                                 Effects& out) {
  PEAL_ASSERT(!left_);
  if (place_.operational()) protocol_.flush(out);
  if (PEAL_MUTANT(m13_committed_restored) && place_.state != State::gather) {
    attempt_.forget_committed(place_.view);
  }
  gathering_.begin(now);
  place_.state = State::gather;
  ++tally_.gathers;
  protocol_.abandon();
  timers_.cancel(Timer::silence);
  timers_.cancel_those_of_engine();
  tracked_.forget();
  out.report(
      {&event::gather_started, place_.view, from, 0, gathering_.candidates().size(), reason});
  if (!PEAL_MUTANT(gather_consensus_not_armed)) {
    timers_.arm(Timer::consensus, now + settings_.consensus);
  }
  announcer_.start_probes(now);
  if (announcer_.expedite_join(now)) send_join(now, out);
  check_consensus(now, false, out);
}

void Membership::send_join(Instant now, Effects& out, bool leaving) {
  wire::Join join;
  join.committed = attempt_.committed();
  join.view_number_max = attempt_.view_number_max();
  join.leaving = leaving;
  join.processes = leaving && place_.operational() ? place_.members : gathering_.processes();
  if (!leaving) join.failed = gathering_.failed();
  announcer_.send_join(now, std::move(join), out);
}

void Membership::gather_join(Instant now, const MemberId& from, const wire::Join& join,
                             Effects& out) {
  switch (gathering_.merge(from, join)) {
    case Gathering::Heard::nothing: return;
    case Gathering::Heard::same: break;
    case Gathering::Heard::grew:
      shift_to_gather(now, &gather::sets_grew, from, out);
      // `from` may already have sent exactly these sets. Then it may have consensus, and send no
      // further JOIN. So note the agreement now, or this member would accuse `from` of silence.
      if (!gathering_.note_agreement(from, join)) return;
      break;
  }
  if (place_.state == State::gather && !gathering_.agreed()) check_consensus(now, false, out);
}

void Membership::check_consensus(Instant now, bool from_timer, Effects& out) {
  PEAL_ASSERT(place_.state == State::gather);
  if (!gathering_.agree(from_timer)) return;
  const MemberSet members = gathering_.candidates();
  timers_.cancel(Timer::consensus);
  out.report({&event::consensus_reached, place_.view, {}, members.size(), 0});
  if (members.front() != self_) {
    note_life(now);  // wait for the representative's commit token, which may be lost
    return;
  }
  wire::Commit commit = attempt_.create(self_, members, lists_.active());
  if (members.size() > wire::kMembersMax) {
    ++tally_.unsendable;
    return;
  }
  enter_commit(now, commit, 0, out);
}

void Membership::on_consensus_timeout(Instant now, Effects& out) {
  const MemberSet silent = gathering_.awaited();
  if (silent.empty()) {
    check_consensus(now, true, out);
    return;
  }
  for (const MemberId& member : silent) {
    peers_.note_accuser(member, {});  // the silence does not show that one link is bad
    out.report({&event::member_accused, place_.view, member, 0, 0, &gather::consensus_timeout});
  }
  gathering_.accuse_all(silent);
  if (gathering_.candidates().size() == 1) {
    send_join(now, out);
    check_consensus(now, true, out);
  } else {
    shift_to_gather(now, &gather::consensus_timeout, {}, out);
  }
}

void Membership::regather(Instant now, const GatherReason* reason, const MemberId& suspect,
                          Effects& out) {
  if (place_.operational()) gathering_.start_from(place_.members);
  if (suspect != MemberId{} && suspect != self_) gathering_.accuse(suspect);
  shift_to_gather(now, reason, suspect, out);
}

void Membership::gather_without(Instant now, const GatherReason* reason, const MemberId& silent,
                                Effects& out) {
  PEAL_ASSERT(place_.operational());
  peers_.note_silence(silent);
  gathering_.start_from(place_.members);
  shift_to_gather(now, reason, silent, out);
}

void Membership::accuse(Instant now, const MemberId& member, const GatherReason* reason,
                        Effects& out) {
  out.report({&event::member_accused, place_.view, member, 0, 0, reason});
  peers_.note_accuser(member, self_);
  regather(now, reason, member, out);
}

void Membership::follow_verdict(Instant now, const LinkTrial::Verdict& verdict, Effects& out) {
  const MemberId& member = verdict.member;
  switch (verdict.kind) {
    case LinkTrial::Verdict::Kind::nothing: return;
    case LinkTrial::Verdict::Kind::accuse:
      if (!contains(place_.members, member)) return;
      PEAL_PROBE("membership.accused_for_link");
      out.report({&event::stall_excluded, place_.view, member, 0, 0});
      accuse(now, member, &gather::stall, out);
      return;
    case LinkTrial::Verdict::Kind::invite:
      if (!place_.operational() && place_.state != State::gather) return;
      if (contains(members_or_processes(), member)) return;
      if (place_.operational()) gathering_.start_from(place_.members);
      if (gathering_.full()) return;
      gathering_.admit(member);
      shift_to_gather(now, &gather::foreign, member, out);
      return;
  }
}

void Membership::correct_epoch(Instant now, std::uint64_t epoch, Effects& out) {
  if (installed_once_) {
    out.fatal("another live process uses this node's id, or an earlier one had a later clock");
    return;
  }
  PEAL_PROBE("membership.epoch_corrected");
  PEAL_ASSERT(epoch >= self_.epoch && place_.members.size() == 1);
  self_.epoch = epoch + 1;
  place_.view = ViewId{0, self_};
  place_.members = {self_};
  gathering_.start_from(place_.members);
  announcer_.restart();
  attempt_.restart();
  out.report({&event::epoch_corrected, place_.view, self_, self_.epoch, 0});
  shift_to_gather(now, &gather::epoch, {}, out);
}

// ---- commit and recovery ----

void Membership::enter_commit(Instant now, wire::Commit& commit, std::uint32_t index,
                              Effects& out) {
  PEAL_ASSERT(place_.state == State::gather && commit.members[index] == self_);
  wire::OldView* record = record_of(commit, place_.view);
  if (record == nullptr) {
    commit.old_views.push_back({place_.view, {}, {}});
    record = &commit.old_views.back();
  }
  insert(record->survivors, self_);
  protocol_.freeze(record->record);
  protocol_.fold_options(commit.options);

  timers_.cancel(Timer::join);
  timers_.cancel(Timer::consensus);
  place_.state = State::commit;
  ++tally_.commits;
  attempt_.enter(commit, index);
  note_life(now);
  out.report({&event::commit_started, commit.view, {}, commit.members.size(), 0});
  if (commit.members.size() == 1) {
    enter_recovery(now, commit, out);
    protocol_.install_alone(now, out);
    return;
  }
  forward_commit(now, commit, out);
}

void Membership::forward_commit(Instant now, wire::Commit& commit, Effects& out) {
  ++commit.hops;
  const auto encode = [this](const wire::Header& header, const wire::Commit& in, ByteSpan bytes) {
    return wire::encode_commit(header, in, protocol_.commit_format(), bytes);
  };
  const BufferRef packet = frames_.build(wire::FrameKind::commit, commit, encode);
  if (!packet) return;  // the attempt times out; the next attempt's packet may fit a buffer
  send_tracked(now, commit.members[commit.hops % commit.members.size()], packet, out);
}

void Membership::enter_recovery(Instant now, wire::Commit& commit, Effects& out) {
  PEAL_ASSERT(place_.state == State::commit);
  const wire::OldView* record = record_of(commit, place_.view);
  const bool usable =
      record != nullptr && contains(record->survivors, self_) && protocol_.accepts(record->record);
  if (!usable) {  // the record lacks what this member added to it: a damaged or hostile packet
    tally_.drop(wire::Drop::bad_value);
    return;
  }
  place_.state = State::recovery;
  wire::OldView old = *record;
  if (PEAL_MUTANT(transitional_by_members)) {
    old.survivors.clear();
    for (const MemberId& m : commit.members) {
      if (contains(place_.members, m)) old.survivors.push_back(m);
    }
  }
  attempt_.learn(commit, std::move(old));
  note_life(now);
  protocol_.recover(now, attempt_.agreement(), out);
  if (commit.members.size() > 1) forward_commit(now, commit, out);
}

void Membership::send_tracked(Instant now, const MemberId& to, const BufferRef& packet,
                              Effects& out, Duration extra) {
  if (place_.operational() && tracked_.is_suspect(now, to, trial_.active())) {
    trial_.suspect(now, to, false);
  }
  tracked_.send(now, to, packet, extra, out);
}

void Membership::installed(Instant now, const Agreement& agreement, Effects& out) {
  PEAL_ASSERT(place_.state == State::recovery);
  PEAL_ASSERT(attempt_.is_at(agreement.view) && agreement.view.number > place_.view.number);
  PEAL_ASSERT(agreement.members[agreement.index] == self_);
  peers_.on_view(now, agreement.members, gathering_.failed());
  place_ = {State::operational, agreement.view, agreement.members, agreement.index};
  installed_once_ = true;
  lists_.on_view();
  gathering_.end();
  gathering_.start_from(place_.members);
  tracked_.on_view();
  timers_.cancel(Timer::join);
  timers_.cancel(Timer::consensus);
  // The attempt at this view is over, so its timer stops. The engine calls note_life() for the new
  // view.
  timers_.cancel(Timer::silence);
  ++tally_.views_installed;
  out.report({&event::view_installed,
              place_.view,
              {},
              place_.members.size(),
              static_cast<std::uint64_t>((now - gathering_.since()).ns)});
}

// ---- the list of nodes: see node_lists.cc ----

void Membership::set_nodes(Instant now, const NodeList& nodes, Effects& out) {
  PEAL_ASSERT(std::binary_search(nodes.nodes.begin(), nodes.nodes.end(), self_.node));
  incompatible_.clear();
  if (lists_.pending() == nodes.hash || left_) return;
  lists_.set_pending(nodes);
  peers_.configure(lists_.nodes());
  peers_.forget_lists();
  if (lists_.pending() == 0) return;
  if (PEAL_MUTANT(list_at_own_wish)) return adopt(now, out);
  if (place_.operational() && place_.members.size() == 1) {
    lists_.all_have_next();
    try_adopt(now, out);
  }
}

void Membership::try_adopt(Instant now, Effects& out) {
  if (lists_.pending() == 0 || lists_.adoption_waits().kind != NodesWait::Kind::nothing) return;
  adopt(now, out);
  lists_.on_view();
}

void Membership::adopt(Instant now, Effects& out) {
  lists_.adopt();
  peers_.configure(lists_.nodes());
  peers_.forget_lists();
  ++tally_.lists_adopted;
  PEAL_PROBE("membership.list_adopted");
  out.report({&event::nodes_adopted, place_.view, {}, lists_.active(), 0});
  announcer_.start_probes(now);
}

// ---- status ----

MemberSet Membership::awaited() const {
  return place_.state == State::gather ? gathering_.awaited() : MemberSet{};
}

MemberSet Membership::deaf_peers() const {
  return place_.operational() ? peers_.deaf() : MemberSet{};
}

std::uint64_t Membership::digest() const {
  Digest digest;
  const auto add_member = [&](const MemberId& m) {
    digest.add(m.node.value);
    digest.add(m.epoch);
  };
  digest.add(static_cast<std::uint64_t>(place_.state));
  add_member(self_);
  digest.add(place_.view.number);
  add_member(place_.view.representative);
  digest.add(place_.members.size());
  for (const MemberId& member : place_.members) add_member(member);
  lists_.add_to(digest);
  attempt_.add_to(digest);
  gathering_.add_sets_to(digest);
  announcer_.add_to(digest);
  digest.add((gathering_.agreed() ? 1U : 0U) + (trial_.active() ? 2U : 0U));
  trial_.add_to(digest);
  tracked_.add_to(digest);
  const auto next = timers_.next();
  digest.add(next.has_value() ? static_cast<std::uint64_t>(next->ns) : 0);
  return digest.value();
}

void Membership::check_invariants() const {
  if (left_) return;
  lists_.check_invariants();
  peers_.check_invariants();
  gathering_.check_invariants();
  attempt_.check_invariants(place_.view);
  tracked_.check_invariants();
  trial_.check_invariants();
  PEAL_ASSERT(place_.members[place_.index] == self_);
  if (place_.operational()) PEAL_ASSERT(place_.announced());
  if (place_.state == State::commit || place_.state == State::recovery) {
    PEAL_ASSERT(attempt_.committed() == attempt_.agreement().view);
    PEAL_ASSERT(!timers_.armed(Timer::consensus));
    PEAL_ASSERT(timers_.armed(Timer::silence) || PEAL_MUTANT(token_retx_never));
  }
  PEAL_ASSERT(place_.announced() == installed_once_);
}

}  // namespace peal::order::evs
