// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/engine.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// What is asked for at a time: its answer comes at once, and the buffers on the way must hold it.
constexpr std::uint32_t kAskedBytesMax = 96U << 10;

/// What one call does at most before it lets others have their turn.
constexpr int kPassesMax = 4;

/// In units of Options::suspect: a coordinator that has been less fit than another acceptor for so
/// long is missed by it.
constexpr std::int64_t kLessFitFor = 2;

/// Ahead of what is consumed there are the slowest member's instances, and after a restart those
/// that were consumed since the checkpoint before the last one.
std::uint32_t slots_max(const Options& options) {
  return options.max_gap + options.window + 2 * options.checkpoint_every;
}

/// What is kept of skipped instances may have to be written again with each checkpoint, so it is no
/// more than what is ordered between two of them.
std::uint64_t kept_bytes_max(const Options& options) {
  constexpr std::uint64_t kMost = 4U << 20;
  const std::uint64_t between = std::uint64_t{options.checkpoint_every} * options.packet_bytes_max;
  return std::min({options.history_bytes_max, between, kMost});
}

/// See wire::Nodes::lives.
std::uint64_t life_of(const Config& config) {
  if (config.storage == Storage::memory) return config.self.epoch;
  return config.log == nullptr ? 0 : config.log->id() | wire::kLogBit;
}

}  // namespace

std::unique_ptr<Ensemble> make_ensemble(const Config& config, BufferPool& packets, Host& host,
                                        MakeRoutes make_routes) {
  PEAL_ASSERT(validate(config.options).empty());
  PEAL_ASSERT(!config.options.optimistic || config.merger == nullptr);
  PEAL_ASSERT(packets.slab_bytes() >= config.options.packet_bytes_max);
  return std::make_unique<PaxosEngine>(config, packets, host, make_routes);
}

std::unique_ptr<Engine> make_engine(const Config& config, BufferPool& packets, Host& host,
                                    MakeRoutes make_routes) {
  return make_ensemble(config, packets, host, make_routes);
}

std::unique_ptr<Engine> make_engine(const Config& config, BufferPool& packets, Host& host) {
  return make_engine(config, packets, host, &make_broadcast);
}

PaxosEngine::PaxosEngine(const Config& config, BufferPool& packets, Host& host,
                         MakeRoutes make_routes)
    : config_(config),
      host_(host),
      state_(nodes_of({config_.nodes_hash, config_.universe, config_.acceptors})),
      given_({config_.nodes_hash, config_.universe, config_.acceptors}, join_lag(config_.options)),
      peers_(config_.self, life_of(config_), config_.options,
             link_rhythm(config_.merger != nullptr)),
      store_(slots_max(config_.options), config_.options.history_bytes_max),
      own_left_out_(
          config_.left_out != nullptr
              ? nullptr
              : std::make_unique<LeftOut>(2 * config_.options.history_bytes_max, config_.owed)),
      left_out_(config_.left_out != nullptr ? *config_.left_out : *own_left_out_),
      kept_(kept_bytes_max(config_.options)),
      outbox_(config_, packets),
      routes_(make_routes({config_, peers_, store_, state_, outbox_})),
      pool_(packets),
      memory_log_(config_.self.epoch),
      list_told_(config_.nodes_hash),
      ask_max_(std::clamp<Instance>(kAskedBytesMax / config.options.packet_bytes_max, 1,
                                    wire::kRepeatMax)),
      patience_(config_.options.gap, config_.options.resend, config_.options.suspect),
      own_patience_(config_.options.resend / 4, config_.options.suspect * 2,
                    config_.options.suspect * 4),
      own_window_(config_.options.window_first, config_.options.member_window) {
  PEAL_ASSERT(!in_memory() || config_.log == nullptr);
  PEAL_ASSERT(config_.owed == nullptr || config_.log != nullptr);
  if (config_.options.optimistic) early_.emplace(config_.options);
  if (port::Log* log = in_memory() ? &memory_log_ : config_.log; log != nullptr) {
    acceptor_.emplace(*log);
    coordinator_.emplace(Parts{config_, peers_, store_, state_, given_, *acceptor_, kept_, outbox_,
                               *routes_, early_ ? &*early_ : nullptr});
  }
  counters_.reserve(64);
  visiting_ = config_.merger != nullptr;
  know_nodes();
}

