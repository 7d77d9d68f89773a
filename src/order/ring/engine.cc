// SPDX-License-Identifier: Apache-2.0
#include "order/ring/engine.h"

#include <algorithm>

#include "base/digest.h"
#include "base/hooks.h"

namespace peal::order::ring {
namespace {

using evs::State;
using evs::Timer;
using wire::Drop;
using wire::FrameKind;

evs::Settings settings_of(const Config& config) {
  const Options& o = config.options;
  evs::Settings s;
  s.self = config.self;
  s.nodes = {config.list, config.universe};
  s.cluster = config.cluster;
  s.checksum = config.checksum;
  s.seed = config.seed;
  s.silence = o.token_loss;
  s.resend = o.token_retransmit;
  s.join = o.join;
  s.consensus = o.consensus;
  s.probe = o.probe;
  s.damping = o.damping;
  s.damping_max = o.damping_max;
  s.packet_bytes_max = o.packet_bytes_max;
  s.first_count = config.first_count;
  s.majority = o.primary == PrimaryRule::majority;
  return s;
}

}  // namespace

std::unique_ptr<Engine> make_engine(const Config& config, BufferPool& packets, Host& host) {
  PEAL_ASSERT(validate(config.options).empty());
  PEAL_ASSERT(packets.slab_bytes() >= config.options.packet_bytes_max);
  return std::make_unique<RingEngine>(config, packets, host);
}

RingEngine::RingEngine(const Config& config, BufferPool& packets, Host& host)
    : options_(config.options),
      checksum_(config.checksum),
      pool_(packets),
      host_(host),
      membership_(settings_of(config), *this),
      timers_(membership_.timers()),
      first_count_(config.first_count),
      packets_(4 * config.options.max_gap, config.first_count),
      r_(config.first_count),
      obligation_({config.self}),
      packet_bytes_max_(config.options.packet_bytes_max),
      max_gap_(config.options.max_gap) {
  counters_.reserve(64);
}

void RingEngine::start(Instant now, Effects& out) { membership_.start(now, out); }

// ---- packets ----

void RingEngine::on_packet(Instant now, Lane /*lane*/, const BufferRef& packet, Effects& out) {
  if (membership_.left()) return;
  wire::Header header;
  Drop reason = wire::decode_header(packet.view(), header, checksum_);
  if (reason == Drop::none && wire::is_paxos_kind(header.kind)) reason = Drop::unknown_kind;
  if (reason == Drop::bad_version) membership_.report_incompatible({}, reason, out);
  if (reason != Drop::none) {
    drop(reason);
    return;
  }
  if (!membership_.admit(now, header, out)) return;
  dispatch(now, header, packet, out);
}

void RingEngine::on_old_incarnation(Instant now, const MemberId& newest, Effects& out) {
  membership_.on_old_incarnation(now, newest, out);
}

void RingEngine::dispatch(Instant now, const wire::Header& header, const BufferRef& packet,
                          Effects& out) {
  const bool from_before = stale_input_ && header.kind != FrameKind::data;
  if (from_before) {
    drop(Drop::stale);
    return;
  }
  Drop reason = Drop::none;
  switch (header.kind) {
    case FrameKind::token:
      reason = wire::decode_token(packet.view(), arriving_);
      if (reason == Drop::none) on_token(now, header.sender, out);
      break;
    case FrameKind::data:
      if (wire::is_trial_of_data(packet.view())) {
        reason = membership_.on_frame(now, header, packet, out);
      } else {
        on_data(now, header.sender, packet, out);
      }
      break;
    case FrameKind::hold_cancel: {
      wire::HoldCancel cancel;
      reason = wire::decode_hold_cancel(packet.view(), cancel);
      if (reason == Drop::none && cancel.view == membership_.view() &&
          membership_.state() == State::operational) {
        r_.idle_rounds = 0;
        release_held(now, out);
      }
      break;
    }
    default: reason = membership_.on_frame(now, header, packet, out); break;
  }
  if (reason != Drop::none) drop(reason);
}

// ---- timers ----

void RingEngine::on_timer(Instant now, Effects& out) {
  for (int i = 0; i < static_cast<int>(Timer::count); ++i) {
    const auto timer = static_cast<Timer>(i);
    if (!membership_.left() && timers_.take_due(timer, now)) fire(now, timer, out);
  }
}

void RingEngine::fire(Instant now, Timer timer, Effects& out) {
  switch (timer) {
    case Timer::silence:
    case Timer::resend:
    case Timer::join:
    case Timer::consensus:
    case Timer::trial:
    case Timer::probe: membership_.on_timer(now, timer, out); return;
    case kHoldTimer:
      if (PEAL_MUTANT(hold_forever)) return;
      if (holding_) {
        holding_ = false;
        send_token(now, out);
      }
      return;
    case kPaceTimer:
      if (pacing_) {
        pacing_ = false;
        send_token(now, out);
      }
      return;
    case kHoldCancelTimer: cancel_hold(now, out); return;
    case kVisitTimer:
      if (membership_.state() == State::operational && alone()) visit_alone(now, out);
      return;
    case kRecoveryGuardTimer: on_guard(now, out); return;
    case Timer::count: break;
  }
  PEAL_ASSERT(false && "unknown timer");
}

std::optional<Instant> RingEngine::next_deadline() const { return timers_.next(); }

// ---- the node ----

void RingEngine::on_work(Instant now, Effects& out) {
  if (membership_.left() || membership_.state() != State::operational) return;
  if (alone()) {
    if (!timers_.armed(kVisitTimer)) timers_.arm(kVisitTimer, now);
    return;
  }
  if (holding_) {
    release_held(now, out);
    return;
  }
  if (r_.quiet && !timers_.armed(kHoldCancelTimer)) cancel_hold(now, out);
}

void RingEngine::on_pause(Instant now, Duration gap, Effects& out) {
  if (membership_.left()) return;
  // A short pause concluded nothing: whatever waits in the sockets is still true.
  stale_input_ = gap >= options_.token_loss;
  window_.spoil();
  membership_.on_pause(now, gap, out);
}

void RingEngine::on_drained(Instant /*now*/, Effects& /*out*/) { stale_input_ = false; }

void RingEngine::leave(Instant now, Effects& out) { membership_.leave(now, out); }

// ---- what people see ----

WaitReason RingEngine::why() const {
  const MemberSet& members = membership_.members();
  const auto member_at = [&](std::uint16_t index) {
    return index < members.size() ? members[index] : MemberId{};
  };
  switch (membership_.state()) {
    case State::gather: {
      WaitReason reason{&wait::gathering, {}, 0};
      reason.all = membership_.awaited();
      if (!reason.all.empty()) reason.who = reason.all.front();
      return reason;
    }
    case State::commit: return {&wait::gathering, {}, 0};
    case State::recovery:
      return {&wait::recovering,
              token_.recovery_block < repair_.agreement.members.size()
                  ? repair_.agreement.members[token_.recovery_block]
                  : MemberId{},
              0};
    case State::operational: break;
  }
  if (MemberSet deaf = membership_.deaf_peers(); !deaf.empty()) {
    const MemberId first = deaf.front();
    return {&wait::not_heard, first, 0, 0, std::move(deaf)};
  }
  const Seq next = r_.delivered + 1;
  if (r_.delivered < packets_.contiguous()) {
    return {&wait::stability, member_at(r_.stalled_index), next};
  }
  if (next <= packets_.high() || next <= r_.token_seq) return {&wait::packet, {}, next};
  if (!can_originate()) return {};
  if (r_.last_credit == 0 && r_.last_credit_index != wire::kNoIndex) {
    return {&wait::slow_application, member_at(r_.last_credit_index), 0};
  }
  if (r_.token_seq >= r_.safe_line + max_gap_) {
    return {&wait::window, member_at(r_.stalled_index), 0};
  }
  return {&wait::token, {}, 0};
}

std::span<const Counter> RingEngine::counters() const {
  const evs::Tally& tally = membership_.tally();
  counters_.clear();
  const auto add = [&](std::string_view name, std::uint64_t value) {
    counters_.push_back({name, value});
  };
  add("views_installed", tally.views_installed);
  add("gathers", tally.gathers);
  add("commits", tally.commits);
  add("lists_adopted", tally.lists_adopted);
  add("joins_sent", tally.joins_sent);
  add("joins_received", tally.joins_received);
  add("probes_sent", tally.probes_sent);
  add("trials", tally.trials);
  add("tokens_lost", tally.silences);
  add("tokens_retransmitted", tally.resent);
  add("unsendable", tally.unsendable);
  add("visits", counts_.visits);
  add("originated", counts_.originated);
  add("delivered", counts_.delivered);
  add("data_sent", counts_.sent);
  add("data_received", counts_.data_received);
  add("retransmitted", counts_.retransmitted);
  add("requested", counts_.requested);
  add("duplicates", counts_.duplicates);
  add("data_in_recovery", counts_.data_in_recovery);
  add("tokens_held", counts_.held);
  add("stalls", counts_.stalls);
  add("recovery_guards", counts_.guards);
  add("safe_line_fell", counts_.safe_line_fell);
  add("no_buffer", counts_.no_buffer);
  add("global_window", global_window_);
  add("personal_window", personal_window_);
  add("accelerated_percent", accelerated_.share_percent());
  for (std::size_t i = 1; i < tally.drops.size(); ++i) {
    add(wire::drop_name(static_cast<Drop>(i)), tally.drops[i]);
  }
  return counters_;
}

void RingEngine::check_invariants() const {
  membership_.check_invariants();
  PEAL_ASSERT(packets_.discarded() <= r_.delivered || PEAL_MUTANT(discard_too_early));
  PEAL_ASSERT(r_.delivered <= packets_.contiguous() || PEAL_MUTANT(deliver_out_of_order) ||
              PEAL_MUTANT(m8_recovered_forgotten));
  PEAL_ASSERT(packets_.contiguous() <= packets_.high());
  PEAL_ASSERT(contains(obligation_, membership_.self()) || membership_.view().number == 0);
  PEAL_ASSERT(!holding_ || membership_.state() == State::operational);
  PEAL_ASSERT(!(holding_ && pacing_));
}

std::uint64_t RingEngine::digest() const {
  Digest digest;
  digest.add(membership_.digest());
  for (const std::uint64_t value :
       {r_.last_hop, r_.sent_hop, r_.delivered, r_.safe_line, r_.token_seq, packets_.discarded(),
        packets_.contiguous(), packets_.high(), counts_.delivered, counts_.originated,
        std::uint64_t{global_window_}, repair_.last_hop}) {
    digest.add(value);
  }
  for (const MemberId& member : obligation_) digest.add(member.epoch);
  digest.add(holding_ ? 1 : 0);
  return digest.value();
}

}  // namespace peal::order::ring
