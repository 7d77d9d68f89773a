// SPDX-License-Identifier: Apache-2.0
// Link trials. The return of an excluded member ends the current view. So an excluded member may
// return only after it has passed a link trial. Without trials, the view would invite an excluded
// member as soon as some of its packets arrive again. If the link is bad, the member would return
// and be excluded again and again, and each return would end a view.
//
// A trial has four parts: small and large packets, on the control lane and on the data lane. The
// member that begins the trial sends 32 ASKs in each part, and the other member echoes each ASK. A
// link that loses 5 % of the packets in both directions passes a trial with a probability of 0.9. A
// link that loses 30 % in one direction passes with a probability of 0.0002. A member begins one
// trial at a time. A member answers only ASKs: each ASK once, to its sender, with a packet of the
// same size. So an attacker cannot amplify packets.
//
// If one member accused another because of the link between them, only the accuser tests the
// accused member, as long as the accuser is in the view. The links between the accused member and
// the other members may work. If these members tested their links, they would invite the accused
// member at once. The bad link would soon exclude the accused member again, and the view would have
// ordered little.
//
// Inside a view, a member starts a trial only if it retransmits to its successor too often, or if
// nothing advances because a member misses packets. The member that it tests first is the suspect.
// If enough echoes return, the suspect is accused only if it is at fault for a stall. If too few
// return, the testing member makes a second trial with another member. If enough echoes return from
// the other member, the link with the suspect is bad, so the suspect is accused. Otherwise the
// testing member's own links or the whole network may be bad. Then the suspect is accused only if
// it is at fault for a stall. In a view of two members there is no other member, so the suspect is
// accused after the first trial.

#include "order/evs/link_trial.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::evs {
namespace {

constexpr std::uint32_t kAsks = 32;  // number of ASKs in each part of a trial
static_assert(kAsks <= wire::kTrialAsksMax);
constexpr int kEchoesToComeIn = 26;
constexpr int kEchoesToStay = 24;
constexpr Duration kAskGap = milliseconds(1);
// A trial waits this number of retransmit timeouts for the last echoes.
constexpr std::int64_t kEchoWait = 5;

}  // namespace

// ---- why a trial begins ----

/// If `set` contains the accuser of `from`, only the accuser starts a trial. Otherwise at most two
/// members of `set` start trials: the first member, and one other member, which changes each
/// second. So the return of `from` does not depend on the links of one member, and a hundred
/// members do not test at the same time.
void LinkTrial::consider(Instant now, const MemberId& from, const MemberSet& set) {
  const Peer& known = *peers_.find(from.node);
  if (now < known.no_trial_before || peers_.is_left_to_accuser(known, set)) return;
  const std::size_t mine = index_in(set, p_.self);
  const auto second = static_cast<std::uint64_t>(now.ns / seconds(1).ns);
  if (known.accuser == p_.self || mine == 0 || mine == (from.node.value + second) % set.size()) {
    start(now, {from, false, {}, false, p_.place.view});
  }
}

void LinkTrial::suspect(Instant now, const MemberId& member, bool at_fault) {
  if (member != p_.self) start(now, {member, true, {}, at_fault, p_.place.view});
}

void LinkTrial::start(Instant now, const Subject& subject) {
  if (active_) return;
  PEAL_PROBE("membership.trial");
  PEAL_ASSERT(subject.with != p_.self);
  ++p_.tally.trials;
  ++number_;
  active_ = true;
  subject_ = subject;
  sent_ = 0;
  echoed_ = {};
  p_.timers.arm(Timer::trial, now);
}

// ---- the trial ----

LinkTrial::Verdict LinkTrial::on_timer(Instant now, Effects& out) {
  if (!active_) return {};
  if (sent_ >= kAsks) return end(now, out);
  wire::Trial ask;
  ask.number = number_;
  ask.to = subject_.with;
  ask.index = static_cast<std::uint8_t>(sent_++);
  for (std::uint8_t part = 0; part < wire::kTrialParts; ++part) {
    ask.part = part;
    ask.padding = wire::is_large(part) && p_.settings.packet_bytes_max > wire::kTrialBytes
                      ? static_cast<std::uint16_t>(p_.settings.packet_bytes_max - wire::kTrialBytes)
                      : std::uint16_t{0};
    send(ask, out);
  }
  const bool last = sent_ == kAsks;
  p_.timers.arm(Timer::trial, now + (last ? p_.settings.resend * kEchoWait : kAskGap));
  return {};
}

