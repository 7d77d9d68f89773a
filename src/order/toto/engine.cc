// SPDX-License-Identifier: Apache-2.0
#include "order/toto/engine.h"

#include <algorithm>

#include "base/assert.h"
#include "base/digest.h"
#include "base/hooks.h"
#include "order/toto/explanation.h"
#include "order/toto/timers.h"
#include "order/toto/vocabulary.h"

namespace peal::order::toto {
namespace {

using evs::State;
using evs::Timer;

/// Packets between two looks at what is stable, while no window is full.
constexpr std::uint32_t kChangesBetween = 16;

evs::Settings settings_of(const Config& config) {
  const Options& o = config.options;
  evs::Settings s;
  s.self = config.self;
  s.nodes = {config.list, config.universe};
  s.cluster = config.cluster;
  s.checksum = config.checksum;
  s.seed = config.seed;
  s.silence = o.fault;
  s.resend = o.resend();
  s.join = o.join();
  s.consensus = o.consensus();
  s.probe = o.probe();
  s.damping = o.damping();
  s.damping_max = o.damping_max();
  s.packet_bytes_max = o.packet_bytes_max;
  s.first_count = config.first_count;
  s.majority = o.primary == PrimaryRule::majority;
  return s;
}

}  // namespace

std::unique_ptr<Engine> make_engine(const Config& config, BufferPool& packets, Host& host) {
  PEAL_ASSERT(validate(config.options).empty());
  PEAL_ASSERT(packets.slab_bytes() >= config.options.packet_bytes_max);
  return std::make_unique<TotoEngine>(config, packets, host);
}

TotoEngine::TotoEngine(const Config& config, BufferPool& packets, Host& host)
    : options_(config.options),
      checksum_(config.checksum),
      cluster_(config.cluster),
      pool_(packets),
      host_(host),
      first_(config.first_count),
      membership_(settings_of(config), *this),
      timers_(membership_.timers()),
      limits_{options_.packet_bytes_max},
      parts_{options_, pool_, host_, membership_, timers_, limits_, graph_, counts_},
      outlet_(parts_),
      sender_(parts_, outlet_),
      repair_(parts_),
      watch_(parts_),
      recovery_(parts_, repair_, first_),
      refused_(parts_) {
  counters_.reserve(64);
  begin_view();
}

void TotoEngine::start(Instant now, Effects& out) { membership_.start(now, out); }

/// The classes of the view that the membership is in now.
void TotoEngine::begin_view() {
  const std::size_t members = membership_.members().size();
  graph_.begin(members, membership_.index(), options_.capacity(), first_);
  outlet_.begin_view(win_of(options_.win, members), options_.capacity());
  sender_.begin_view();
  repair_.begin_view();
  refused_.begin_view();
}

// ---- timers ----

void TotoEngine::on_timer(Instant now, Effects& out) {
  for (int i = 0; i < static_cast<int>(Timer::count); ++i) {
    const auto timer = static_cast<Timer>(i);
    if (membership_.left() || !timers_.take_due(timer, now)) continue;
    switch (timer) {
      case Timer::silence:
      case Timer::resend:
      case Timer::join:
      case Timer::consensus:
      case Timer::trial:
      case Timer::probe: membership_.on_timer(now, timer, out); break;
      case kTurnTimer:
      case kAckTimer: turn(now, out); break;
      case kLacksTimer: repair_.on_timer(now, out); break;
      case kStatusTimer:
        full_told_ = outlet_.held();
        watch_.on_timer(now, full_told_, out);
        break;
      case kRecoveryGuardTimer: recovery_.on_guard(now, out); break;
      case Timer::count: PEAL_ASSERT(false && "unknown timer");
    }
  }
}

std::optional<Instant> TotoEngine::next_deadline() const { return timers_.next(); }

// ---- a turn ----

/// Something has changed: a turn follows if it has something to do.
void TotoEngine::want_turn(Instant now) {
  if (!parts_.operational() || !open_ || timers_.armed(kTurnTimer)) return;
  if (sender_.is_blocked() || ++changes_ >= kChangesBetween) {
    changes_ = 0;
    graph_.discard_stable();
  }
  if (sender_.has_work() || outlet_.held() != full_told_) timers_.arm(kTurnTimer, now);
}

/// Lets stored nodes join the graph, as long as the application takes what they decide.
void TotoEngine::join_nodes(Effects& out) {
  Joined joined;
  while (!outlet_.held() && graph_.join(joined)) {
    outlet_.on_joined(joined, out);
    sender_.on_joined(joined);
  }
}

void TotoEngine::turn(Instant now, Effects& out) {
  if (!parts_.operational() || !open_) return;
  sender_.turn(now, out);
  if (outlet_.held() != full_told_) {
    // The others must not take the missing acknowledgements for a fault.
    full_told_ = outlet_.held();
    watch_.send_status(full_told_, out);
  }
}

// ---- calls of the node ----

void TotoEngine::on_work(Instant now, Effects& out) {
  if (membership_.left() || !parts_.operational()) return;
  if (outlet_.held() && host_.receive_room_units() > 0) {
    outlet_.release(out);
    join_nodes(out);
  }
  want_turn(now);
}

void TotoEngine::on_pause(Instant now, Duration gap, Effects& out) {
  if (membership_.left()) return;
  // After a pause shorter than the fault timeout, packets waiting in the sockets are still valid.
  if (gap >= options_.fault) {
    stale_input_ = true;
    sender_.doubt_view();
  }
  if (parts_.operational() && open_) watch_.on_pause(now);
  membership_.on_pause(now, gap, out);
}

void TotoEngine::on_drained(Instant /*now*/, Effects& /*out*/) { stale_input_ = false; }

void TotoEngine::leave(Instant now, Effects& out) { membership_.leave(now, out); }

void TotoEngine::set_nodes(Instant now, const NodeList& nodes, Effects& out) {
  membership_.set_nodes(now, nodes, out);
  if (membership_.left() || !parts_.operational() || !open_) return;
  watch_.send_status(outlet_.held(), out);
  watch_.on_list(now, out);
}

NodesWait TotoEngine::nodes_wait() const {
  return parts_.operational() && open_ ? watch_.list_waits() : membership_.lists().adoption_waits();
}

// ---- evs::Protocol ----

void TotoEngine::abandon() {
  open_ = false;
  outlet_.restore_limit();
  recovery_.abandon();
}

void TotoEngine::fold_options(wire::CommitOptions& options) const {
  std::uint32_t bytes = options_.packet_bytes_max;
  if (!options.empty()) bytes = std::min(bytes, decode_options(options).packet_bytes_max);
  options = encode(ViewOptions{bytes});
}

void TotoEngine::recover(Instant now, const evs::Agreement& agreement, Effects& out) {
  recovery_.begin(now, agreement, out);
  outlet_.lift_limit();
  outlet_.release(out);
  join_nodes(out);
  graph_.discard_stable();  // makes room for the nodes of the union
}

void TotoEngine::lead_recovery(Instant now, Effects& out) {
  recovery_.lead();
  visit(now, out);
}

void TotoEngine::install_alone(Instant now, Effects& out) {
  install(now, out);
  open(now, out);
}

/// The PASS is here.
void TotoEngine::visit(Instant now, Effects& out) {
  membership_.note_life(now);
  membership_.tracked().arrived();
  if (recovery_.mark(now, out)) install(now, out);
  if (recovery_.is_overdue(now)) {
    recovery_.on_guard(now, out);
    if (membership_.state() != State::recovery) return;
  }
  if (parts_.operational() && !open_ && recovery_.all_installed()) open(now, out);
  if (open_) timers_.cancel(Timer::silence);  // from now on, the watch looks for silent members
  if (!recovery_.is_over()) recovery_.pass_on(now, out);
}

void TotoEngine::install(Instant now, Effects& out) {
  const evs::Agreement agreement = recovery_.agreement();
  const auto announce = [&](bool transitional) {
    View view;
    view.transitional = transitional;
    view.id = agreement.view;
    if (transitional) view.old = membership_.view();
    view.members = transitional ? agreement.old_view.survivors : agreement.members;
    view.primary = membership_.lists().primary_of(view.members);
    out.install(view);
  };
  const bool announced = membership_.place().announced();
  outlet_.finish(
      recovery_.survivors(),
      [&] {
        if (announced) announce(true);
      },
      out);
  recovery_.end();
  limits_ = decode_options(agreement.options);
  membership_.installed(now, agreement, out);
  membership_.note_life(now);
  begin_view();
  announce(false);
  if (PEAL_MUTANT(tt_open_at_once) && !parts_.alone()) open(now, out);
}

/// Every member has installed the view: this one may send nodes.
void TotoEngine::open(Instant now, Effects& out) {
  PEAL_ASSERT(parts_.operational() && !open_);
  open_ = true;
  timers_.cancel(Timer::silence);
  full_told_ = false;
  watch_.begin(now, false, out);
  want_turn(now);
}

// ---- status ----

WaitReason TotoEngine::why() const {
  switch (membership_.state()) {
    case State::gather: {
      WaitReason reason{&wait::gathering, {}, 0};
      reason.all = membership_.awaited();
      if (!reason.all.empty()) reason.who = reason.all.front();
      return reason;
    }
    case State::commit: return {&wait::gathering, {}, 0};
    case State::recovery: return {&wait::recovering, recovery_.blocker(), 0};
    case State::operational: break;
  }
  if (MemberSet deaf = membership_.deaf_peers(); !deaf.empty()) {
    const MemberId first = deaf.front();
    return {&wait::not_heard, first, 0, 0, std::move(deaf)};
  }
  return open_ ? explain(parts_, outlet_, sender_, watch_) : WaitReason{&wait::opening, {}, 0};
}

std::span<const Counter> TotoEngine::counters() const {
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
  add("silences", tally.silences);
  add("resent", tally.resent);
  add("unsendable", tally.unsendable);
  add("units_sent", counts_.units_sent);
  add("controls_sent", counts_.controls_sent);
  add("statuses_sent", counts_.statuses_sent);
  add("nodes_received", counts_.nodes_received);
  add("duplicates", counts_.duplicates);
  add("requested", counts_.requested);
  add("retransmitted", counts_.retransmitted);
  add("delivered", counts_.delivered);
  add("activations", counts_.activations);
  add("order_steps", outlet_.order().steps());
  add("refused", graph_.refused());
  add("stalls", counts_.stalls);
  add("recovery_guards", counts_.guards);
  add("no_buffer", counts_.no_buffer);
  for (std::size_t i = 1; i < tally.drops.size(); ++i) {
    add(wire::drop_name(static_cast<wire::Drop>(i)), tally.drops[i]);
  }
  return counters_;
}

void TotoEngine::check_invariants() const {
  membership_.check_invariants();
  graph_.check_invariants();
  outlet_.check_invariants();
  sender_.check_invariants();
  recovery_.check_invariants();
  if (open_) PEAL_ASSERT(parts_.operational() || membership_.left());
}

std::uint64_t TotoEngine::digest() const {
  Digest digest;
  digest.add(membership_.digest());
  graph_.add_to(digest);
  outlet_.add_to(digest);
  recovery_.add_to(digest);
  digest.add(open_ ? 1 : 0);
  return digest.value();
}

}  // namespace peal::order::toto
