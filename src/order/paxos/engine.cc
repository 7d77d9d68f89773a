// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/engine.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// Maximum number of passes in one call, before other work gets its turn.
constexpr int kPassesMax = 4;

constexpr std::uint32_t kConsumedAtOnce = 64;

/// Maximum number of instances that a node holds and has not consumed: the instances that the
/// slowest member lacks and, after a restart, the instances that were consumed after the
/// second-last checkpoint.
std::uint32_t slots_max(const Options& options) {
  return options.max_gap + options.window + 2 * options.checkpoint_every;
}

/// Limit of the bytes that KeptWords keeps. Its ranges may have to be written again at each
/// checkpoint, so the limit is the amount that is ordered between two checkpoints, or less.
std::uint64_t kept_bytes_max(const Options& options) {
  constexpr std::uint64_t kMost = 4U << 20;
  const std::uint64_t between = std::uint64_t{options.checkpoint_every} * options.packet_bytes_max;
  return std::min({options.history_bytes_max, between, kMost});
}

/// The log of this node's votes; null on nodes that never vote.
port::Log* log_of(const Config& config, MemoryLog& memory) {
  return config.storage == Storage::memory ? &memory : config.log;
}

std::optional<Acceptor> make_acceptor(port::Log* log) {
  if (log == nullptr) return std::nullopt;
  return std::optional<Acceptor>(std::in_place, *log);
}

/// This node's incarnation as an acceptor (wire::Nodes::lives); 0: this node never votes.
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
      kept_(kept_bytes_max(config_.options)),
      outbox_(config_, packets),
      routes_(make_routes({config_, peers_, store_, state_, outbox_})),
      pool_(packets),
      memory_log_(config_.self.epoch),
      acceptor_(make_acceptor(log_of(config_, memory_log_))),
      early_(config_.options.optimistic ? std::optional<Early>(std::in_place, config_.options)
                                        : std::nullopt),
      parts_{config_,
             host_,
             peers_,
             store_,
             state_,
             given_,
             acceptor_ ? &*acceptor_ : nullptr,
             kept_,
             outbox_,
             *routes_,
             early_ ? &*early_ : nullptr},
      coordinator_(acceptor_ ? std::optional<Coordinator>(std::in_place, parts_) : std::nullopt),
      history_(parts_),
      checkpointer_(parts_, history_),
      incarnations_(parts_, checkpointer_),
      links_(parts_),
      election_(parts_, coordinator_ ? &*coordinator_ : nullptr),
      learner_(parts_),
      early_units_(parts_, coordinator_ ? &*coordinator_ : nullptr),
      own_units_(parts_, election_, coordinator_ ? &*coordinator_ : nullptr, early_units_),
      consumer_(parts_, own_units_, early_units_),
      catch_up_(parts_, election_, learner_, incarnations_),
      recall_(parts_, learner_, history_, incarnations_),
      transfer_(parts_, catch_up_, recall_, incarnations_),
      reconfiguration_(parts_, given_),
      report_(parts_, {coordinator_ ? &*coordinator_ : nullptr, incarnations_, links_, election_,
                       learner_, consumer_, catch_up_}),
      voter_(parts_, incarnations_, election_, history_, report_),
      admission_(parts_),
      diagnosis_(parts_, {coordinator_ ? &*coordinator_ : nullptr, incarnations_, links_, election_,
                          consumer_}) {
  PEAL_ASSERT(!parts_.in_memory() || config_.log == nullptr);
  PEAL_ASSERT(config_.owed == nullptr || config_.log != nullptr);
  counters_.reserve(64);
  reconfiguration_.know_nodes();
}

// ---- start and end ----

void PaxosEngine::start(Instant now, Effects& out) {
  PEAL_ASSERT(life_ == Life::created);
  life_ = Life::running;
  started_ = now;
  peers_.start(now);
  if (!history_.restore()) {
    stop(out, "the log of what excluded members are owed holds what this release cannot read");
    return;
  }
  if (acceptor_) {
    if (!acceptor_->replay(pool_, store_, kept_, state_)) {
      stop(out, "the acceptor's log holds what this release cannot read, or more than fits");
      return;
    }
    reconfiguration_.know_nodes();
    routes_->nodes_changed();
    checkpointer_.start();
    incarnations_.start();
    election_.see(now, acceptor_->promised());
    if (!parts_.in_memory()) open_log(out);
  }
  consumer_.begin();
  tick_at_ = now;
  links_.start(now);
  if (life_ == Life::running) begin(now, out);
}

// This node sends nothing before the log has recorded that this incarnation began.
void PaxosEngine::open_log(Effects& out) {
  if (!incarnations_.open()) {
    stop(out, "the acceptor's log takes nothing");
    return;
  }
  if (incarnations_.is_put_back()) put_back(out);
  if (!acceptor_->is_started()) life_ = Life::opening;
}

