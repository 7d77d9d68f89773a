// SPDX-License-Identifier: Apache-2.0
#include "sim/world/world.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/hooks.h"
#include "order/registry/inspection/inspections.h"
#include "sim/clients/clients.h"

namespace peal::sim {
namespace {

/// Nodes start this many milliseconds after the origin of epochs.
constexpr std::uint64_t kFirstEpoch = 1'000'000;
/// Name and settings of the simulated cluster, as in wire::Header.
constexpr std::uint64_t kCluster = 0x5eed0001'00000001ULL;

/// The ghost's reports per run; later ones are rarely worth reading.
constexpr unsigned kGhostReportsMax = 16;

bool among(const std::vector<NodeId>& nodes, NodeId node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t purpose) {
  Random random(seed * 0x9e3779b97f4a7c15ULL + purpose);
  random.next();
  return random.next();
}

}  // namespace

World::World(const WorldOptions& options, HistoryRecorder& recorder)
    : options_(options),
      recorder_(recorder),
      network_(options.nodes, mixed(options.seed, 1), recorder.faults()),
      driver_random_(mixed(options.seed, 2)),
      load_random_(mixed(options.seed, 3)),
      domain_random_(mixed(options.seed, 9)),
      replay_random_(mixed(options.seed, 4)),
      processes_(options.nodes + 1),
      incarnations_(options.nodes + 1),
      epochs_(options.nodes + 1),
      clocks_(options.nodes + 1),
      first_drift_(options.nodes + 1),
      payloads_(options.nodes + 1) {
  Random clocks(mixed(options.seed, 5));
  for (std::uint32_t n = 1; n <= options.nodes; ++n) {
    universe_.push_back(NodeId{n});
    const auto drift =
        static_cast<std::int32_t>(clocks.between(-options.drift_ppm, options.drift_ppm));
    clocks_[n] = Clock(milliseconds(clocks.between(1, 1'000'000'000)), drift);
    first_drift_[n] = drift;
  }
  if (options.engine.has_logs()) {
    logs_.resize(options.nodes + 1);
    for (const NodeId node : universe_) {
      logs_[node.value] = std::make_unique<NodeLog>(
          options.disks, mixed(options.seed, 8'000 + node.value), options.segment_bytes);
    }
  }
  domains_.resize(options.nodes + 1);
  for (const NodeId node : universe_) {
    for (std::size_t i = 0; i <= options.domains.size(); ++i) {
      if (i != 0 && !among(options.domains[i - 1].nodes, node)) continue;
      domains_[node.value].push_back(static_cast<order::Domain>(i));
    }
  }
  files_.assign(options.nodes + 1,
                list_of_nodes(options, options.list.empty() ? universe_ : options.list));
  lists_[files_.front().hash] = files_.front().nodes;
  if (options.ghost && !options.maker) make_ghost();
  if (options.groups) client_mix_ = make_client_mix(mixed(options.seed, 7), options.nodes);
  if (options.net) {
    network_.conditions().delay = network_.conditions().tail = Duration{};  // the model computes
                                                                            // the delays
    model_ = std::make_unique<NetModel>(*options.net, options.nodes, mixed(options.seed, 6));
  }
}

World::~World() = default;

void World::make_ghost() {
  const order::Inspection* inspection = order::find_inspection(options_.engine.engine().name);
  if (inspection == nullptr || inspection->make_ghost == nullptr) return;
  const order::GhostSetup setup{.cluster = kCluster,
                                .on_disk = !options_.engine.votes_in_memory(),
                                .ensembles = options_.engine.ensembles(),
                                .domains = static_cast<std::uint32_t>(options_.domains.size()),
                                .first_count = options_.first_count};
  const auto count = std::make_shared<unsigned>(0);
  ghost_ = inspection->make_ghost(setup, [this, count](std::string property, std::string text) {
    if ((*count)++ >= kGhostReportsMax) return;
    recorder_.violation(now_, std::move(property), std::move(text));
  });
  for (const auto& log : logs_) {
    if (log != nullptr) log->watch(ghost_.get());
  }
}

bool World::step(Instant limit) {
  if (queue_.empty() || queue_.next_time() > limit) {
    now_ = std::max(now_, limit);
    recorder_.figures().virtual_ns = static_cast<std::uint64_t>(now_.ns);
    return false;
  }
  const Planned planned = queue_.pop();
  PEAL_ASSERT(planned.at >= now_);
  now_ = planned.at;
  const std::uint64_t events = ++recorder_.figures().events;
  happen(planned);
  if (options_.digest_every != 0 && events % options_.digest_every == 0) fold_digests();
  return true;
}

void World::run_until(Instant limit) {
  while (step(limit)) {
  }
}

void World::plan(Instant at, std::function<void()> action) {
  std::uint32_t slot;
  if (free_actions_.empty()) {
    slot = static_cast<std::uint32_t>(actions_.size());
    actions_.emplace_back();
  } else {
    slot = free_actions_.back();
    free_actions_.pop_back();
  }
  actions_[slot] = std::move(action);
  queue_.push(std::max(at, now_), Happening::action, 0, slot);
}

Process* World::current(const Planned& planned) {
  Process* process = processes_[planned.node].get();
  return process != nullptr && process->incarnation == planned.a ? process : nullptr;
}

void World::happen(const Planned& planned) {
  switch (planned.what) {
    case Happening::arrival: arrive(NodeId{planned.node}, planned.a); return;
    case Happening::frame: pass_switch(planned.a); return;
    case Happening::load: submit_load(planned.a); return;
    case Happening::action: {
      const std::function<void()> action = std::move(actions_[planned.a]);
      actions_[planned.a] = nullptr;
      free_actions_.push_back(planned.a);
      action();
      return;
    }
    case Happening::run:
    case Happening::timer:
    case Happening::resume:
    case Happening::consume: break;
  }
  Process* process = current(planned);
  if (process == nullptr) return;
  switch (planned.what) {
    case Happening::run:
      process->run_planned = false;
      kick(*process);
      return;
    case Happening::timer:
      if (process->timer_planned && *process->timer_planned <= now_) process->timer_planned.reset();
      kick(*process);
      if (Process* still = current(planned)) plan_timer(*still);
      return;
    case Happening::resume: resume(*process); return;
    case Happening::consume: consume(*process); return;
    default: return;
  }
}

std::uint64_t World::next_epoch(NodeId node, std::int64_t step) {
  const std::uint64_t last = epochs_[node.value];
  if (PEAL_MUTANT(restart_same_epoch) && last != 0) return last;
  const auto now_ms = static_cast<std::uint64_t>(now_.ns / 1'000'000);
  const std::uint64_t good = std::max(last + 1, kFirstEpoch + now_ms);
  // A node with a log knows its last incarnation from it.
  if (step >= 0 || options_.engine.has_quorum()) {
    return good + static_cast<std::uint64_t>(std::max<std::int64_t>(step, 0));
  }
  const auto back = static_cast<std::uint64_t>(-step);
  return good > back ? good - back : 1;
}

void World::start(NodeId node, std::int64_t epoch_step) {
  if (processes_[node.value] != nullptr) return;
  const std::vector<NodeId>& list = list_of(node);
  if (std::find(list.begin(), list.end(), node) == list.end()) return;
  const bool again = incarnations_[node.value] != 0;
  if (again) recorder_.faults().add(Fault::restart);
  if (epoch_step < 0 && !options_.engine.has_quorum()) {
    recorder_.faults().add(Fault::epoch_step_back);
  }
  const MemberId self{node, next_epoch(node, epoch_step)};
  if (!open_log(self)) {
    recorder_.faults().add(Fault::start_refused);
    return;
  }
  processes_[node.value] =
      std::make_unique<Process>(*this, self, ++incarnations_[node.value], clocks_[node.value]);
  Process& process = *processes_[node.value];
  process.set_back = self.epoch <= epochs_[node.value];
  epochs_[node.value] = std::max(epochs_[node.value], self.epoch);
  recorder_.started(now_, self);
  process.make_node();
  if (options_.groups) {
    const std::uint64_t own = node.value * 1'000'003ULL + process.incarnation;
    const std::uint64_t seed = mixed(options_.seed, 2'000 + own);
    if (options_.sessions) {
      process.clients = std::make_unique<SessionClients>(process, client_mix_, client_names_, seed);
    } else {
      process.clients = std::make_unique<Clients>(process, client_mix_, seed);
    }
    process.list = files_[node.value].hash;
    tell_clients_list(process);
    if (options_.keep_payloads) process.clients->keep_payloads();
  }
  call(process, [](node::Node& n, Instant local) { n.start(local); });
}

/// False if the folder's content is refused; the process then ends before its start.
bool World::open_log(MemberId self) {
  NodeLog* log = options_.maker ? nullptr : disk(self.node);
  if (log == nullptr) return true;
  if (ghost_ != nullptr) ghost_->note_newest_segment(self.node, log->newest_segment());
  return log->open(self);
}

std::unique_ptr<node::Node> World::make_node(Process& process) {
  const std::uint64_t seed =
      mixed(options_.seed, 1'000 + process.self.node.value * 1'000'003ULL + process.incarnation);
  return std::make_unique<node::Node>(
      options_.limits, *process.unit_pool,
      [this, &process, seed](order::Host& host) { return make_engine(process, seed, host); },
      process, process);
}

std::unique_ptr<order::Engine> World::make_engine(Process& process, std::uint64_t seed,
                                                  order::Host& host) {
  const NodeId node = process.self.node;
  if (options_.maker) {
    return options_.maker(process.self, universe_, seed, *process.unit_pool, host);
  }
  order::Setup setup;
  setup.self = process.self;
  setup.list = files_[node.value];
  setup.cluster = kCluster;
  setup.packet_bytes_max = options_.engine.packet_bytes_max();
  setup.options = options_.engine.values();
  setup.domains = options_.domains;
  if (NodeLog* log = disk(node)) {
    setup.log = log->log();
    setup.owed = log->owed()->log();
  }
  setup.seed = seed;
  setup.first_count = options_.first_count;
  return options_.engine.engine().make(setup, *process.unit_pool, host);
}

// Writes and syncs appended records of an acceptor in the background; the node continues meanwhile.
void World::commit_log(Process& process) {
  const NodeId node = process.self.node;
  NodeLog* votes = disk(node);
  if (votes == nullptr) return;
  for (NodeLog* log : {votes, votes->owed()}) {
    const std::optional<Duration> time = log->begin();
    if (!time) continue;
    plan(now_ + *time, [this, node, log, incarnation = process.incarnation] {
      log_written(node, *log, incarnation);
    });
  }
}

void World::log_written(NodeId node, NodeLog& log, std::uint32_t incarnation) {
  Process* process = processes_[node.value].get();
  if (process == nullptr || process->incarnation != incarnation) return;
  if (log.hangs()) {
    log.wait_for_end();
    return;
  }
  log.finish();
  process->log_grew = true;
  kick(*process);
}

void World::end_hang(NodeId node) {
  NodeLog* votes = disk(node);
  if (votes == nullptr) return;
  for (NodeLog* log : {votes, votes->owed()}) {
    if (!log->end_hang()) continue;
    if (Process* process = processes_[node.value].get()) {
      log_written(node, *log, process->incarnation);
    }
  }
}

void World::mend_disk(NodeId node) {
  NodeLog* log = disk(node);
  if (log == nullptr) return;
  log->mend();
  end_hang(node);
}

void World::set_clock_drift(NodeId node, std::int32_t drift_ppm) {
  Clock& clock = clocks_[node.value];
  if (clock.drift_ppm() == drift_ppm) return;
  clock = clock.drifting(now_, drift_ppm);
  Process* process = processes_[node.value].get();
  if (process == nullptr) return;
  process->clock = clock;
  plan_timer(*process);
}

void World::crash(NodeId node) {
  Process* process = processes_[node.value].get();
  if (process == nullptr) return;
  recorder_.faults().add(Fault::crash);
  recorder_.crashed(now_, process->self);
  process->end = Process::End::crashed;
  end_process(*process);
}

void World::crash_after_sends(NodeId node, std::uint64_t sends) {
  PEAL_ASSERT(sends > 0);
  if (Process* process = processes_[node.value].get()) process->sends_until_crash = sends;
}

void World::end_process(Process& process) {
  PEAL_ASSERT(process.end != Process::End::none);
  if (process.clients != nullptr) process.clients->ended();
  for (Socket& socket : process.sockets) {
    while (!socket.empty()) packets_.release(socket.pop());
  }
  const std::uint32_t node = process.self.node.value;
  epochs_[node] = std::max(epochs_[node], process.self.epoch);
  processes_[node].reset();
  if (!logs_.empty() && logs_[node] != nullptr) logs_[node]->crash();
}

void World::pause(NodeId node, Duration length) {
  Process* process = processes_[node.value].get();
  if (process == nullptr || process->state != Process::State::up || length.ns <= 0) return;
  recorder_.faults().add(Fault::pause);
  process->state = Process::State::paused;
  process->paused_at = now_;
  queue_.push(now_ + length, Happening::resume, node.value, process->incarnation);
}

void World::leave(NodeId node) {
  Process* process = processes_[node.value].get();
  if (process == nullptr) return;
  process->leave_wanted = true;
  kick(*process);
}

void World::set_slowness(NodeId node, std::int64_t times) {
  PEAL_ASSERT(times >= 1);
  Process* process = processes_[node.value].get();
  if (process == nullptr) return;
  if (times > 1) recorder_.faults().add(Fault::slow_node);
  process->slowness = times;
}

void World::set_application(NodeId node, std::uint32_t room_units, Duration per_unit) {
  Process* process = processes_[node.value].get();
  if (process == nullptr) return;
  if (room_units == 0) {
    recorder_.faults().add(Fault::application_stopped);
  } else if (room_units < options_.process.room_units || per_unit.ns > 0) {
    recorder_.faults().add(Fault::slow_application);
  }
  const std::uint32_t before = process->receive_room_units();
  process->room_units = room_units;
  process->consume_every = per_unit;
  if (per_unit.ns == 0) process->room_used = 0;
  if (process->receive_room_units() > before) process->room_grew = true;
  kick(*process);
}

bool World::is_up(NodeId node) const {
  const Process* process = processes_[node.value].get();
  return process != nullptr && process->state == Process::State::up;
}

bool World::anyone_recovers() const {
  for (const auto& process : processes_) {
    if (process != nullptr && process->recovering) return true;
  }
  return false;
}

void World::fold_digests() {
  for (const auto& process : processes_) {
    if (process == nullptr) continue;
    digest_.add(process->node->digest());
    digest_.add(process->calls);
    if (process->clients != nullptr) digest_.add(process->clients->digest());
  }
  digest_.add(recorder_.digest());
}

std::uint64_t World::digest() const {
  Digest all = digest_;
  for (const auto& process : processes_) {
    if (process != nullptr) all.add(process->node->digest());
  }
  all.add(recorder_.digest());
  all.add(recorder_.figures().events);
  return all.value();
}

}  // namespace peal::sim
