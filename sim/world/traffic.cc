// SPDX-License-Identifier: Apache-2.0
#include "sim/world/traffic.h"

#include <algorithm>

#include "sim/scenario/transcript.h"
#include "wire/frames.h"

namespace peal::sim {
namespace {

bool is_for(const Packet& packet, NodeId node) {
  return packet.to.value == 0 ? node != packet.from : node == packet.to;
}

}  // namespace

Traffic::Traffic(const WorldOptions& options, Schedule& schedule, const Machines& machines,
                 Network& network, NetModel* model, Transit& transit, StrayPackets& strays,
                 Observers& observers)
    : options_(options),
      schedule_(schedule),
      machines_(machines),
      network_(network),
      model_(model),
      transit_(transit),
      packets_(transit.packets()),
      strays_(strays),
      observers_(observers) {}

void Traffic::transmit(Process& from, NodeId to, Lane lane, ByteView bytes) {
  const PacketIndex index = packets_.add(bytes, from.self.node, to, lane);
  // Sealing omits the header of packets on the data lane, so the header must have the kind DATA
  // (io/frame_header.h).
  const bool loses_header = options_.engine.engine().write_data_header != nullptr;
  PEAL_ASSERT(!loses_header || lane != Lane::data ||
              wire::frame_kind_of(bytes) == wire::FrameKind::data);
  const bool dies = from.sending.until_crash > 0 && --from.sending.until_crash == 0;
  note(from, packets_[index]);
  if (model_ != nullptr) {
    send_by_model(from, index);
  } else {
    send_plainly(from, index, dies);
  }
  if (options_.keep_packets) strays_.remember(index);
  packets_.release(index);
  strays_.replay_by_chance();
  if (dies) {
    observers_.recorder.faults().add(Fault::crash_in_call);
    observers_.recorder.crashed(schedule_.now(), from.self);
    from.end = Process::End::crashed;
  }
}

/// Counts the packet, and passes it to all observers.
void Traffic::note(Process& from, const Packet& packet) {
  ++from.sending.in_call;
  ++from.work.packets_sent;
  ++observers_.recorder.figures().packets;
  const PacketKind kind = packet.kind;
  ++packets_by_kind_[static_cast<std::size_t>(kind)];
  const bool of_units = kind == PacketKind::data || kind == PacketKind::submit ||
                        kind == PacketKind::propose || kind == PacketKind::decided ||
                        (options_.engine.is_genuine() && carries_units(kind));
  if (of_units) from.work.data_bytes_sent += packet.bytes.size();
  if (observers_.ghost != nullptr) observers_.ghost->sent(from.self, inspected(packet));
  if (observers_.genuineness != nullptr) observers_.genuineness->sent(schedule_.now(), packet);
  if (observers_.watcher != nullptr) observers_.watcher->on_send(packet, from.self);
  if (observers_.recorder.echoes()) {
    observers_.recorder.sent(schedule_.now(), packet_text(packet));
  }
}

void Traffic::send_plainly(Process& from, PacketIndex index, bool dies) {
  const auto bytes = static_cast<std::int64_t>(packets_[index].bytes.size());
  const Instant ready = schedule_.now() + Duration{options_.send_cost.ns * from.sending.in_call *
                                                   from.processor.slowness};
  const Duration on_wire{options_.wire_per_kilobyte.ns * bytes / 1'000};
  const Instant departure = std::max(ready, from.sending.free_at) + on_wire;
  from.sending.free_at = departure;
  const NodeId to = packets_[index].to;
  if (to.value != 0) {
    if (to != from.self.node && to.value <= options_.nodes) deliver_copies(index, to, departure);
    return;
  }
  // A node that crashes during a multicast may have reached only some nodes.
  const bool some = (dies && network_.coin()) || network_.partial();
  if (some) observers_.recorder.faults().add(Fault::partial_multicast);
  for (std::uint32_t n = 1; n <= options_.nodes; ++n) {
    const NodeId node{n};
    const bool own = node == from.self.node;
    if (own && options_.loopback) {
      packets_.hold(index);
      transit_.plan_arrival(departure + microseconds(1), node, index);
    }
    if (own || (some && network_.coin())) continue;
    deliver_copies(index, node, departure);
  }
}

void Traffic::send_by_model(Process& from, PacketIndex index) {
  const Packet& packet = packets_[index];
  Flight flight;
  flight.packet = index;
  flight.from = from.self.node;
  flight.frames = model_->frames_of(packet.bytes.size());
  from.processor.charge(model_->options().cpu.send.of(packet.bytes.size(), flight.frames.count));
  const Instant ready =
      schedule_.now() + (options_.step_cost + from.processor.charged) * from.processor.slowness;
  if (model_->has_bus()) {
    pass_bus(index, flight.frames, ready);
    return;
  }
  const Instant first = model_->depart(flight.from, ready, flight.frames);
  packets_.hold(index);
  schedule_.push(first, Happening::frame, flight.from.value, model_->keep(flight));
}

void Traffic::pass_bus(PacketIndex index, const Frames& frames, Instant ready) {
  const Packet& packet = packets_[index];
  const Instant passed = model_->carry(ready, frames, carries_units(packet.kind));
  for (std::uint32_t n = 1; n <= options_.nodes; ++n) {
    if (!is_for(packet, NodeId{n})) continue;
    deliver_copies(index, NodeId{n}, model_->arrive(NodeId{n}, passed));
  }
}

void Traffic::pass_switch(std::uint32_t slot) {
  Flight& flight = model_->flight(slot);
  const Packet& packet = packets_[flight.packet];
  const std::uint32_t bytes = flight.frames.bytes_of(flight.frame);
  const bool last = flight.frame + 1 == flight.frames.count;
  for (std::uint32_t n = 1; n <= options_.nodes; ++n) {
    const NodeId node{n};
    if (!is_for(packet, node)) continue;
    const std::optional<Instant> left = model_->forward(node, schedule_.now(), bytes);
    if (!left && !flight.lost[node.value]) {
      flight.lost[node.value] = true;
      observers_.recorder.faults().add(Fault::port_full);
    }
    if (last && !flight.lost[node.value]) {
      deliver_copies(flight.packet, node, model_->arrive(node, *left));
    }
  }
  if (last) {
    packets_.release(flight.packet);
    model_->forget(slot);
    return;
  }
  ++flight.frame;
  schedule_.push(schedule_.now() + model_->on_wire(flight.frames.bytes_of(flight.frame)),
                 Happening::frame, flight.from.value, slot);
}

void Traffic::deliver_copies(PacketIndex index, NodeId to, Instant departure) {
  const Fate fate =
      network_.fate(packets_[index], to, network_.has_rules() && machines_.anyone_recovers());
  if (fate.held) {
    transit_.hold_back(index, to);
    return;
  }
  for (std::uint32_t i = 0; i < fate.count; ++i) {
    PacketIndex copy = index;
    if (fate.copies[i].damaged) {
      copy = transit_.damaged(index, network_.random());
    } else {
      packets_.hold(copy);
    }
    transit_.plan_arrival(departure + fate.copies[i].after, to, copy);
  }
}

}  // namespace peal::sim