void PaxosEngine::begin(Instant now, Effects& out) {
  life_ = Life::running;
  started_ = now;
  peers_.start(now);
  tick_at_ = now;
  on_timer(now, out);
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
  wire::State goodbye = report_.state();
  goodbye.leaving = true;
  goodbye.leading = false;
  report_.tell_all(goodbye, Lane::control, out);
}

// ---- inputs ----

void PaxosEngine::on_timer(Instant now, Effects& out) {
  if (life_ == Life::opening && now >= tick_at_) {
    tick_at_ = now + config_.options.heartbeat;
    links_.look_at_disk(now);
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
  if (history_.failed()) {
    stop(out, "the log of what excluded members are owed cannot be written");
    return;
  }
  if (opening) {
    if (acceptor_->is_started()) begin(now, out);
    return;
  }
  if (acceptor_->on_durable()) report_.announce();
  update_self();  // this node's own vote counts at once
  voter_.answer_prepare(out);
  work(now, out);
}

void PaxosEngine::on_pause(Instant now, Duration gap, Effects& out) {
  if (life_ != Life::running) return;
  // The other nodes were not silent: this node did not listen.
  peers_.forgive(now, gap);
  links_.forgive(now);
  election_.forgive(now);
  out.report({&event::paused, consumer_.view(), {}, static_cast<std::uint64_t>(gap.ns), 0});
}

std::optional<Instant> PaxosEngine::next_deadline() const {
  if (life_ == Life::opening) return tick_at_;
  if (life_ != Life::running) return std::nullopt;
  if (more_) return Instant{};
  Instant next = tick_at_;
  if (const auto at = catch_up_.next_at()) next = std::min(next, *at);
  if (const auto at = own_units_.resend_at()) next = std::min(next, *at);
  if (const auto at = report_.next_at()) next = std::min(next, *at);
  if (const auto at = early_units_.at()) next = std::min(next, *at);
  return next;
}

// Does everything that may have become possible. A step may make earlier steps possible again, so
// the steps are repeated.
void PaxosEngine::work(Instant now, Effects& out) {
  if (life_ != Life::running) return;
  now_ = now;
  more_ = true;
  for (int pass = 0; pass < kPassesMax && more_ && life_ == Life::running; ++pass) {
    learner_.count_votes();
    if (learner_.has_news() && routes_->tell_decided(now, report_.state(), out)) {
      report_.announce();
    }
    const bool taken = recall_.take();
    more_ = consume(out) || taken;
    update_self();
    own_units_.pull(now, out);
    if (coordinator_) coordinator_->work(now, out);
    if (voter_.vote()) {
      update_self();
      more_ = true;
    }
  }
  if (life_ != Life::running) return;
  history_.write();
  if (checkpointer_.write()) more_ = true;
  if (election_.leads_again() && incarnations_.votes()) election_.lead_again(now, out);
  update_self();
  report_.work(now, out);
  routes_->end_turn(peers_.self().state, out);
  catch_up_.work(now, out);
  own_units_.resend_late(now, out);
  if (early_ && life_ == Life::running) early_units_.tell_due(now, out);
}

bool PaxosEngine::consume(Effects& out) {
  if (!state_.known()) return false;
  for (std::uint32_t i = 0; i < kConsumedAtOnce; ++i) {
    const Slot* slot = store_.find(state_.next());
    if (slot == nullptr || !slot->decided) return false;
    if (host_.receive_room_units() == 0) return false;
    const Slot read = *slot;
    if (incarnations_.keeps_log() && !checkpointer_.note(read)) return false;
    const bool member = joined();
    std::vector<wire::ViewMember> before;
    if (read.heard.head.kind == wire::ValueKind::view) before = state_.members();
    const OrderState::Outcome outcome = consumer_.apply(read.heard);
    store_.consume();
    const bool wanted = member || config_.merger != nullptr;
    if (outcome == OrderState::Outcome::unit && wanted &&
        !consumer_.deliver(now_, read.heard, member, out)) {
      stop(out, "decided unit claims this origin but is not its next pending unit");
    }
    if (outcome == OrderState::Outcome::view) {
      if (consumer_.change_view(out)) report_.announce();
      history_.retain_for_excluded(before);
    }
    if (outcome == OrderState::Outcome::nodes) change_nodes(out);
    if (life_ != Life::running) return false;
  }
  return true;
}

// The new coordinator lacks the units that this node sent to the previous one.
void PaxosEngine::follow(Instant now, const Round& round, Effects& out) {
  election_.follow(round);
  own_units_.follow(now, out);
}

bool PaxosEngine::pass(Instant now, std::uint64_t key, Effects& out) {
  if (life_ != Life::running || !coordinator_) return false;
  now_ = now;
  if (!coordinator_->pass(now, key, out)) return false;
  work(now, out);
  return true;
}

MemberId PaxosEngine::coordinated_by() const {
  const Peer* leader = election_.coordinator();
  return leader == nullptr ? MemberId{} : leader->member;
}

void PaxosEngine::want_pass(std::uint64_t key, Effects& out) {
  const Peer* leader = election_.coordinator();
  if (life_ != Life::running || leader == nullptr || leader->self) return;
  outbox_.send(leader->node, Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_pass(header, {key}, bytes);
  });
}

