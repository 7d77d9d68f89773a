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
      cluster_(config.cluster),
      pool_(packets),
      host_(host),
      membership_(settings_of(config), *this),
      timers_(membership_.timers()),
      first_(config.first_count),
      limits_{options_.packet_bytes_max, 1, options_.max_gap},
      parts_{options_, pool_, host_, membership_, timers_, limits_, token_, counts_},
      view_(parts_, 4 * options_.max_gap, first_),
      flow_(parts_),
      recovery_(parts_, view_, first_),
      requests_(parts_, view_, recovery_, flow_, first_),
      stall_(parts_, view_.stored(), first_),
      list_(parts_),
      rest_(parts_, flow_, list_),
      hops_(first_),
      token_seq_(first_) {
  counters_.reserve(64);
}

void RingEngine::start(Instant now, Effects& out) { membership_.start(now, out); }

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
      if (rest_.end_hold()) send_token(now, out);
      return;
    case kPaceTimer:
      if (rest_.end_pace()) send_token(now, out);
      return;
    case kHoldCancelTimer: rest_.request(now, out); return;
    case kVisitTimer:
      if (membership_.state() == State::operational && parts_.alone()) visit_alone(now, out);
      return;
    case kRecoveryGuardTimer: recovery_.on_guard(now, out); return;
    case Timer::count: break;
  }
  PEAL_ASSERT(false && "unknown timer");
}

std::optional<Instant> RingEngine::next_deadline() const { return timers_.next(); }

// ---- calls of the node ----

void RingEngine::on_work(Instant now, Effects& out) {
  if (membership_.left() || membership_.state() != State::operational) return;
  if (parts_.alone()) {
    if (!timers_.armed(kVisitTimer)) timers_.arm(kVisitTimer, now);
    return;
  }
  if (rest_.release()) {
    work_on_token(now, out);
  } else {
    rest_.on_work(now, out);
  }
}

void RingEngine::on_pause(Instant now, Duration gap, Effects& out) {
  if (membership_.left()) return;
  // If the pause was shorter than the token timeout, the packets in the sockets are still valid.
  stale_input_ = stale_input_ || gap >= options_.token_loss;
  flow_.spoil();
  membership_.on_pause(now, gap, out);
}

void RingEngine::on_drained(Instant /*now*/, Effects& /*out*/) { stale_input_ = false; }

void RingEngine::leave(Instant now, Effects& out) { membership_.leave(now, out); }

void RingEngine::set_nodes(Instant now, const NodeList& nodes, Effects& out) {
  membership_.set_nodes(now, nodes, out);
  list_.on_set();
  if (list_.wanted() && !membership_.left()) on_work(now, out);  // the token must carry the list
}

// ---- evs::Protocol ----

void RingEngine::flush(Effects& /*out*/) {
  // Each visit passes all its packets to the transport before the visit ends. So between two
  // inputs, no ordered packet is unsent.
}

void RingEngine::fold_options(wire::CommitOptions& options) const {
  // In the original ring, every packet up to the token's seq was sent before the token. So a member
  // can request a missing packet at once.
  const std::uint32_t lag =
      options_.accelerated_window == 0 ? 0 : std::max(options_.request_lag, 1U);
  const ViewOptions mine{options_.packet_bytes_max, lag, options_.max_gap};
  const ViewOptions theirs = options.empty() ? mine : decode_options(options);
  options = encode(ViewOptions{std::min(theirs.packet_bytes_max, mine.packet_bytes_max),
                               std::max(theirs.request_lag, mine.request_lag),
                               std::min(theirs.max_gap, mine.max_gap)});
}

// ---- status ----

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
              token_.recovery_block < recovery_.agreement().members.size()
                  ? recovery_.agreement().members[token_.recovery_block]
                  : MemberId{},
              0};
    case State::operational: break;
  }
  if (MemberSet deaf = membership_.deaf_peers(); !deaf.empty()) {
    const MemberId first = deaf.front();
    return {&wait::not_heard, first, 0, 0, std::move(deaf)};
  }
  const Seq next = view_.delivered() + 1;
  if (view_.delivered() < view_.stored().contiguous()) {
    return {&wait::stability, member_at(stall_.index()), next};
  }
  if (next <= view_.stored().high() || next <= token_seq_) return {&wait::packet, {}, next};
  if (!parts_.can_originate()) return {};
  if (flow_.is_blocked()) return {&wait::slow_application, member_at(flow_.credit_index()), 0};
  if (token_seq_ >= view_.safe_line() + limits_.max_gap) {
    return {&wait::window, member_at(stall_.index()), 0};
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
  add("global_window", flow_.global_window());
  add("personal_window", flow_.personal_window());
  add("accelerated_percent", flow_.accelerated().share_percent());
  for (std::size_t i = 1; i < tally.drops.size(); ++i) {
    add(wire::drop_name(static_cast<Drop>(i)), tally.drops[i]);
  }
  return counters_;
}

void RingEngine::check_invariants() const {
  membership_.check_invariants();
  view_.check_invariants();
  flow_.check_invariants();
  recovery_.check_invariants();
  requests_.check_invariants();
  list_.check_invariants();
  rest_.check_invariants();
  PEAL_ASSERT(hops_.last >= first_ && hops_.sent >= first_);
}

std::uint64_t RingEngine::digest() const {
  Digest digest;
  digest.add(membership_.digest());
  digest.add(hops_.last);
  digest.add(hops_.sent);
  view_.add_to(digest);
  digest.add(token_seq_);
  digest.add(counts_.delivered);
  digest.add(counts_.originated);
  digest.add(flow_.global_window());
  recovery_.add_to(digest);
  digest.add(rest_.holding() ? 1 : 0);
  return digest.value();
}

}  // namespace peal::order::ring
