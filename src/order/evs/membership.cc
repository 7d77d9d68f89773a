// SPDX-License-Identifier: Apache-2.0
#include "order/evs/membership.h"

#include <algorithm>

#include "base/digest.h"
#include "base/hooks.h"

namespace peal::order::evs {
namespace {

// A control frame may be as large as a datagram. A few buffers are enough: the transport takes each
// at once, and the membership keeps only the last packet sent with send_tracked().
constexpr std::uint32_t kControlBuffers = 64;

// One may be lost, and one may reach a receiver that still discards packets from its own pause.
constexpr std::int64_t kRetransmissionsAfterPause = 3;

}  // namespace

Membership::Membership(const Settings& settings, Protocol& protocol)
    : settings_(settings),
      protocol_(protocol),
      control_(std::make_unique<BufferPool>(static_cast<std::uint32_t>(wire::kPacketBytesMax),
                                            kControlBuffers)),
      random_(settings.seed),
      self_(settings.self) {
  PEAL_ASSERT(settings_.self.node.value != 0 && settings_.self.epoch != 0);
  PEAL_ASSERT(settings_.nodes.hash != 0);
  know_peers();
  PEAL_ASSERT(peers_.size() + 1 == settings_.nodes.nodes.size());
  view_ = ViewId{0, self_};
  members_ = {self_};
  view_number_max_ = join_number_ = settings_.first_count;
}

void Membership::start(Instant now, Effects& out) {
  PEAL_ASSERT(protocol_.commit_format().is_sound());
  processes_ = {self_};
  shift_to_gather(now, &gather::boot, {}, out);
}

void Membership::on_timer(Instant now, Timer timer, Effects& out) {
  switch (timer) {
    case Timer::silence: on_silence(now, out); return;
    case Timer::resend: resend(now, out); return;
    case Timer::join:
      if (state_ != State::gather) return;
      send_join(now, out);
      return;
    case Timer::consensus:
      if (state_ == State::gather) on_consensus_timeout(now, out);
      return;
    case Timer::probe: on_probe_timer(now, out); return;
    case Timer::trial: on_trial_timer(now, out); return;
    case Timer::engine_0:
    case Timer::engine_1:
    case Timer::engine_2:
    case Timer::engine_3:
    case Timer::engine_late:
    case Timer::count: break;
  }
  PEAL_ASSERT(false && "not a timer of the membership");
}

// The events have names from the ring: its sign of life is the token, or the commit token during an
// attempt.
void Membership::on_silence(Instant now, Effects& out) {
  if (PEAL_MUTANT(token_retx_never)) return;
  ++tally_.silences;
  out.report(
      {&event::token_lost, state_ == State::operational ? view_ : agreement_.view, {}, 0, 0});
  if (state_ == State::operational) {
    start_sets_from_view();
    shift_to_gather(now, long_pause_ ? &gather::pause : &gather::token_loss, {}, out);
    return;
  }
  // A failed attempt keeps both sets: they are still true, and the episode must end.
  PEAL_PROBE("membership.attempt_lost");
  shift_to_gather(now, &gather::commit_loss, {}, out);
}

void Membership::on_pause(Instant now, Duration gap, Effects& out) {
  out.report({&event::paused, view_, {}, static_cast<std::uint64_t>(gap.ns), 0});
  give_up_trial(now);
  if (state_ == State::gather) {
    // Nobody is accused because this process was paused.
    if (!agreed_) timers_.arm(Timer::consensus, now + settings_.consensus);
    timers_.arm(Timer::join, now);
    return;
  }
  // If the whole machine was paused, so were the other members: wait for a sign of life as long as
  // a few retransmissions take. If only this member was paused, the others have gone on without it.
  const std::optional<Instant> due = timers_.at(Timer::silence);
  const Instant at = now + settings_.resend * kRetransmissionsAfterPause;
  if (!due || *due >= at) return;
  timers_.arm(Timer::silence, at);
  long_pause_ = gap >= settings_.silence;
}

void Membership::leave(Instant now, Effects& out) {
  if (left_) return;
  if (state_ == State::operational) protocol_.flush(out);
  if (members_.size() > 1 || state_ != State::operational) {
    for (int copy = 0; copy < 3; ++copy) send_join(now, out, /*leaving=*/true);
  }
  left_ = true;
  protocol_.abandon();
  timers_.cancel_all();
  last_sent_.reset();
}

void Membership::regather(Instant now, const GatherReason* reason, const MemberId& suspect,
                          Effects& out) {
  if (state_ == State::operational) start_sets_from_view();
  if (suspect != MemberId{} && suspect != self_) {
    insert(processes_, suspect);
    insert(failed_, suspect);
  }
  shift_to_gather(now, reason, suspect, out);
}

void Membership::accuse(Instant now, const MemberId& member, const GatherReason* reason,
                        Effects& out) {
  out.report({&event::member_accused, view_, member, 0, 0, reason});
  note_accuser(member, self_);
  regather(now, reason, member, out);
}

void Membership::installed(Instant now, const Agreement& agreement, Effects& out) {
  PEAL_ASSERT(state_ == State::recovery);
  PEAL_ASSERT(agreement.view.number > view_.number);
  for (const MemberId& member : failed_) {
    Peer* known = peer(member.node);
    if (known == nullptr || superseded(member)) continue;
    doubt(now, *known, member);
  }
  for (const MemberId& member : agreement.members) trust(member);
  view_ = agreement.view;
  members_ = agreement.members;
  for (Peer& known : peers_) {
    if (contains(members_, {known.node, known.newest})) known.deaf = 0;
  }
  index_ = agreement.index;
  state_ = State::operational;
  installed_once_ = true;
  episode_ = false;
  all_have_next_ = false;
  confirmed_ = confirmed_ || primary_of(members_) == Primary::yes;
  start_sets_from_view();
  resent_ = resent_score_ = 0;
  timers_.cancel(Timer::join);
  timers_.cancel(Timer::consensus);
  // The attempt needs no more signs of life; the protocol handles those of the view.
  timers_.cancel(Timer::silence);
  timers_.cancel(Timer::resend);
  last_sent_.reset();
  ++tally_.views_installed;
  out.report({&event::view_installed,
              view_,
              {},
              members_.size(),
              static_cast<std::uint64_t>((now - gather_since_).ns)});
}

void Membership::start_sets_from_view() {
  processes_ = members_;
  drop_strangers(processes_);
  failed_.clear();
}

void Membership::send_tracked(Instant now, const MemberId& to, const BufferRef& packet,
                              Effects& out, Duration extra) {
  note_pass(now, to);
  last_sent_to_ = to;
  last_sent_ = packet;
  timers_.arm(Timer::resend, now + settings_.resend + extra);
  out.send(to.node, Lane::token, packet);
}

void Membership::end_extra(Instant now) {
  const auto due = timers_.at(Timer::resend);
  const Instant usual = now + settings_.resend;
  if (due && *due > usual) timers_.arm(Timer::resend, usual);
}

void Membership::resend_overdue(Instant now, Effects& out) {
  const auto due = timers_.at(Timer::resend);
  if (due && *due > now + settings_.resend) resend(now, out);
}

void Membership::resend(Instant now, Effects& out) {
  if (!last_sent_ || state_ == State::gather) return;
  if (PEAL_MUTANT(token_retx_never)) return;
  ++tally_.resent;
  ++resent_;
  out.report({&event::token_retransmitted, view_, last_sent_to_, 0, 0});
  timers_.arm(Timer::resend, now + settings_.resend);
  out.send(last_sent_to_.node, Lane::token, last_sent_);
}

Primary Membership::primary_of(std::span<const MemberId> members) const {
  if (!settings_.majority) return Primary::unclaimed;
  if (PEAL_MUTANT(primary_always)) return Primary::yes;
  const std::size_t counted = members.size() * 2 + (PEAL_MUTANT(primary_of_half) ? 1 : 0);
  return counted > settings_.nodes.nodes.size() ? Primary::yes : Primary::no;
}

MemberSet Membership::awaited() const {
  if (state_ != State::gather) return {};
  return set_minus(candidates(), consensus_);
}

Membership::Peer* Membership::peer(NodeId node) {
  const auto at = std::lower_bound(peers_.begin(), peers_.end(), node,
                                   [](const Peer& a, NodeId b) { return a.node < b; });
  return at == peers_.end() || at->node != node ? nullptr : &*at;
}
const Membership::Peer* Membership::peer(NodeId node) const {
  return const_cast<Membership*>(this)->peer(node);
}

bool Membership::superseded(const MemberId& member) const {
  if (member.node == self_.node) return member.epoch < self_.epoch;
  const Peer* known = peer(member.node);
  return known != nullptr && known->newest > member.epoch;
}

bool Membership::muted(Instant now, const MemberId& member) const {
  const Peer* known = peer(member.node);
  return known != nullptr && known->excluded == member && !PEAL_MUTANT(damping_absent) &&
         (now < known->muted_until || PEAL_MUTANT(muted_for_ever));
}

void Membership::mark_heard(Instant now, const MemberId& member) {
  Peer* known = peer(member.node);
  PEAL_ASSERT(known != nullptr);
  known->heard = now;
  known->was_heard = true;
}

MemberSet Membership::heard_now(Instant now) const {
  MemberSet heard;
  for (const Peer& known : peers_) {
    if (known.was_heard && now - known.heard <= settings_.probe * 3) {
      heard.push_back({known.node, known.newest});
    }
  }
  return heard;
}

std::uint64_t Membership::digest() const {
  Digest digest;
  const auto add_member = [&](const MemberId& m) {
    digest.add(m.node.value);
    digest.add(m.epoch);
  };
  const auto add_set = [&](const MemberSet& set) {
    digest.add(set.size());
    for (const MemberId& m : set) add_member(m);
  };
  digest.add(static_cast<std::uint64_t>(state_));
  add_member(self_);
  digest.add(view_.number);
  add_member(view_.representative);
  add_set(members_);
  digest.add(list());
  digest.add(next_list());
  digest.add((all_have_next_ ? 2U : 0U) + (confirmed_ ? 1U : 0U));
  digest.add(committed_.number);
  digest.add(view_number_max_);
  add_set(processes_);
  add_set(failed_);
  add_set(consensus_);
  digest.add(join_number_);
  digest.add((agreed_ ? 1U : 0U) + (trial_.active ? 2U : 0U));
  digest.add(trial_.number);
  digest.add(resent_score_);
  const auto next = timers_.next();
  digest.add(next.has_value() ? static_cast<std::uint64_t>(next->ns) : 0);
  return digest.value();
}

void Membership::check_invariants() const {
  if (left_) return;
  PEAL_ASSERT(contains(processes_, self_) && !contains(failed_, self_));
  PEAL_ASSERT(is_subset(failed_, processes_));
  PEAL_ASSERT(!candidates().empty());
  PEAL_ASSERT(members_[index_] == self_);
  PEAL_ASSERT(view_.number <= committed_.number || view_.number == 0);
  if (state_ == State::operational) PEAL_ASSERT(announced());
}

}  // namespace peal::order::evs
