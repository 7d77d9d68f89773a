// SPDX-License-Identifier: Apache-2.0
#include "sim/world/stray_packets.h"

#include <algorithm>

namespace peal::sim {
namespace {

/// How many old packets of each kind are stored: the most recent packets, and a random sample of
/// earlier packets.
constexpr std::size_t kMemoryRecent = 32;
constexpr std::size_t kMemoryOlder = 32;

}  // namespace

StrayPackets::StrayPackets(const WorldOptions& options, Schedule& schedule, Transit& transit,
                           Network& network, FaultCounts& faults)
    : nodes_(options.nodes),
      schedule_(schedule),
      transit_(transit),
      packets_(transit.packets()),
      network_(network),
      faults_(faults),
      random_(seed_for(options, 4)) {}

void StrayPackets::replay_by_chance() {
  const Conditions& conditions = network_.conditions();
  if (conditions.replay <= 0 || !random_.chance(conditions.replay)) return;
  replay(std::nullopt, Duration{random_.between(0, conditions.replay_by.ns)});
}

void StrayPackets::remember(PacketIndex index) {
  const auto kind = static_cast<std::size_t>(packets_[index].kind);
  std::vector<PacketIndex>& memory = memory_[kind];
  const std::uint64_t seen = memory_seen_[kind]++;
  packets_.hold(index);
  if (memory.size() < kMemoryRecent + kMemoryOlder) {
    memory.push_back(index);
    return;
  }
  // The front half is a ring of the most recent packets. A packet that leaves the front half may
  // enter the back half, so that each earlier packet has about the same chance to be stored.
  const std::size_t slot = seen % kMemoryRecent;
  const PacketIndex old = memory[slot];
  memory[slot] = index;
  const std::uint64_t lottery = random_.below(seen + 1);
  if (lottery < kMemoryOlder) {
    packets_.release(memory[kMemoryRecent + lottery]);
    memory[kMemoryRecent + lottery] = old;
  } else {
    packets_.release(old);
  }
}

std::optional<PacketIndex> StrayPackets::old_packet(std::optional<PacketKind> kind) {
  std::size_t total = 0;
  for (std::size_t k = 0; k < kPacketKinds; ++k) {
    if (!kind || static_cast<std::size_t>(*kind) == k) total += memory_[k].size();
  }
  if (total == 0) return std::nullopt;
  std::size_t pick = random_.below(total);
  std::size_t k = 0;
  while (true) {
    if (!kind || static_cast<std::size_t>(*kind) == k) {
      if (pick < memory_[k].size()) break;
      pick -= memory_[k].size();
    }
    ++k;
  }
  return memory_[k][pick];
}

bool StrayPackets::replay(std::optional<PacketKind> kind, Duration after) {
  const std::optional<PacketIndex> old = old_packet(kind);
  if (!old) return false;
  const PacketIndex index = *old;
  faults_.add(Fault::replay);
  const NodeId to = packets_[index].to;
  for (std::uint32_t n = 1; n <= nodes_; ++n) {
    const NodeId node{n};
    const bool meant = to.value == 0 ? node != packets_[index].from : node == to;
    if (!meant || !network_.connected(packets_[index].from, node)) continue;
    packets_.hold(index);
    transit_.plan_arrival(schedule_.now() + after, node, index);
  }
  return true;
}

void StrayPackets::inject_random(NodeId to) {
  const std::size_t size = random_.below(random_.chance(0.9) ? 200 : 60'000);
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random_.next());
  // Half of these packets pass the first checks of a header.
  if (size >= 4 && random_.chance(0.5)) {
    bytes[0] = std::byte{0x50};
    bytes[1] = std::byte{0x4c};
    bytes[2] = std::byte{1};
    bytes[3] = static_cast<std::byte>(1 + random_.below(7));
  }
  const auto lane = static_cast<Lane>(random_.below(3));
  faults_.add(Fault::garbage);
  const PacketIndex index = packets_.add(bytes, NodeId{}, to, lane);
  transit_.plan_arrival(schedule_.now() + microseconds(1), to, index);
}

void StrayPackets::inject_harmed(NodeId to, Harm harm) {
  const std::optional<PacketIndex> old = old_packet(std::nullopt);
  if (!old) return;
  faults_.add(Fault::garbage);
  const PacketIndex copy = transit_.damaged(*old, network_.random());
  std::vector<std::byte>& bytes = packets_[copy].bytes;
  if (harm == Harm::truncated) {
    bytes = packets_[*old].bytes;
    bytes.resize(random_.below(std::max<std::size_t>(bytes.size(), 1)));
  }
  transit_.plan_arrival(schedule_.now() + microseconds(1), to, copy);
}

}  // namespace peal::sim
