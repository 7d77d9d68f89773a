// SPDX-License-Identifier: Apache-2.0
#include "sim/world/transit.h"

namespace peal::sim {

void Transit::plan_arrival(Instant at, NodeId to, PacketIndex packet) {
  latest_arrival_ = std::max(latest_arrival_, at);
  schedule_.push(at, Happening::arrival, to.value, packet);
}

void Transit::hold_back(PacketIndex packet, NodeId to) {
  packets_.hold(packet);
  held_.emplace_back(packet, to);
}

void Transit::release_held() {
  for (const auto& [index, to] : held_) {
    plan_arrival(schedule_.now() + microseconds(1), to, index);
  }
  held_.clear();
}

PacketIndex Transit::damaged(PacketIndex index, Random& random) {
  const Packet& whole = packets_[index];
  const PacketIndex copy = packets_.add(whole.bytes, whole.from, whole.to, whole.lane);
  std::vector<std::byte>& bytes = packets_[copy].bytes;
  if (!bytes.empty()) {
    const std::uint64_t bit = random.below(bytes.size() * 8);
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
  return copy;
}

}  // namespace peal::sim