// ---- life ----

void PaxosEngine::start(Instant now, Effects& out) {
  PEAL_ASSERT(life_ == Life::created);
  life_ = Life::running;
  started_ = now;
  peers_.start(now);
  if (own_left_out_ && !own_left_out_->restore({&config_.part, 1})) {
    stop(out, "the log of what excluded members are owed holds what this release cannot read");
    return;
  }
  if (acceptor_) {
    if (!acceptor_->replay(pool_, store_, kept_, state_)) {
      stop(out, "the acceptor's log holds what this release cannot read, or more than fits");
      return;
    }
    know_nodes();
    routes_->nodes_changed();
    logged_list_ = state_.nodes().number;
    sworn_ = state_.known();
    founding_.restore(acceptor_->taken(), acceptor_->taken_heard());
    taken_written_ = true;
    see_round(now, acceptor_->promised());
    checkpoint_at_ = state_.next();
    if (!in_memory()) open_log(out);
  }
  from_ = state_.key();
  tick_at_ = disk_moved_at_ = now;
  if (life_ == Life::running) begin(now, out);
}

void PaxosEngine::stop(Effects& out, std::string_view reason) {
  if (life_ == Life::stopped) return;
  life_ = Life::stopped;
  out.fatal(reason);
}

void PaxosEngine::leave(Instant /*now*/, Effects& out) {
  const bool said_nothing = life_ == Life::opening;
  if (life_ != Life::running && !said_nothing) return;
  life_ = Life::stopped;
  if (said_nothing) return;
  wire::State goodbye = state();
  goodbye.leaving = true;
  goodbye.leading = false;
  say(goodbye, Lane::control, out);
}

// ---- inputs ----

void PaxosEngine::on_timer(Instant now, Effects& out) {
  if (life_ == Life::opening && now >= tick_at_) {
    tick_at_ = now + config_.options.heartbeat;
    disk_hangs_ = look_at_disk(now);
  }
  if (life_ != Life::running) return;
  if (now >= tick_at_) {
    tick_at_ = now + config_.options.heartbeat;
    tick(now, out);
  }
  work(now, out);
}

void PaxosEngine::on_work(Instant now, Effects& out) { work(now, out); }

void PaxosEngine::on_durable(Instant now, Effects& out) {
  const bool opening = life_ == Life::opening;
  if ((life_ != Life::running && !opening) || !acceptor_) return;
  if (acceptor_->mute()) {
    stop(out, "the acceptor's log cannot be written, so this node must not vote any more");
    return;
  }
  if (left_out_.failed()) {
    stop(out, "the log of what excluded members are owed cannot be written");
    return;
  }
  if (opening) {
    if (acceptor_->is_started()) begin(now, out);
    return;
  }
  if (acceptor_->on_durable()) announce_ = true;
  update_self();  // its own vote counts at once
  answer_prepare(out);
  work(now, out);
}

void PaxosEngine::on_pause(Instant now, Duration gap, Effects& out) {
  if (life_ != Life::running) return;
  // Others were not silent: this node did not listen.
  peers_.forgive(now, gap);
  fit_enough_at_ = disk_moved_at_ = now;
  out.report({&event::paused, view_, {}, static_cast<std::uint64_t>(gap.ns), 0});
  // While nobody coordinates, pauses do not put off an election: a process that gets a processor
  // only now and then would never begin one.
  if (coordinator() != nullptr || PEAL_MUTANT(px_pauses_add_up)) {
    retry_at_ = std::max(retry_at_, now + config_.options.suspect);
  }
}

std::optional<Instant> PaxosEngine::next_deadline() const {
  if (life_ == Life::opening) return tick_at_;
  if (life_ != Life::running) return std::nullopt;
  if (more_) return Instant{};
  Instant next = tick_at_;
  if (is_missing_) next = std::min(next, ask_again_at());
  if (!own_.empty()) next = std::min(next, resend_own_at());
  if (announce_) next = std::min(next, announce_at_);
  if (early_at_) next = std::min(next, *early_at_);
  return next;
}