// ---- time ----

void PaxosEngine::tick(Instant now, Effects& out) {
  now_ = now;
  peers_.tick(now);
  incarnations_.look();
  links_.look(now);
  election_.look(now, links_.company().fitness());
  update_self();
  if (coordinator_) {
    coordinator_->tick(now, out);
    election_.run(now, incarnations_.votes(), out);
  }
  wire::State said = report_.state();
  said.beat = links_.next_beat();
  report_.tell_all(said, Lane::control, out);
  links_.check(out);
  catch_up_.forget_asked();
  history_.look(consumer_.view(), out);
  kept_.look(peers_);
  if (now - started_ >= config_.options.suspect && incarnations_.tell_lives(out)) begin_order(out);
  transfer_.look(out);
  if (transfer_.is_cut_off()) stop(out, StateTransfer::kCutOff);
}

void PaxosEngine::update_self() {
  report_.update();
  if (election_.follow_self()) own_units_.submit_to_self();
}

// ---- orders and lists of nodes ----

void PaxosEngine::begin_order(Effects& out) {
  if (!incarnations_.begin_order()) return;
  consumer_.begin();
  // This node holds no election for a moment: the other nodes will soon learn of the order too, but
  // the first candidate may not know it yet.
  election_.put_off(now_ + config_.options.suspect / 2);
  forget_other_orders();
  reconfiguration_.know_nodes();
  routes_->nodes_changed();
  incarnations_.report_amnesia(consumer_.view(), out);
}

// Forgets the reports of other nodes about orders that differ from this node's order.
void PaxosEngine::forget_other_orders() {
  election_.forget();
  learner_.forget();
  for (Peer& peer : peers_.all()) {
    if (peer.self || peer.state.next == 0) continue;
    if (peer.state.first_list == state_.nodes().first) continue;
    peers_.forget_state(peer);
  }
}

/// The log is an older copy: from now on this node reports none of its promises and votes.
void PaxosEngine::put_back(Effects& out) {
  voter_.forget();
  if (coordinator_) coordinator_->step_down();
  out.report({&event::log_put_back, consumer_.view(), config_.self, 0, 0});
}

void PaxosEngine::set_nodes(Instant now, const NodeList& nodes, Effects& out) {
  if (life_ == Life::stopped) return;
  // The list for the bootstrap may change until this node has named acceptors: an incarnation names
  // acceptors for one list only.
  const bool free_to_choose = incarnations_.bootstrap().taken().lives.empty();
  if (reconfiguration_.give(nodes, free_to_choose)) {
    routes_->nodes_changed();
    out.report({&event::nodes_adopted, consumer_.view(), {}, nodes.hash, 0});
  }
  reconfiguration_.know_nodes();
  admission_.forget_reported();
  if (life_ != Life::running) return;
  update_self();
  report_.tell_all(report_.state(), Lane::control, out);  // the coordinator waits for this report
  work(now, out);
}

void PaxosEngine::change_nodes(Effects& out) {
  const bool led = coordinator_ && coordinator_->leads();
  const bool voted = acceptor_ && peers_.self().acceptor;
  reconfiguration_.take_list(consumer_.view(), out);
  // The list names this node's present incarnation, which has neither promised nor voted in rounds
  // of the list. Promises and votes in other rounds do not count.
  if (!voted && peers_.self().acceptor) incarnations_.let_vote();
  incarnations_.update_silence();
  routes_->nodes_changed();
  recall_.begin_list();
  election_.begin_list(now_, led);
  voter_.forget();
  checkpointer_.begin_list();
  checkpointer_.want(incarnations_.keeps_log());
  // The log lacks values that were decided while this node was no acceptor, but may hold this
  // node's earlier votes for other values.
  if (!voted && !PEAL_MUTANT(px_noted_from_kept)) checkpointer_.begin_history();
  report_.announce();
  incarnations_.report_amnesia(consumer_.view(), out);
  reconfiguration_.report_list(consumer_.view(), out);
}

}  // namespace peal::order::paxos
