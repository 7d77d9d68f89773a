// SPDX-License-Identifier: Apache-2.0
#include "sim/world/process.h"

#include <algorithm>

#include "sim/world/one_order.h"
#include "sim/world/world.h"

namespace peal::sim {
namespace {

constexpr std::uint32_t kLargeSlabBytes = 65'536;
constexpr std::uint32_t kLargeSlabs = 64;
/// Large enough for the commit token of a few nodes with large gaps.
constexpr std::uint32_t kUnitSlabBytesLeast = 8'192;
/// A limit of address space, not memory: pages that are never used cost nothing.
constexpr std::uint64_t kPoolBytesMost = 256ULL << 20;

std::uint32_t slab_count(std::uint32_t wanted, std::uint32_t max_gap, std::uint32_t slab_bytes) {
  if (wanted != 0) return wanted;
  const std::uint64_t enough = std::uint64_t{max_gap} + max_gap / 2 + 512;
  return static_cast<std::uint32_t>(std::min(enough, kPoolBytesMost / slab_bytes));
}

}  // namespace

Process::Process(World& in, MemberId who, std::uint32_t number, const Clock& its_clock)
    : world(in), self(who), incarnation(number), clock(its_clock) {
  const WorldOptions& options = world.options();
  const std::uint32_t packet = (options.engine.packet_bytes_max() + 63) / 64 * 64;
  const std::uint32_t unit = std::max(packet, kUnitSlabBytesLeast);
  const order::Needs needs = options.engine.needs(options.nodes);
  const std::uint32_t gap = std::max(needs.values, needs.max_gap);
  receive_pool =
      std::make_unique<BufferPool>(packet, slab_count(options.process.receive_slabs, gap, packet));
  large_pool = std::make_unique<BufferPool>(kLargeSlabBytes, kLargeSlabs);
  unit_pool = std::make_unique<BufferPool>(unit, slab_count(options.process.unit_slabs, gap, unit));
  room_units = options.process.room_units;
}

Process::~Process() { node.reset(); }

void Process::make_node() { node = world.make_node(*this); }

/// With an engine with acceptors, other nodes may deliver a unit that this node hands out before
/// this node knows the unit's place, even if this node crashes at once.
void Process::announce_before_sending() {
  if (world.options().engine.has_quorum()) announce_submission();
}

void Process::send(NodeId to, Lane lane, const BufferRef& packet) {
  if (end == End::none) announce_before_sending();
  if (end == End::none) world.transmit(*this, to, lane, packet.view());
}

void Process::multicast(Lane lane, const BufferRef& packet) {
  if (end != End::none) return;
  announce_before_sending();
  if (!world.options().multicast) {
    for (std::uint32_t n = 1; n <= world.nodes(); ++n) {
      const NodeId to{n};
      if (to != self.node && end == End::none) world.transmit(*this, to, lane, packet.view());
    }
    return;
  }
  if (!world.options().fan_out || lane != Lane::data) {
    world.transmit(*this, NodeId{}, lane, packet.view());
    return;
  }
  for (const NodeId to : audience) {
    if (end == End::none) world.transmit(*this, to, lane, packet.view());
  }
}

void Process::set_audience(std::span<const MemberId> view_members) {
  audience.clear();
  for (const MemberId& member : view_members) {
    if (member.node != self.node) audience.push_back(member.node);
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

void Process::announce_submission() {
  if (pending.announced) return;
  pending.announced = true;
  world.recorder().submitted(world.now(), {self, pending.number}, pending.hash, pending.bytes,
                             pending.service, pending.domain);
  if (views == 0) before_first_view.push_back(pending);
}

void Process::on_message(const node::Message& message) {
  if (end != End::none) return;
  ++effects_in_call;
  ++messages_delivered;
  if (node::is_control(message.number)) {  // not an application's message, so it has no place in
                                           // the order of messages
    clients->on_message(message);
    return;
  }
  if (message.sender == self) ++own_delivered;
  world.recorder().delivered(world.now(), self, message);
  if (clients != nullptr) clients->on_message(message);
  world.told(*this, message);
}

void Process::on_early(const node::Message& message) {
  if (end != End::none) return;
  ++effects_in_call;
  if (node::is_control(message.number)) return;
  if (message.sender == self && message.number == pending.number) announce_submission();
  world.recorder().told_early(world.now(), self, message);
  world.told_early(*this, message);
}

void Process::on_view(const order::View& installed) {
  if (end != End::none) return;
  ++effects_in_call;
  world.recorder().installed(world.now(), self, installed);
  world.check_primary(*this, installed);
  if (order::Ghost* ghost = world.ghost()) ghost->installed(self, installed);
  if (clients != nullptr) clients->on_view(installed);
  if (installed.transitional) return;
  view = installed.id;
  members.assign(installed.members.begin(), installed.members.end());
  last_seq = 0;
  reached = {};
  ++views;
  before_first_view.clear();
  if (world.options().engine.has_quorum() && world.options().engine.ensembles() == 1 &&
      world.options().domains.empty()) {
    check_one_order(world);
  }
}

void Process::on_originate(std::uint64_t number, const ViewId& in, Seq seq, std::uint32_t index,
                           Service service) {
  if (end != End::none) return;
  ++effects_in_call;
  if (node::is_control(number)) return;
  if (number == pending.number) announce_submission();
  ++originated;
  world.recorder().originated(world.now(), {self, number}, in, seq, index, service);
  world.originated(*this);
}

void Process::on_event(const order::Event& event) {
  if (end != End::none) return;
  ++events_seen[event.kind];
  if (event.kind == &order::event::gather_started) {
    if (recovering || committing) ++world.recorder().figures().recoveries_with_second_failure;
    operational = recovering = committing = false;
  } else if (event.kind == &order::event::commit_started) {
    committing = true;
  } else if (event.kind == &order::event::recovery_started) {
    committing = false;
    recovering = true;
  } else if (event.kind == &order::event::view_installed) {
    recovering = committing = false;
    operational = true;
  } else if (event.kind == &order::event::nodes_adopted) {
    list = event.a;
    world.tell_clients_list(*this);
  } else if (event.kind == &order::event::epoch_corrected) {
    correct_epoch(event.a);
  }
  world.reported(*this, event);
}

/// The node continues with another epoch: its history so far counts as that of an ended
/// incarnation.
void Process::correct_epoch(std::uint64_t epoch) {
  const MemberId before = self;
  world.recorder().crashed(world.now(), self);
  self.epoch = epoch;
  world.recorder().started(world.now(), self);
  if (clients != nullptr) clients->renamed(before);
  for (const PendingSubmission& early : before_first_view) {
    world.recorder().submitted(world.now(), {self, early.number}, early.hash, early.bytes,
                               early.service, early.domain);
  }
}

void Process::on_fatal(std::string_view reason) {
  if (end != End::none) return;
  fatal_reason = std::string(reason);
  end = End::conflict;
}

std::uint32_t Process::receive_room_units() const {
  if (clients != nullptr && clients->room_bytes() == 0) return 0;
  return room_units > room_used ? room_units - room_used : 0;
}

void Process::on_unit_originated(const ViewId& in, Seq seq, Service service, ByteView unit) {
  if (end != End::none) return;
  ++effects_in_call;
  unit_bytes_originated += unit.size();
  world.recorder().unit_originated(world.now(), self, in, seq, service, unit);
}

void Process::on_unit_delivered(const order::Delivery& delivery) {
  if (end != End::none) return;
  ++effects_in_call;
  ++units_delivered;
  if (consume_every.ns > 0) ++room_used;
  if (view && delivery.view == *view) {
    last_seq = delivery.seq;
    Reached& of = reached[world.domain_of(delivery.seq)];
    of.seq = delivery.seq;
    of.digest.add(delivery.seq ^ std::uint64_t{delivery.origin.node.value} << 48 ^
                  std::uint64_t{delivery.unit.size()} << 32);
  }
  world.recorder().unit_delivered(world.now(), self, delivery);
  if (order::Ghost* ghost = world.ghost()) ghost->delivered(self, delivery);
}

}  // namespace peal::sim
