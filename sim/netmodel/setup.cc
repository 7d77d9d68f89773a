// SPDX-License-Identifier: Apache-2.0
#include "sim/netmodel/setup.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/assert.h"
#include "node/unit.h"
#include "wire/frames.h"

namespace peal::sim {
namespace {

constexpr std::uint32_t kOneFrame = 1'472;
/// Engines of genuine multicast do not split messages: bytes of a packet besides its message.
constexpr std::uint32_t kAroundWhole = 400;
/// Slots of a sender: at least so many, and more if they are small. Those of delivered messages are
/// free only after a heartbeat.
constexpr std::uint32_t kSlotsLeast = 64;
constexpr std::uint32_t kSlotBytes = 256 << 10;

// Timeouts on a bus, where a packet takes a hundred times as long as on a link. Shorter ones would
// fill the bus with reports and requests.
constexpr Duration kBusSilence = seconds(2);
constexpr Duration kBusMissing = milliseconds(20);

std::uint64_t message_bytes_beside(const NetRunOptions& options) {
  return options.payload_bytes + node::kPartHeaderBytes;
}

std::uint32_t unit_room(std::uint32_t datagram) {
  return datagram - static_cast<std::uint32_t>(wire::kDataHeaderBytes + node::kUnitHeaderBytes);
}

std::uint32_t datagram_of(const NetRunOptions& options) {
  if (options.datagram_bytes != 0) return options.datagram_bytes;
  if (options.engine.is_genuine()) {
    return std::clamp<std::uint32_t>(options.payload_bytes + kAroundWhole, kOneFrame,
                                     wire::kPacketBytesMax);
  }
  return message_bytes_beside(options) <= unit_room(kOneFrame) ? kOneFrame
                                                               : options.cpu->datagram_bytes_large;
}

std::uint32_t slots_of(const NetRunOptions& options) {
  return std::max({4 * options.under_way, kSlotsLeast, kSlotBytes / datagram_of(options)});
}

std::vector<NodeId> nodes_of(const NetRunOptions& options, std::uint32_t domain) {
  const std::uint32_t size = options.nodes / options.domains;
  std::vector<NodeId> nodes;
  for (std::uint32_t i = 1; i <= size; ++i) nodes.push_back(NodeId{(domain - 1) * size + i});
  return nodes;
}

/// Sets the windows of an engine with a token, and which socket it reads first.
void set_windows(const NetRunOptions& options, EngineOptions& engine) {
  const CpuKind& cpu = *options.cpu;
  const bool original = options.accelerated_window == 0U;
  const std::uint32_t personal =
      options.personal_window.value_or(original ? cpu.original_window : cpu.window);
  const std::uint32_t global = options.global_window.value_or(personal * options.nodes);
  engine.set("personal_window", personal);
  engine.set("global_window", global);
  if (options.accelerated_window) {
    engine.set("accelerated_window", *options.accelerated_window);
  } else if (personal != 0) {
    engine.set("accelerated_window", personal);
  }
  std::string priority(cpu.priority);
  if (engine.number("accelerated_window") == 0) {
    // If no packets follow the token, all packets arrive before it.
    engine.set("request_lag", 0);
    priority = "careful";
  }
  const bool known = engine.read("priority", priority);
  PEAL_ASSERT(known);
  if (!engine.has_quorum()) {
    const std::uint32_t usual = EngineOptions().max_gap();
    engine.set("max_gap", std::clamp(4 * global, usual, 8'192U));
  }
}

NetModelOptions model_of(const NetRunOptions& options) {
  NetModelOptions net;
  net.megabits = options.net->megabits;
  net.latency = options.latency.value_or(options.net->latency);
  net.jitter = options.net->jitter;
  net.bus_message = options.net->bus_message;
  net.coalesce = options.coalesce;
  net.port_buffer_bytes = options.port_buffer_bytes.value_or(options.net->port_buffer_bytes);
  net.data_loss = options.loss;
  net.cpu = options.cpu->costs;
  net.write = options.net->write;
  net.write_done = options.net->write_done;
  return net;
}

}  // namespace

EngineOptions engine_of(const NetRunOptions& options) {
  EngineOptions engine = options.engine;
  engine.set("packet_bytes_max", datagram_of(options));
  // Use the values of real nodes, also for the history.
  engine.set("gap", microseconds(500).ns);
  engine.set("suspect", milliseconds(200).ns);
  engine.set("history", 64 << 20);
  if (options.net->is_bus()) {
    engine.set("fault", kBusSilence.ns);
    engine.set("lacks", kBusMissing.ns);
  }
  if (options.ack_rate) {
    engine.set("acks", *options.ack_rate > 0 ? 1 : 0);
    if (*options.ack_rate > 0) engine.set("ack_rate", *options.ack_rate);
  }
  if (options.under_way > 0) engine.set("slots", slots_of(options));
  set_windows(options, engine);
  return engine;
}

WorldOptions world_of(const NetRunOptions& options) {
  WorldOptions world;
  world.ghost = false;  // the ghost checks the protocol; an experiment only measures
  world.nodes = all_nodes(options);
  world.seed = options.seed;
  world.engine = engine_of(options);
  world.acceptors = options.acceptors;
  for (std::uint32_t domain = 1; domain <= options.domains; ++domain) {
    const std::vector<NodeId> nodes = nodes_of(options, domain);
    world.domains.push_back({nodes, {}});
    if (!world.engine.has_acceptors()) continue;
    world.domains.back().acceptors = {nodes.begin(), nodes.begin() + options.acceptors};
  }
  world.disks = {options.disk, options.disk, 0, options.disk};
  world.multicast = options.multicast;
  world.step_cost = options.cpu->step;
  world.follow_preference = true;
  world.keep_packets = false;
  world.digest_every = 0;
  world.net = model_of(options);
  world.fabric.done_least = world.fabric.done_most = options.net->write_done;
  world.fabric.tear = FabricOptions::Tear::never;
  world.fabric.segment_bytes = wire::kPacketBytesMax;
  return world;
}

HistoryRecorder::Options recorder_of(const NetRunOptions& options) {
  HistoryRecorder::Options recorder;
  recorder.nodes = all_nodes(options);
  recorder.engine = &options.engine.engine();
  recorder.optimistic = options.engine.is_optimistic();
  for (std::uint32_t domain = 1; domain <= options.domains; ++domain) {
    recorder.domains.push_back(nodes_of(options, domain));
  }
  return recorder;
}

DomainSet domain_of(const NetRunOptions& options, NodeId node) {
  if (options.domains == 0) return {};
  if (options.to_all) return DomainSet::up_to(options.domains);
  if (node.value > options.nodes) {
    const std::uint32_t turn = (node.value - options.nodes - 1) % options.domains;
    return DomainSet::of(static_cast<order::Domain>(turn + 1));
  }
  const std::uint32_t number = (node.value - 1) / (options.nodes / options.domains) + 1;
  return DomainSet::of(static_cast<order::Domain>(number));
}

std::uint64_t messages_in(const NetRunOptions& options, std::uint64_t packets) {
  const std::uint64_t room = unit_room(datagram_of(options));
  return packets * room / message_bytes_beside(options);
}

bool acknowledges(const NetRunOptions& options) {
  const EngineOptions engine = engine_of(options);
  return engine.find("acks") == nullptr || engine.number("acks") != 0;
}

}  // namespace peal::sim