// Everything that may have become possible. Each step can make the ones before it possible again.
void PaxosEngine::work(Instant now, Effects& out) {
  if (life_ != Life::running) return;
  now_ = now;
  more_ = true;
  for (int pass = 0; pass < kPassesMax && more_ && life_ == Life::running; ++pass) {
    mark_decided();
    if (decided_upto_ > told_) {
      told_ = decided_upto_;
      if (routes_->tell_decided(now, state(), out)) announce_ = true;
    }
    const bool taken = take_recalled();
    more_ = consume(out) || taken;
    update_self();
    pull(out);
    if (coordinator_) coordinator_->work(now, out);
    vote();
  }
  if (life_ != Life::running) return;
  left_out_.write();
  if (checkpoint_wanted_) write_checkpoint();
  if (leads_again_) lead_again(now, out);
  update_self();
  if (announce_ && now >= announce_at_) {
    announce_ = false;
    announce_at_ = now + config_.options.votes_apart;
    routes_->tell_votes(state(), coordinator(), out);
  }
  routes_->end_turn(peers_.self().state, out);
  ask_for_missing(now, out);
  if (!own_.empty() && now >= resend_own_at()) resend_late(now, out);
  tell_early(out);
}

bool PaxosEngine::pass(Instant now, std::uint64_t key, Effects& out) {
  if (life_ != Life::running || !coordinator_) return false;
  now_ = now;
  if (!coordinator_->pass(now, key, out)) return false;
  work(now, out);
  return true;
}

MemberId PaxosEngine::coordinated_by() const {
  const Peer* leader = coordinator();
  return leader == nullptr ? MemberId{} : leader->member;
}

void PaxosEngine::want_pass(std::uint64_t key, Effects& out) {
  const Peer* leader = coordinator();
  if (life_ != Life::running || leader == nullptr || leader->self) return;
  outbox_.send(leader->node, Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_pass(header, {key}, bytes);
  });
}

// ---- time ----

void PaxosEngine::tick(Instant now, Effects& out) {
  now_ = now;
  peers_.tick(now);
  copy_check_.look(peers_);
  look_at_links(now);
  update_self();
  if (coordinator_) {
    coordinator_->tick(now, out);
    elect(now, out);
  }
  wire::State said = state();
  said.beat = ++beats_;
  say(said, Lane::control, out);
  check_links(out);
  asked_ = false;
  look_at_owed(out);
  kept_.look(peers_);
  found(out);
  ask_for_checkpoint(out);
}

// A coordinator goes on as long as it serves most acceptors. If none does, the fittest acceptor
// that seems alive takes over, of equally fit ones the lowest that knows where the order stands.
void PaxosEngine::elect(Instant now, Effects& out) {
  if (coordinator_->phase() != Coordinator::Phase::idle || now < retry_at_) return;
  if (peers_.live_acceptors() < peers_.majority()) return;
  if (!votes() || !most_miss_last()) return;
  // The answer to the last round waits for the disk. Another round would make it worthless, and its
  // own answer would wait longer: with slow disks no round would ever end.
  if (acceptor_->promise_under_way() && !PEAL_MUTANT(px_rounds_overtake)) return;
  const Peer* best = peers_.candidate(config_.first_candidate);
  if (best == nullptr || !best->self) return;
  ++counts_.elections;
  PEAL_PROBE("paxos.election");
  // Not again before the others have had their turn.
  const std::size_t all = config_.acceptors.size();
  const auto index = static_cast<std::size_t>(
      std::lower_bound(config_.acceptors.begin(), config_.acceptors.end(), config_.self.node) -
      config_.acceptors.begin());
  const auto rank = static_cast<std::int64_t>((index + all - config_.first_candidate % all) % all);
  retry_at_ = now + config_.options.suspect + config_.options.suspect * rank / 4;
  const std::uint64_t count =
      std::max(round_seen_.count + 1, wire::first_count(state_.nodes().number));
  see_round(now, {count, config_.self});
  coordinator_->prepare(now, count, out);
}

