// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/scenario/transcript.h"
#include "sim/world/world.h"

// The path of a packet from a send to a socket, and what applications send.

namespace peal::sim {
namespace {

/// Old packets stored of each kind: the most recent ones, and as many from any earlier time.
constexpr std::size_t kMemoryRecent = 32;
constexpr std::size_t kMemoryOlder = 32;

bool says_data(ByteView frame) {
  constexpr std::size_t kKindOffset = 3;
  return frame.size() > kKindOffset &&
         frame[kKindOffset] == static_cast<std::byte>(PacketKind::data);
}

}  // namespace

void World::transmit(Process& from, NodeId to, Lane lane, ByteView bytes) {
  ++from.sends_in_call;
  ++from.packets_sent;
  ++recorder_.figures().packets;
  const PacketIndex index = packets_.add(bytes, from.self.node, to, lane);
  const PacketKind kind = packets_[index].kind;
  // What is sealed for lane data loses its header, which says DATA (io/frame_header.h).
  PEAL_ASSERT(options_.engine.has_quorum() || lane != Lane::data || says_data(bytes));
  ++packets_by_kind_[static_cast<std::size_t>(kind)];
  const bool of_units = kind == PacketKind::data || kind == PacketKind::submit ||
                        kind == PacketKind::propose || kind == PacketKind::decided;
  if (of_units) from.data_bytes_sent += bytes.size();

  const bool dies = from.sends_until_crash > 0 && --from.sends_until_crash == 0;
  if (ghost_ != nullptr) ghost_->sent(from.self, inspected(packets_[index]));
  if (watcher_ != nullptr) watcher_->on_send(packets_[index], from.self);
  if (recorder_.echoes()) recorder_.sent(now_, packet_text(packets_[index]));
  if (model_ != nullptr) {
    send_frames(from, index);
  } else {
    send_plainly(from, index, dies);
  }
  if (options_.keep_packets) remember(index);
  packets_.release(index);
  const double replays = network_.conditions().replay;
  if (replays > 0 && replay_random_.chance(replays)) {
    replay(std::nullopt, Duration{replay_random_.between(0, network_.conditions().replay_by.ns)});
  }
  if (dies) {
    recorder_.faults().add(Fault::crash_in_call);
    recorder_.crashed(now_, from.self);
    from.end = Process::End::crashed;
  }
}

void World::send_plainly(Process& from, PacketIndex index, bool dies) {
  const auto bytes = static_cast<std::int64_t>(packets_[index].bytes.size());
  const Instant ready = now_ + Duration{options_.send_cost.ns * from.sends_in_call * from.slowness};
  const Duration on_wire{options_.wire_per_kilobyte.ns * bytes / 1'000};
  const Instant departure = std::max(ready, from.send_free) + on_wire;
  from.send_free = departure;
  const NodeId to = packets_[index].to;
  if (to.value != 0) {
    if (to != from.self.node && to.value <= options_.nodes) deliver_copies(index, to, departure);
    return;
  }
  // A node that crashes in the middle of a multicast has reached some of the nodes.
  const bool some = (dies && network_.coin()) || network_.partial();
  if (some) recorder_.faults().add(Fault::partial_multicast);
  for (const NodeId node : universe_) {
    const bool own = node == from.self.node;
    if (own && options_.loopback) {
      packets_.hold(index);
      plan_arrival(departure + microseconds(1), node, index);
    }
    if (own || (some && network_.coin())) continue;
    deliver_copies(index, node, departure);
  }
}

void World::deliver_copies(PacketIndex index, NodeId to, Instant departure) {
  const Fate fate = network_.fate(packets_[index], to, network_.has_rules() && anyone_recovers());
  if (fate.held) {
    packets_.hold(index);
    held_.emplace_back(index, to);
    return;
  }
  for (std::uint32_t i = 0; i < fate.count; ++i) {
    PacketIndex copy = index;
    if (fate.copies[i].damaged) {
      copy = damaged(index);
    } else {
      packets_.hold(copy);
    }
    plan_arrival(departure + fate.copies[i].after, to, copy);
  }
}

void World::plan_arrival(Instant at, NodeId to, PacketIndex packet) {
  latest_arrival_ = std::max(latest_arrival_, at);
  queue_.push(at, Happening::arrival, to.value, packet);
}

void World::release_held() {
  for (const auto& [index, to] : held_) {
    plan_arrival(now_ + microseconds(1), to, index);
  }
  held_.clear();
}

PacketIndex World::damaged(PacketIndex index) {
  const Packet& whole = packets_[index];
  const PacketIndex copy = packets_.add(whole.bytes, whole.from, whole.to, whole.lane);
  std::vector<std::byte>& bytes = packets_[copy].bytes;
  if (!bytes.empty()) {
    const std::uint64_t bit = network_.random().below(bytes.size() * 8);
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
  return copy;
}

void World::remember(PacketIndex index) {
  const auto kind = static_cast<std::size_t>(packets_[index].kind);
  std::vector<PacketIndex>& memory = memory_[kind];
  const std::uint64_t seen = memory_seen_[kind]++;
  packets_.hold(index);
  if (memory.size() < kMemoryRecent + kMemoryOlder) {
    memory.push_back(index);
    return;
  }
  // The front half is a ring of the most recent packets. A packet that leaves it may enter the back
  // half, so that each packet of the past has the same chance.
  const std::size_t slot = seen % kMemoryRecent;
  const PacketIndex old = memory[slot];
  memory[slot] = index;
  const std::uint64_t lottery = replay_random_.below(seen + 1);
  if (lottery < kMemoryOlder) {
    packets_.release(memory[kMemoryRecent + lottery]);
    memory[kMemoryRecent + lottery] = old;
  } else {
    packets_.release(old);
  }
}

std::optional<PacketIndex> World::old_packet(std::optional<PacketKind> kind) {
  std::size_t total = 0;
  for (std::size_t k = 0; k < kPacketKinds; ++k) {
    if (!kind || static_cast<std::size_t>(*kind) == k) total += memory_[k].size();
  }
  if (total == 0) return std::nullopt;
  std::size_t pick = replay_random_.below(total);
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

bool World::replay(std::optional<PacketKind> kind, Duration after) {
  const std::optional<PacketIndex> old = old_packet(kind);
  if (!old) return false;
  const PacketIndex index = *old;
  recorder_.faults().add(Fault::replay);
  const NodeId to = packets_[index].to;
  for (const NodeId node : universe_) {
    const bool meant = to.value == 0 ? node != packets_[index].from : node == to;
    if (!meant || !network_.connected(packets_[index].from, node)) continue;
    packets_.hold(index);
    plan_arrival(now_ + after, node, index);
  }
  return true;
}

void World::inject_random(NodeId to) {
  const std::size_t size = replay_random_.below(replay_random_.chance(0.9) ? 200 : 60'000);
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(replay_random_.next());
  // Half of them pass the first checks of a header.
  if (size >= 4 && replay_random_.chance(0.5)) {
    bytes[0] = std::byte{0x50};
    bytes[1] = std::byte{0x4c};
    bytes[2] = std::byte{1};
    bytes[3] = static_cast<std::byte>(1 + replay_random_.below(7));
  }
  const auto lane = static_cast<Lane>(replay_random_.below(3));
  recorder_.faults().add(Fault::garbage);
  const PacketIndex index = packets_.add(bytes, NodeId{}, to, lane);
  plan_arrival(now_ + microseconds(1), to, index);
}

void World::inject_harmed(NodeId to, Harm harm) {
  const std::optional<PacketIndex> old = old_packet(std::nullopt);
  if (!old) return;
  recorder_.faults().add(Fault::garbage);
  const PacketIndex copy = damaged(*old);
  std::vector<std::byte>& bytes = packets_[copy].bytes;
  if (harm == Harm::truncated) {
    bytes = packets_[*old].bytes;
    bytes.resize(replay_random_.below(std::max<std::size_t>(bytes.size(), 1)));
  }
  plan_arrival(now_ + microseconds(1), to, copy);
}

void World::arrive(NodeId to, PacketIndex index) {
  Process* process = processes_[to.value].get();
  if (process == nullptr) {
    packets_.release(index);
    return;
  }
  Socket& socket = process->sockets[static_cast<std::size_t>(packets_[index].lane)];
  if (socket.size() >= options_.process.socket_packets) {
    recorder_.faults().add(Fault::socket_full);
    packets_.release(index);
    return;
  }
  socket.push(index);
  if (model_ != nullptr && model_->options().coalesce.ns > 0) {
    // All packets of one interrupt are there when the process reads.
    if (process->state == Process::State::up) {
      plan_run(*process, std::max(now_, process->busy_until));
    }
    return;
  }
  kick(*process);
}

void World::originated(Process& from) {
  if (watcher_ != nullptr) watcher_->on_originate(from.self);
}

void World::reported(Process& from, const order::Event& event) {
  recorder_.reported(now_, from.self, event);
  if (watcher_ != nullptr) watcher_->on_event(from.self, event);
}

std::string World::make_payload(NodeId node, std::size_t bytes) {
  const std::uint64_t stamp = ++payloads_[node.value];
  std::string payload(bytes, '\0');
  Random fill(stamp * 256 + node.value);
  std::size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    const std::uint64_t word = fill.next();
    std::memcpy(payload.data() + at, &word, 8);
  }
  for (; at < bytes; ++at) payload[at] = static_cast<char>(fill.next());
  return payload;
}

void World::submit(NodeId node, Service service, std::string payload, order::Domain domain,
                   std::optional<ClientWish> wish) {
  Process* process = processes_[node.value].get();
  if (process == nullptr) return;
  process->inbox.push_back({service, domain, std::move(payload), std::move(wish)});
  kick(*process);
}

const std::vector<order::Domain>& World::domains_of(NodeId node) const {
  return domains_[node.value];
}

// The draw includes domain 0. In a world without domains nothing is drawn.
order::Domain World::some_domain(NodeId node) {
  const std::vector<order::Domain>& own = domains_of(node);
  return own.size() == 1 ? own[0] : own[domain_random_.below(own.size())];
}

order::Domain World::domain_of(Seq position) const {
  return options_.domains.empty() ? 0 : options_.engine.engine().domain_of(position);
}

void World::add_load(const Load& load) {
  PEAL_ASSERT(load.rate > 0 && !load.nodes.empty());
  loads_.push_back(load);
  queue_.push(now_, Happening::load, 0, static_cast<std::uint32_t>(loads_.size() - 1));
}

void World::stop_loads() {
  for (Load& load : loads_) load.until = Instant{};
}

void World::submit_load(std::uint32_t index) {
  const Load load = loads_[index];
  if (now_ >= load.until) return;
  const NodeId node = load.nodes[load_random_.below(load.nodes.size())];
  const std::uint64_t burst = 1 + load_random_.below(load.burst);
  for (std::uint64_t i = 0; i < burst; ++i) {
    const bool large = load.large > 0 && load_random_.chance(load.large);
    const auto size =
        static_cast<std::size_t>(large ? load_random_.between(load.large_low, load.large_high)
                                       : load_random_.between(load.size_low, load.size_high));
    const bool safe = load_random_.chance(load.safe);
    submit(node, safe ? Service::safe : Service::agreed, make_payload(node, size),
           some_domain(node));
  }
  const double mean_ns = 1e9 * (1.0 + static_cast<double>(load.burst - 1) / 2) /
                         (load.rate * static_cast<double>(load.nodes.size()));
  const auto wait = static_cast<std::int64_t>(-std::log1p(-load_random_.unit()) * mean_ns) + 1;
  queue_.push(now_ + Duration{wait}, Happening::load, 0, index);
}

}  // namespace peal::sim
