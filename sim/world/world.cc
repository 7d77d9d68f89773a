// SPDX-License-Identifier: Apache-2.0
#include "sim/world/world.h"

#include <algorithm>
#include <utility>

#include "sim/baselines/registry.h"
#include "sim/clients/clients.h"
#include "sim/clients/session_clients.h"

namespace peal::sim {
namespace {

/// Maximum number of the ghost's reports per run; later reports rarely add information.
constexpr unsigned kGhostReportsMax = 16;

std::unique_ptr<NetModel> make_model(const WorldOptions& options) {
  if (!options.net) return nullptr;
  return std::make_unique<NetModel>(*options.net, options.nodes, seed_for(options, 6));
}

/// Writes pass the cards and ports of the network model.
class ModelCarrier final : public Carrier {
 public:
  explicit ModelCarrier(NetModel& model) : model_(model) {}
  Instant depart(NodeId from, Instant ready, std::size_t bytes) override {
    return model_.depart(from, ready, model_.frames_of_write(bytes));
  }
  Instant pass(NodeId to, Instant now, std::size_t bytes) override {
    return model_.forward_write(to, now, model_.frames_of_write(bytes));
  }

 private:
  NetModel& model_;
};

std::unique_ptr<Fabric> make_fabric(const WorldOptions& options, Schedule& schedule,
                                    const Network& network) {
  if (!options.engine.needs(options.nodes).memory) return nullptr;
  return std::make_unique<Fabric>(
      schedule, seed_for(options, 10), options.fabric,
      [&network](NodeId from, NodeId to) { return network.link_carries(from, to); });
}

}  // namespace

World::World(const WorldOptions& options, HistoryRecorder& recorder)
    : options_(options),
      observers_{recorder, nullptr, nullptr, nullptr},
      lists_(options_),
      domains_(options_),
      loads_(options_, schedule_),
      network_(options_.nodes, seed_for(options_, 1), recorder.faults()),
      model_(make_model(options_)),
      transit_(schedule_),
      strays_(options_, schedule_, transit_, network_, recorder.faults()),
      fabric_(make_fabric(options_, schedule_, network_)),
      machines_(options_),
      disks_(options_, schedule_, machines_,
             [this](Process& process) {
               process.inputs.log_grew = true;
               driver_.kick(process);
             }),
      traffic_(options_, schedule_, machines_, network_, model_.get(), transit_, strays_,
               observers_),
      driver_(options_, schedule_, machines_, disks_, transit_, model_.get(), observers_) {
  if (options_.ghost && !options_.maker) make_ghost();
  if (model_ != nullptr && fabric_ != nullptr) {
    carrier_ = std::make_unique<ModelCarrier>(*model_);
    fabric_->carry_by(*carrier_);
  }
  if (options_.engine.is_genuine() && options_.ghost) {
    observers_.genuineness = std::make_unique<GenuinenessFeed>(options_, recorder);
    if (fabric_ != nullptr) {
      fabric_->observe([this](const MemberId& from, const port::Place& place, ByteView bytes) {
        observers_.genuineness->wrote(now(),
                                      {from, place.owner, place.number, place.offset, bytes});
      });
    }
  }
  if (options_.groups) {
    client_mix_ = make_client_mix(seed_for(options_, 7), options_.nodes);
    recorder.groups().set_domains(oracle_domains(options_, client_mix_));
  }
  // With a network model, the model computes the delays, so the network adds none.
  if (model_ != nullptr) network_.conditions().delay = network_.conditions().tail = Duration{};
}

World::~World() = default;

void World::make_ghost() {
  const order::Inspection* inspection = find_inspection(options_.engine.engine().name);
  if (inspection == nullptr || inspection->make_ghost == nullptr) return;
  const order::GhostSetup setup{.cluster = kCluster,
                                .on_disk = !options_.engine.votes_in_memory(),
                                .ensembles = options_.engine.ensembles(),
                                .domains = static_cast<std::uint32_t>(options_.domains.size()),
                                .first_count = options_.first_count};
  const auto count = std::make_shared<unsigned>(0);
  observers_.ghost =
      inspection->make_ghost(setup, [this, count](std::string property, std::string text) {
        if ((*count)++ >= kGhostReportsMax) return;
        recorder().violation(now(), std::move(property), std::move(text));
      });
  disks_.watch(observers_.ghost.get());
}

// ---- time ----

bool World::step(Instant limit) {
  const std::optional<Planned> planned = schedule_.advance(limit);
  if (!planned) {
    recorder().figures().virtual_ns = static_cast<std::uint64_t>(now().ns);
    return false;
  }
  const std::uint64_t events = ++recorder().figures().events;
  happen(*planned);
  if (options_.digest_every != 0 && events % options_.digest_every == 0) fold_digests();
  return true;
}

void World::run_until(Instant limit) {
  while (step(limit)) {
  }
}

void World::happen(const Planned& planned) {
  switch (planned.what) {
    case Happening::arrival: driver_.arrive(NodeId{planned.node}, planned.a); return;
    case Happening::frame: traffic_.pass_switch(planned.a); return;
    case Happening::load:
      loads_.run(planned.a, [this](NodeId node, Service service, std::string payload) {
        submit(node, service, std::move(payload), domains_.draw(node));
      });
      return;
    case Happening::action: schedule_.take_action(planned.a)(); return;
    case Happening::run:
    case Happening::timer:
    case Happening::resume:
    case Happening::consume: driver_.happen(planned); return;
  }
}

void World::fold_digests() {
  for (std::uint32_t n = 1; n <= options_.nodes; ++n) {
    const Process* running = process(NodeId{n});
    if (running == nullptr) continue;
    digest_.add(running->node->digest());
    digest_.add(running->work.calls);
    if (running->clients != nullptr) digest_.add(running->clients->digest());
  }
  digest_.add(observers_.recorder.digest());
}

std::uint64_t World::digest() const {
  Digest all = digest_;
  for (std::uint32_t n = 1; n <= options_.nodes; ++n) {
    if (const Process* running = process(NodeId{n})) all.add(running->node->digest());
  }
  all.add(observers_.recorder.digest());
  all.add(observers_.recorder.figures().events);
  return all.value();
}

// ---- nodes ----

void World::start(NodeId node, std::int64_t epoch_step) {
  if (process(node) != nullptr || !lists_.names_itself(node)) return;
  FaultCounts& faults = recorder().faults();
  if (options_.engine.traits().crash_stop && machines_.has_run(node) && domains_.has_view(node)) {
    faults.add(Fault::start_refused);
    return;
  }
  if (machines_.has_run(node)) faults.add(Fault::restart);
  if (epoch_step < 0 && !options_.engine.has_quorum()) faults.add(Fault::epoch_step_back);
  const MemberId self{node, machines_.next_epoch(node, epoch_step, now())};
  if (!options_.maker && !disks_.open(self, observers_.ghost.get())) {
    faults.add(Fault::start_refused);
    return;
  }
  Process& process = machines_.start(*this, self);
  recorder().started(now(), self);
  process.make_node();
  if (options_.groups) make_clients(process);
  driver_.call(process, [](node::Node& n, Instant local) { n.start(local); });
}

void World::make_clients(Process& process) {
  const NodeId node = process.self.node;
  const std::uint64_t own = node.value * 1'000'003ULL + process.incarnation;
  const std::uint64_t seed = seed_for(options_, 2'000 + own);
  if (options_.sessions) {
    process.clients = std::make_unique<SessionClients>(process, client_mix_, client_names_, seed);
  } else {
    process.clients = std::make_unique<Clients>(process, client_mix_, seed);
  }
  process.status.list = lists_.file(node).hash;
  process.tell_clients_list();
  if (options_.keep_payloads) process.clients->keep_payloads();
}

void World::crash(NodeId node) {
  Process* running = process(node);
  if (running == nullptr) return;
  recorder().faults().add(Fault::crash);
  recorder().crashed(now(), running->self);
  running->end = Process::End::crashed;
  driver_.end(*running);
}

void World::crash_after_sends(NodeId node, std::uint64_t sends) {
  PEAL_ASSERT(sends > 0);
  if (Process* running = process(node)) running->sending.until_crash = sends;
}

void World::pause(NodeId node, Duration length) {
  Process* running = process(node);
  if (running == nullptr || running->state != Process::State::up || length.ns <= 0) return;
  recorder().faults().add(Fault::pause);
  running->state = Process::State::paused;
  running->processor.paused_at = now();
  schedule_.push(now() + length, Happening::resume, node.value, running->incarnation);
}

void World::leave(NodeId node) {
  Process* running = process(node);
  if (running == nullptr) return;
  running->inputs.leave_wanted = true;
  driver_.kick(*running);
}

void World::set_list(NodeId node, const std::vector<NodeId>& list) {
  lists_.set(node, list);
  recorder().faults().add(Fault::list_changed);
  tell_list(node);
}

void World::tell_list(NodeId node) {
  Process* running = process(node);
  if (running == nullptr || !lists_.names_itself(node)) return;
  if (running->state == Process::State::paused) {
    plan(now() + milliseconds(5), [this, node] { tell_list(node); });
    return;
  }
  if (running->processor.busy_until > now()) {
    plan(running->processor.busy_until, [this, node] { tell_list(node); });
    return;
  }
  running->tell_clients_list();
  driver_.call(*running, [this, node](node::Node& n, Instant local) {
    n.set_nodes(local, lists_.file(node));
  });
}

void World::set_slowness(NodeId node, std::int64_t times) {
  PEAL_ASSERT(times >= 1);
  Process* running = process(node);
  if (running == nullptr) return;
  if (times > 1) recorder().faults().add(Fault::slow_node);
  running->processor.slowness = times;
}

void World::set_application(NodeId node, std::uint32_t room_units, Duration per_unit) {
  Process* running = process(node);
  if (running == nullptr) return;
  if (room_units == 0) {
    recorder().faults().add(Fault::application_stopped);
  } else if (room_units < options_.process.room_units || per_unit.ns > 0) {
    recorder().faults().add(Fault::slow_application);
  }
  const std::uint32_t before = running->receive_room_units();
  running->application.room_units = room_units;
  running->application.consume_every = per_unit;
  if (per_unit.ns == 0) running->application.room_used = 0;
  if (running->receive_room_units() > before) running->inputs.room_grew = true;
  driver_.kick(*running);
}

void World::set_clock_drift(NodeId node, std::int32_t drift_ppm) {
  if (!machines_.set_clock_drift(node, drift_ppm, now())) return;
  if (Process* running = process(node)) driver_.plan_timer(*running);
}

void World::submit(NodeId node, Service service, std::string payload, DomainSet domains,
                   std::optional<ClientWish> wish) {
  Process* running = process(node);
  if (running == nullptr) return;
  running->inputs.inbox.push_back({service, domains, std::move(payload), std::move(wish)});
  driver_.kick(*running);
}

}  // namespace peal::sim