/// The coordinator of the highest round does not serve this node, or has had its time to try.
bool PaxosEngine::misses_last() const {
  if (round_seen_.count == 0) return true;
  const Peer* last = peers_.find(round_seen_.coordinator.node);
  if (last == nullptr || last->member != round_seen_.coordinator) return true;
  // It gives up once it sees a higher round.
  if (last->self) return coordinator_->phase() == Coordinator::Phase::idle;
  if (last->suspected || !last->acceptor || last->state.leaving) return true;
  // Data of it may arrive, and what it says of itself not.
  if (!last->reception.works() && !PEAL_MUTANT(px_silent_leads)) return true;
  const bool leads = leading_ == round_seen_ && state_.governs(round_seen_);
  if (!leads && now_ - round_seen_at_ >= last->patience * 4) return true;
  return now_ - fit_enough_at_ >= config_.options.suspect * kLessFitFor;
}

/// One that does not serve this node alone may serve most others: to take over from it would only
/// turn the roles round.
bool PaxosEngine::most_miss_last() const {
  if (PEAL_MUTANT(px_one_misses) || round_seen_.coordinator == config_.self) return misses_;
  const auto& peers = peers_.all();
  const auto missing = std::count_if(peers.begin(), peers.end(), [this](const Peer& peer) {
    if (!peer.acceptor || peer.silent || peer.suspected) return false;
    if (peer.self) return misses_;
    // Whoever goes by an earlier round does not hear of this one's coordinator.
    return peer.state.misses && peer.state.round <= round_seen_;
  });
  return static_cast<std::size_t>(missing) >= peers_.majority();
}

// A round of a later list is no round to follow here: whoever began it may be the only one who
// knows that the list counts, and be gone.
void PaxosEngine::see_round(Instant now, const Round& round) {
  if (round <= round_seen_ || wire::list_of(round) > state_.nodes().number) return;
  round_seen_ = round;
  round_seen_at_ = now;
  if (coordinator_ && coordinator_->phase() != Coordinator::Phase::idle &&
      coordinator_->round() < round) {
    PEAL_PROBE("paxos.stepped_down");
    coordinator_->step_down();
    retry_at_ = std::max(retry_at_, now + config_.options.suspect);
  }
}

const Peer* PaxosEngine::coordinator() const {
  const Peer* peer = peers_.find(leading_.coordinator.node);
  if (peer == nullptr || peer->member != leading_.coordinator || peer->suspected) return nullptr;
  return peer;
}

// ---- what this node says of itself ----

wire::State PaxosEngine::state() const {
  wire::State state;
  state.round = round_seen_;
  state.first_list = state_.nodes().first;
  if (state_.known()) state.list = state_.nodes().number;
  if (const NodeList* next = given_.next(state_)) state.next_list = next->hash;
  if (coordinator_ && coordinator_->leads() && coordinator_->round() == round_seen_) {
    state.leading = true;
  }
  if (acceptor_) {
    state.voted_round = acceptor_->round();
    state.voted_upto = acceptor_->voted_upto();
    if (state.voted_round.count == 0) state.voted_upto = 0;
    if (routes_->tells_decided() && state.voted_round == decided_round_) {
      state.decided_upto = PEAL_MUTANT(rd_vote_decides) ? state.voted_upto
                                                        : std::min(decided_upto_, state.voted_upto);
    }
  }
  state.next = state_.next();
  state.oldest = state_.known() ? store_.oldest() : 0;
  state.view = view_.number;
  state.joined = joined();
  state.visiting = visiting_;
  state.asks = asked_;
  state.from = views_from_;
  state.misses = misses_;
  state.disk_hangs = says_that_disk_hangs();
  state.app_full = host_.receive_room_units() == 0;
  state.fitness = company_.fitness();
  state.life = peers_.self().has_life;
  if (config_.log != nullptr && !in_memory()) {
    state.log = config_.log->durable().value;
    state.log_word = copy_check_.word();
  }
  if (state.next != 0) state.unheard = company_.unheard();
  return state;
}

void PaxosEngine::update_self() {
  Peer& self = peers_.self();
  self.state = state();
  self.has_state = true;
  if (coordinator_ && coordinator_->leads() && leading_ < coordinator_->round()) {
    leading_ = coordinator_->round();
    for (const Own& own : own_) coordinator_->submit(own.head, own.bytes, false, own.stamp);
  }
}

void PaxosEngine::say(const wire::State& said, Lane lane, Effects& out) {
  if (const BufferRef packet = outbox_.state_packet(said)) out.multicast(lane, packet);
}

}  // namespace peal::order::paxos