LinkTrial::Verdict LinkTrial::on_echo(Instant now, const MemberId& from, const wire::Trial& frame,
                                      Effects& out) {
  if (!active_ || from != subject_.with || frame.number != number_) return {};
  echoed_[frame.part] |= std::uint32_t{1} << frame.index;
  return echoes() >= kEchoesToComeIn ? end(now, out) : Verdict{};
}

void LinkTrial::on_passed(const MemberId& from, const MemberSet& set) {
  // `from` has tested the link with this member, and will send a JOIN soon. This member will accept
  // the JOIN without a trial, unless only the accuser of `from` may test the link with `from`.
  Peer& known = *peers_.find(from.node);
  if (!peers_.is_left_to_accuser(known, set)) known.doubtful = false;
}

/// This member was paused, so missing echoes do not show that the link is bad.
void LinkTrial::give_up(Instant now) {
  if (!active_) return;
  stop();
  tracked_.clear_suspicion(now);
}

void LinkTrial::stop() {
  active_ = false;
  p_.timers.cancel(Timer::trial);
}

int LinkTrial::echoes() const {
  int least = static_cast<int>(kAsks);
  for (std::uint8_t part = 0; part < wire::kTrialParts; ++part) {
    if (PEAL_MUTANT(trial_any_lane) && wire::lane_of(part) == Lane::data) continue;
    if (PEAL_MUTANT(trial_small_only) && wire::is_large(part)) continue;
    least = std::min(least, std::popcount(echoed_[part]));
  }
  return least;
}

LinkTrial::Verdict LinkTrial::end(Instant now, Effects& out) {
  PEAL_ASSERT(active_);
  const Subject subject = subject_;
  const int least = echoes();
  stop();
  Peer* known = peers_.find(subject.with.node);
  if (known == nullptr || known->newest != subject.with.epoch) return {};
  if (subject.in_view) return end_suspicion(now, subject, least >= kEchoesToStay);
  if (least < kEchoesToComeIn) {
    if (known->doubtful && !contains(p_.place.members, subject.with)) {
      peers_.doubt(now, *known, subject.with);
      known->no_trial_before = known->muted_until;
    }
    return {};
  }
  known->doubtful = false;
  wire::Trial passed;
  passed.step = wire::Trial::Step::passed;
  passed.number = number_;
  passed.to = subject.with;
  for (int copy = 0; copy < 3; ++copy) send(passed, out);
  return {Verdict::Kind::invite, subject.with};
}

LinkTrial::Verdict LinkTrial::end_suspicion(Instant now, const Subject& subject, bool stays) {
  tracked_.clear_score();
  if (PEAL_MUTANT(stall_without_trial)) stays = stays || subject.at_fault;
  if (!p_.place.operational() || subject.view != p_.place.view) {
    tracked_.clear_suspicion(now);  // the view has ended; no suspicion continues in the next view
    return {};
  }
  if (subject.suspect != MemberId{}) {
    // This was the second trial. If the tested member echoed enough, this member's own links work,
    // so the link with the suspect is bad. If too few echoes came, the cause is unknown. Then the
    // suspect is accused only if it is at fault for a stall, because a stall must end in any case.
    if (stays || subject.at_fault) return {Verdict::Kind::accuse, subject.suspect};
    return {};
  }
  if (stays) {
    if (subject.at_fault) return {Verdict::Kind::accuse, subject.with};
    return {};
  }
  const MemberSet& members = p_.place.members;
  const auto other = std::find_if(members.begin(), members.end(), [&](const MemberId& each) {
    return each != p_.self && each != subject.with;
  });
  if (other == members.end()) return {Verdict::Kind::accuse, subject.with};
  const MemberId& next = p_.place.predecessor() == subject.with ? *other : p_.place.predecessor();
  start(now, {next, true, subject.with, subject.at_fault, p_.place.view});
  return {};
}

// ---- packets ----

void LinkTrial::answer(const MemberId& from, wire::Trial ask, Effects& out) {
  PEAL_ASSERT(ask.step == wire::Trial::Step::ask);
  ask.step = wire::Trial::Step::echo;
  ask.to = from;
  send(ask, out);
}

void LinkTrial::send(const wire::Trial& frame, Effects& out) {
  const BufferRef packet = p_.frames.build(wire::kind_of(frame.part), frame, wire::encode_trial);
  if (packet) out.send(frame.to.node, wire::lane_of(frame.part), packet);
}

void LinkTrial::check_invariants() const {
  PEAL_ASSERT(active_ == p_.timers.armed(Timer::trial));
  PEAL_ASSERT(sent_ <= kAsks && (number_ != 0 || !active_));
  if (active_) PEAL_ASSERT(subject_.with != p_.self);
}

}  // namespace peal::order::evs
