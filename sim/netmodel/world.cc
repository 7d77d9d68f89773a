// SPDX-License-Identifier: Apache-2.0
#include "sim/world/world.h"

#include "sim/netmodel/model.h"

// The world with a network model: packets pass cards and ports frame by frame, and a node's work
// takes the time that the model gives.

namespace peal::sim {

void World::send_frames(Process& from, PacketIndex index) {
  const Packet& packet = packets_[index];
  Flight flight;
  flight.packet = index;
  flight.from = from.self.node;
  flight.frames = model_->frames_of(packet.bytes.size());
  charge(from, model_->options().cpu.send.of(packet.bytes.size(), flight.frames.count));
  const Instant ready = now_ + (options_.step_cost + from.charged) * from.slowness;
  const Instant first = model_->depart(flight.from, ready, flight.frames);
  packets_.hold(index);
  queue_.push(first, Happening::frame, flight.from.value, model_->keep(flight));
}

void World::pass_switch(std::uint32_t slot) {
  Flight& flight = model_->flight(slot);
  const Packet& packet = packets_[flight.packet];
  const std::uint32_t bytes = flight.frames.bytes_of(flight.frame);
  const bool last = flight.frame + 1 == flight.frames.count;
  for (const NodeId node : universe_) {
    const bool meant = packet.to.value == 0 ? node != flight.from : node == packet.to;
    if (!meant) continue;
    const std::optional<Instant> left = model_->forward(node, now_, bytes);
    if (!left && !flight.lost[node.value]) {
      flight.lost[node.value] = true;
      recorder_.faults().add(Fault::port_full);
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
  queue_.push(now_ + model_->on_wire(flight.frames.bytes_of(flight.frame)), Happening::frame,
              flight.from.value, slot);
}

bool World::charge_receive(Process& process, const Packet& packet) {
  const auto bytes = packet.bytes.size();
  charge(process, model_->options().cpu.receive.of(bytes, model_->frames_of(bytes).count));
  if (!carries_units(packet.kind) || !model_->loses_data()) return true;
  recorder_.faults().add(Fault::kind_loss);
  work_for(process, process.charged);
  return false;
}

void World::told_early(Process& process, const node::Message& message) {
  const Instant at = charge_told(process, message);
  if (watcher_ != nullptr) watcher_->on_early(at, process.self, message);
}

void World::told(Process& process, const node::Message& message) {
  const Instant at = charge_told(process, message);
  if (watcher_ != nullptr) watcher_->on_message(at, process.self, message);
}

Instant World::charge_told(Process& process, const node::Message& message) {
  if (model_ != nullptr) {
    charge(process, model_->options().cpu.deliver.of(message.payload.size(), 1));
  }
  return now_ + (options_.step_cost + process.charged) * process.slowness;
}

}  // namespace peal::sim
