// SPDX-License-Identifier: Apache-2.0
#include "sim/world/process.h"

#include <algorithm>

#include "sim/world/one_order.h"
#include "sim/world/world.h"

namespace peal::sim {

Process::Process(World& in, MemberId who, std::uint32_t number, const Clock& its_clock)
    : world(in), self(who), incarnation(number), clock(its_clock), buffers(in.options()) {
  application.room_units = world.options().process.room_units;
}

Process::~Process() { node.reset(); }

void Process::make_node() {
  const WorldOptions& options = world.options();
  const std::uint64_t own = self.node.value * 1'000'003ULL + incarnation;
  const std::uint64_t seed = seed_for(options, 1'000 + own);
  node::Limits limits = options.limits;
  limits.causal_units = options.engine.engine().traits.causal;
  limits.units_stay = options.engine.engine().traits.genuine;
  node = std::make_unique<node::Node>(
      limits, buffers.unit, [this, seed](order::Host& host) { return make_engine(seed, host); },
      *this, *this);
}

std::unique_ptr<order::Engine> Process::make_engine(std::uint64_t seed, order::Host& host) {
  const WorldOptions& options = world.options();
  if (options.maker) {
    std::vector<NodeId> universe;
    for (std::uint32_t n = 1; n <= options.nodes; ++n) universe.push_back(NodeId{n});
    return options.maker(self, universe, seed, buffers.frames, host);
  }
  order::Setup setup;
  setup.self = self;
  setup.list = world.lists().file(self.node);
  setup.cluster = kCluster;
  setup.packet_bytes_max = options.engine.packet_bytes_max();
  setup.options = options.engine.values();
  setup.domains = options.domains;
  if (NodeLog* log = world.disks().of(self.node)) {
    setup.log = log->log();
    setup.owed = log->owed()->log();
  }
  if (world.fabric() != nullptr) {
    memory = world.fabric()->attach(self, [this] {
      inputs.memory_came = true;
      world.driver().kick(*this);
    });
    setup.memory = memory.get();
  }
  setup.seed = seed;
  setup.first_count = options.first_count;
  return options.engine.engine().make(setup, buffers.frames, witnessed(host));
}

/// With genuine multicast, the world learns from which units the engine takes whom they concern.
order::Host& Process::witnessed(order::Host& host) {
  GenuinenessFeed* feed = world.observers().genuineness.get();
  if (feed == nullptr) return host;
  witnessed_host_ = std::make_unique<WitnessedHost>(host, self, *feed);
  return *witnessed_host_;
}

void Process::tell_clients_list() {
  if (clients != nullptr) clients->set_nodes(world.lists().known_to(self.node, status.list));
}

/// If the engine has acceptors, records the submission before any packet can carry the message:
/// other nodes may deliver a unit of this node before this node knows the unit's position, even if
/// this node crashes right after sending.
void Process::announce_before_sending() {
  if (world.options().engine.has_quorum()) announce_submission();
}

void Process::flush_memory() {
  if (memory == nullptr || end != End::none) return;
  if (!memory->writes_wait()) return;
  announce_before_sending();
  if (const NetModel* model = world.model()) return flush_by_model(*model);
  if (sending.until_crash == 0) return memory->flush();
  while (memory->writes_wait()) {
    memory->flush(1);
    if (--sending.until_crash > 0) continue;
    world.recorder().faults().add(Fault::crash_in_call);
    world.recorder().crashed(world.now(), self);
    end = End::crashed;
    return;
  }
}

/// Each write costs time of the processor, and leaves behind the earlier ones.
void Process::flush_by_model(const NetModel& model) {
  while (memory->writes_wait()) {
    processor.charge(model.options().cpu.write.of(memory->first_bytes(), 1));
    const Duration busy = (world.options().step_cost + processor.charged) * processor.slowness;
    memory->flush_first(world.now() + busy);
  }
}

void Process::send(NodeId to, Lane lane, const BufferRef& packet) {
  if (end == End::none) announce_before_sending();
  if (end == End::none) world.traffic().transmit(*this, to, lane, packet.view());
}

void Process::multicast(Lane lane, const BufferRef& packet) {
  if (end != End::none) return;
  announce_before_sending();
  if (!world.options().multicast) {
    for (std::uint32_t n = 1; n <= world.nodes(); ++n) {
      const NodeId to{n};
      if (to != self.node && end == End::none)
        world.traffic().transmit(*this, to, lane, packet.view());
    }
    return;
  }
  if (!world.options().fan_out || lane != Lane::data) {
    world.traffic().transmit(*this, NodeId{}, lane, packet.view());
    return;
  }
  for (const NodeId to : sending.destinations) {
    if (end == End::none) world.traffic().transmit(*this, to, lane, packet.view());
  }
}

void Process::set_audience(std::span<const MemberId> view_members) {
  sending.destinations.clear();
  for (const MemberId& member : view_members) {
    if (member.node != self.node) sending.destinations.push_back(member.node);
  }
}

std::vector<order::Counter> Process::counters() const {
  const auto of_node = node->counters();
  std::vector<order::Counter> all(of_node.begin(), of_node.end());
  if (clients != nullptr) {
    const auto of_groups = clients->named_counters();
    all.insert(all.end(), of_groups.begin(), of_groups.end());
  }
  return all;
}

std::optional<std::uint64_t> Process::counter(std::string_view name) const {
  for (const order::Counter& each : counters()) {
    if (each.name == name) return each.value;
  }
  return std::nullopt;
}

std::uint64_t Process::undone() const {
  const bool genuine = world.options().engine.is_genuine();
  return submissions.accepted - (genuine ? work.own_placed : work.own_delivered);
}

void Process::announce_submission() {
  Submissions::Pending& pending = submissions.pending;
  if (pending.announced) return;
  pending.announced = true;
  world.recorder().submitted(world.now(), {self, pending.number}, pending.hash, pending.bytes,
                             pending.service, pending.domains);
  if (status.views == 0) submissions.before_first_view.push_back(pending);
}

void Process::on_message(const node::Message& message) {
  if (end != End::none) return;
  ++work.effects_in_call;
  ++work.messages_delivered;
  if (node::is_control(message.number)) {  // control messages are not in the messages' order
    clients->on_message(message);
    return;
  }
  if (message.sender == self) ++work.own_delivered;
  world.recorder().delivered(world.now(), self, message);
  if (clients != nullptr) clients->on_message(message);
  world.driver().delivered(*this, message);
}

void Process::on_early(const node::Message& message) {
  if (end != End::none) return;
  ++work.effects_in_call;
  if (node::is_control(message.number)) return;
  if (message.sender == self && message.number == submissions.pending.number) announce_submission();
  world.recorder().told_early(world.now(), self, message);
  world.driver().delivered_early(*this, message);
}

void Process::on_view(const order::View& installed) {
  if (end != End::none) return;
  ++work.effects_in_call;
  world.recorder().installed(world.now(), self, installed);
  check_primary(installed);
  if (order::Ghost* ghost = world.observers().ghost.get()) ghost->installed(self, installed);
  if (clients != nullptr) clients->on_view(installed);
  if (installed.transitional) return;
  status.view = installed.id;
  // A view has a place, too. What was placed before it and is not delivered is of an order that was
  // lost with all nodes of the domain.
  if (world.domains().is_genuine() && world.domains().has_view(self.node)) {
    world.domains().note_delivery(world.domains().of(self.node).front(), installed.id.number);
  }
  status.members.assign(installed.members.begin(), installed.members.end());
  status.last_seq = 0;
  status.reached = {};
  ++status.views;
  submissions.before_first_view.clear();
  if (world.options().engine.has_acceptors() && world.options().engine.ensembles() == 1 &&
      world.options().domains.empty()) {
    check_one_order(world);
  }
}

/// Checks that a primary view has a majority. The oracle cannot check primary views if the list
/// of nodes changes.
void Process::check_primary(const order::View& installed) const {
  if (installed.transitional || installed.primary != order::Primary::yes) return;
  if (world.recorder().broken()) return;
  if (world.domains().is_genuine()) {
    if (2 * installed.members.size() > world.domains().view_nodes(self.node).size()) return;
  } else if (world.lists().may_be_primary(self.node, status.list, installed)) {
    return;
  }
  world.recorder().violation(world.now(), "primary",
                             "n" + std::to_string(self.node.value) +
                                 " takes a view for the primary one that has not most nodes of a "
                                 "list that may count");
}

void Process::on_originate(const node::Origination& placed) {
  if (end != End::none) return;
  ++work.effects_in_call;
  if (node::is_control(placed.number)) return;
  if (placed.number == submissions.pending.number) announce_submission();
  ++work.own_placed;
  if (clients != nullptr) clients->on_placed(placed);
  world.recorder().originated(world.now(), self, placed);
  world.observers().originated(self);
}

void Process::on_event(const order::Event& event) {
  if (end != End::none) return;
  ++work.events_seen[event.kind];
  if (event.kind == &order::event::gather_started) {
    if (status.recovering || status.committing)
      ++world.recorder().figures().recoveries_with_second_failure;
    status.operational = status.recovering = status.committing = false;
  } else if (event.kind == &order::event::commit_started) {
    status.committing = true;
  } else if (event.kind == &order::event::recovery_started) {
    status.committing = false;
    status.recovering = true;
  } else if (event.kind == &order::event::view_installed) {
    status.recovering = status.committing = false;
    status.operational = true;
  } else if (event.kind == &order::event::nodes_adopted) {
    status.list = event.a;
    tell_clients_list();
  } else if (event.kind == &order::event::epoch_corrected) {
    correct_epoch(event.a);
  }
  world.observers().reported(world.now(), self, event);
}

/// The node continues with another epoch. The node's history so far belongs to an ended
/// incarnation.
void Process::correct_epoch(std::uint64_t epoch) {
  const MemberId before = self;
  world.recorder().crashed(world.now(), self);
  self.epoch = epoch;
  world.recorder().started(world.now(), self);
  if (clients != nullptr) clients->renamed(before);
  for (const Submissions::Pending& early : submissions.before_first_view) {
    world.recorder().submitted(world.now(), {self, early.number}, early.hash, early.bytes,
                               early.service, early.domains);
  }
}

void Process::on_fatal(std::string_view reason) {
  if (end != End::none) return;
  status.fatal_reason = std::string(reason);
  end = End::conflict;
}

std::uint32_t Process::receive_room_units() const {
  if (clients != nullptr && clients->room_bytes() == 0) return 0;
  return application.free_units();
}

void Process::on_unit_originated(const ViewId& in, Seq seq, Service service, DomainSet domains,
                                 ByteView unit) {
  if (end != End::none) return;
  ++work.effects_in_call;
  work.unit_bytes_originated += unit.size();
  note_place(domains, seq);
  world.recorder().unit_originated(world.now(), self, in, seq, service, domains, unit);
}

void Process::note_place(DomainSet domains, Seq seq) {
  if (world.domains().is_genuine()) world.domains().note_place(domains, seq);
}

void Process::note_reached(const order::Delivery& delivery) {
  const std::uint64_t unit =
      std::uint64_t{delivery.origin.node.value} << 48 ^ std::uint64_t{delivery.unit.size()} << 32;
  if (delivery.seq == 0) {  // members deliver these units in different orders
    Digest own;
    own.add(unit);
    status.reached[0].causal += own.value();
    return;
  }
  status.last_seq = delivery.seq;
  const auto reach = [&](order::Domain domain) {
    NodeStatus::Reached& of = status.reached[domain];
    of.seq = delivery.seq;
    of.digest.add(delivery.seq ^ unit);
  };
  note_place(delivery.domains, delivery.seq);
  if (world.domains().is_genuine()) {
    world.domains().note_delivery(world.domains().of(self.node).front(), delivery.seq);
  }
  if (delivery.domains.empty()) return reach(0);
  for (const order::Domain domain : delivery.domains) reach(domain);
}

void Process::on_unit_delivered(const order::Delivery& delivery) {
  if (end != End::none) return;
  ++work.effects_in_call;
  ++work.units_delivered;
  if (application.consume_every.ns > 0) ++application.room_used;
  if (status.is_in(delivery.view)) {
    note_reached(delivery);
  }
  world.recorder().unit_delivered(world.now(), self, delivery);
  if (order::Ghost* ghost = world.observers().ghost.get()) ghost->delivered(self, delivery);
}

}  // namespace peal::sim
