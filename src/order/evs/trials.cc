// SPDX-License-Identifier: Apache-2.0
// Trials of links. A member that was left out of a view may break the next one only once a trial
// has shown that the link with it works: both ways, for small and large packets, on both lanes.
// Without trials, a member that is merely heard would be invited, and would break the view, again
// and again.
//
// The member that begins a trial sends 32 ASKs of each part, and the other one echoes each. A link
// that loses one packet in twenty both ways passes nine times in ten, a link that loses three in
// ten one way twice in ten thousand. A member makes one trial at a time. It answers nothing but an
// ASK, once, to its sender, with a packet of the same size, so a hostile packet gains nothing.
//
// If one member accused another for the link between them, that link is the one to try. The rest of
// the view would invite the accused at once, as its own links work, and the view would lose the
// accused again as soon as the bad link had shown, with little ordered in between.
//
// Inside a view, a link is tried only if what is sent to the next member has to be sent again too
// often, or if nothing moves because a member misses packets. If too few echoes come, another
// member is tried. If that one echoes enough, the first one is accused. If not, this member's own
// links are bad, or the whole network is: the view stays as it is.

#include <algorithm>
#include <bit>

#include "base/hooks.h"
#include "order/evs/membership.h"

namespace peal::order::evs {
namespace {

constexpr std::uint32_t kAsks = 32;  // of each part
static_assert(kAsks <= wire::kTrialAsksMax);
constexpr int kEchoesToComeIn = 26;
constexpr int kEchoesToStay = 24;
constexpr Duration kAskGap = milliseconds(1);
// The last echoes may take so many times as long as what was sent waits for a sign of life.
constexpr std::int64_t kEchoWait = 5;
constexpr Duration kSuspectGap = seconds(2);

// Retransmissions to one successor: each send_tracked() forgets a sixteenth and adds at most
// four. A link that loses 30 % both ways comes to 8, one that loses 5 % to 1.6.
constexpr std::uint32_t kScale = 16;
constexpr std::uint32_t kResentMax = 4;
constexpr std::uint32_t kSuspicion = 3 * kScale;

}  // namespace

bool Membership::is_doubtful(const MemberId& member) const {
  const Peer* known = peer(member.node);
  return known != nullptr && known->doubtful && known->excluded == member &&
         !PEAL_MUTANT(trial_skipped);
}

void Membership::trust(const MemberId& member) {
  Peer* known = peer(member.node);
  if (known == nullptr || known->newest != member.epoch) return;
  known->doubtful = false;
  known->accuser = {};
}

void Membership::note_accuser(const MemberId& member, const MemberId& accuser) {
  Peer* known = peer(member.node);
  if (known == nullptr || known->newest != member.epoch) return;
  // Others say what this member said first: it would be left to them, and they leave it to this
  // one.
  if (known->accuser == self_ && accuser != MemberId{}) return;
  known->accuser = accuser;
}

/// Only its accuser, which is with us, can tell whether the link that was bad works again.
bool Membership::left_to_accuser(const Peer& known) const {
  if (known.accuser == MemberId{} || known.accuser == self_) return false;
  if (PEAL_MUTANT(accuser_not_asked)) return false;
  return contains(state_ == State::operational ? members_ : processes_, known.accuser);
}

/// Leaves it out for longer each time, and until a trial of the link passes.
void Membership::doubt(Instant now, Peer& known, const MemberId& member) {
  const bool at_peace = known.excluded != member || now - known.excluded_at > seconds(60);
  const bool passed_before = known.excluded == member && !known.doubtful;
  known.exclusions = at_peace ? 1 : std::min(known.exclusions + 1, 30U);
  known.excluded = member;
  known.excluded_at = now;
  known.doubtful = !(PEAL_MUTANT(trial_kept) && passed_before);
  const Duration mute = std::min(settings_.damping * (std::int64_t{1} << (known.exclusions - 1)),
                                 settings_.damping_max);
  known.muted_until = now + mute;
}

/// Its accuser tries it, or else two members do, so that not a hundred do at once. One of the two
/// changes each second, so that coming back does not depend on one member's links.
void Membership::consider(Instant now, const MemberId& from) {
  const Peer& known = *peer(from.node);
  if (now < known.no_trial_before || left_to_accuser(known)) return;
  const MemberSet& set = state_ == State::operational ? members_ : processes_;
  const std::size_t mine = index_in(set, self_);
  const auto second = static_cast<std::uint64_t>(now.ns / seconds(1).ns);
  if (known.accuser == self_ || mine == 0 || mine == (from.node.value + second) % set.size())
    start_trial(now, from, false);
}

void Membership::start_trial(Instant now, const MemberId& with, bool in_view) {
  if (trial_.active) return;
  PEAL_PROBE("membership.trial");
  ++tally_.trials;
  const std::uint64_t number = trial_.number + 1;
  trial_ = Trial{};
  trial_.active = true;
  trial_.in_view = in_view;
  trial_.number = number;
  trial_.with = with;
  trial_.view = view_;
  timers_.arm(Timer::trial, now);
}

void Membership::send_trial(wire::Trial frame, Effects& out) {
  const BufferRef packet = build(wire::kind_of(frame.part), frame, wire::encode_trial);
  if (packet) out.send(frame.to.node, wire::lane_of(frame.part), packet);
}

void Membership::on_trial_timer(Instant now, Effects& out) {
  if (!trial_.active) return;
  if (trial_.sent >= kAsks) return end_trial(now, out);
  wire::Trial ask;
  ask.number = trial_.number;
  ask.to = trial_.with;
  ask.index = static_cast<std::uint8_t>(trial_.sent++);
  for (std::uint8_t part = 0; part < wire::kTrialParts; ++part) {
    ask.part = part;
    ask.padding = wire::is_large(part) && settings_.packet_bytes_max > wire::kTrialBytes
                      ? static_cast<std::uint16_t>(settings_.packet_bytes_max - wire::kTrialBytes)
                      : std::uint16_t{0};
    send_trial(ask, out);
  }
  const bool last = trial_.sent == kAsks;
  timers_.arm(Timer::trial, now + (last ? settings_.resend * kEchoWait : kAskGap));
}

int Membership::echoes() const {
  int least = static_cast<int>(kAsks);
  for (std::uint8_t part = 0; part < wire::kTrialParts; ++part) {
    if (PEAL_MUTANT(trial_any_lane) && wire::lane_of(part) == Lane::data) continue;
    if (PEAL_MUTANT(trial_small_only) && wire::is_large(part)) continue;
    least = std::min(least, std::popcount(trial_.echoed[part]));
  }
  return least;
}

void Membership::on_trial(Instant now, const MemberId& from, wire::Trial& frame, Effects& out) {
  if (frame.to != self_) return tally_.drop(wire::Drop::stale);
  switch (frame.step) {
    case wire::Trial::Step::ask:
      frame.step = wire::Trial::Step::echo;
      frame.to = from;
      send_trial(frame, out);
      return;
    case wire::Trial::Step::echo:
      if (!trial_.active || from != trial_.with || frame.number != trial_.number) return;
      trial_.echoed[frame.part] |= std::uint32_t{1} << frame.index;
      if (echoes() >= kEchoesToComeIn) end_trial(now, out);
      return;
    case wire::Trial::Step::passed:
      // It is about to come with a JOIN, which damping does not hold up.
      if (Peer& known = *peer(from.node); !left_to_accuser(known)) known.doubtful = false;
      return;
  }
}

void Membership::end_trial(Instant now, Effects& out) {
  const Trial trial = trial_;
  const int least = echoes();
  trial_.active = false;
  timers_.cancel(Timer::trial);
  Peer* known = peer(trial.with.node);
  if (known == nullptr || known->newest != trial.with.epoch) return;
  if (trial.in_view) return end_suspicion(now, trial, least >= kEchoesToStay, out);
  if (least < kEchoesToComeIn) {
    if (known->doubtful && !contains(members_, trial.with)) {
      doubt(now, *known, trial.with);
      known->no_trial_before = known->muted_until;
    }
    return;
  }
  known->doubtful = false;
  wire::Trial passed;
  passed.step = wire::Trial::Step::passed;
  passed.number = trial.number;
  passed.to = trial.with;
  for (int copy = 0; copy < 3; ++copy) send_trial(passed, out);
  const bool operational = state_ == State::operational;
  if (!operational && state_ != State::gather) return;
  if (contains(operational ? members_ : processes_, trial.with)) return;
  if (operational) start_sets_from_view();
  if (processes_.size() >= wire::kProcessesMax) return;
  insert(processes_, trial.with);
  shift_to_gather(now, &gather::foreign, trial.with, out);
}

/// This member was paused: echoes that did not come say nothing about the link.
void Membership::give_up_trial(Instant now) {
  if (!trial_.active) return;
  trial_.active = false;
  timers_.cancel(Timer::trial);
  resent_score_ = 0;
  suspect_again_ = now;
}

// ---- inside a view ----

void Membership::note_pass(Instant now, const MemberId& to) {
  if (state_ != State::operational) return;
  if (to != last_sent_to_) {
    resent_score_ = resent_ = 0;
    return;
  }
  resent_score_ += std::min(resent_, kResentMax) * kScale - resent_score_ / kScale;
  resent_ = 0;
  if (resent_score_ < kSuspicion || now < suspect_again_ || trial_.active) return;
  if (PEAL_MUTANT(resends_not_counted)) return;
  PEAL_PROBE("membership.successor_suspected");
  suspect_again_ = now + kSuspectGap;
  start_trial(now, to, true);
}

void Membership::suspect(Instant now, const MemberId& member, bool at_fault) {
  if (trial_.active || member == self_) return;
  start_trial(now, member, true);
  trial_.at_fault = at_fault;
}

void Membership::end_suspicion(Instant now, const Trial& trial, bool stays, Effects& out) {
  resent_score_ = 0;
  if (PEAL_MUTANT(stall_without_trial)) stays = stays || trial.at_fault;
  if (state_ != State::operational || trial.view != view_) {
    suspect_again_ = now;  // the view has ended: in the next one, the next sign is as good
    return;
  }
  if (trial.suspect != MemberId{}) {
    // If another echoes enough, it is not this member that cannot be heard, or does not hear. If
    // not, a stall must end all the same; whoever knows better has said so by now.
    if (stays || trial.at_fault) accuse_for_link(now, trial.suspect, out);
    return;
  }
  if (stays) {
    if (trial.at_fault) accuse_for_link(now, trial.with, out);
    return;
  }
  const auto other = std::find_if(members_.begin(), members_.end(), [&](const MemberId& each) {
    return each != self_ && each != trial.with;
  });
  if (other == members_.end()) return accuse_for_link(now, trial.with, out);
  start_trial(now, predecessor() == trial.with ? *other : predecessor(), true);
  trial_.suspect = trial.with;
  trial_.at_fault = trial.at_fault;
}

void Membership::accuse_for_link(Instant now, const MemberId& member, Effects& out) {
  if (!contains(members_, member)) return;
  PEAL_PROBE("membership.accused_for_link");
  out.report({&event::stall_excluded, view_, member, 0, 0});
  accuse(now, member, &gather::stall, out);
}

}  // namespace peal::order::evs
