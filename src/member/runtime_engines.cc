// SPDX-License-Identifier: Apache-2.0
// The engines, as a node in the world runs them.

#include <algorithm>

#include "member/acceptor_log.h"
#include "member/domains.h"
#include "member/nodes.h"
#include "member/runtime.h"
#include "order/paxos/options.h"
#include "order/ridge/engine.h"

namespace peal::member {
namespace {

/// Who comes back asks for 64 instances at a time, and must be faster than those who go on.
constexpr Duration kPaxosGap = microseconds(500);
/// Over streams hardly anything is lost, and what one of them brings later than another is on its
/// way, for as long as its queue is (order/paxos/headway.h): asked for as early as datagrams, much
/// would come twice, and make full streams fuller.
constexpr Duration kStreamsGap = milliseconds(50);
constexpr Duration kStreamsResend = milliseconds(100);
/// Of one node's values on their way, over streams: less than what may wait for one peer, so that a
/// coordinator that sends to all does not drop what its own queues cannot hold.
constexpr std::uint32_t kStreamsWindowBytes = 3U << 20;

/// Bytes of the largest packet that the engine makes.
std::uint32_t packet_bytes(const Settings& settings) {
  const std::uint32_t datagram = settings.ring.packet_bytes_max;
  if (!settings.keys) return datagram;
  return std::min(datagram - sealed_data_longer(*settings.order), frame_bytes(settings));
}

}  // namespace

std::unique_ptr<order::Engine> Runtime::make_on_quorums(std::uint64_t epoch, order::Host& host) {
  const order::NodeList list = list_of(settings_);
  order::paxos::Config paxos;
  paxos.self = {settings_.self(), epoch};
  paxos.universe = list.nodes;
  paxos.acceptors = list.acceptors;
  paxos.nodes_hash = list.hash;
  paxos.cluster = cluster_id(settings_);
  paxos.options.packet_bytes_max = packet_bytes(settings_);
  paxos.options.gap = settings_.streams ? kStreamsGap : kPaxosGap;
  if (settings_.streams) {
    paxos.options.resend = kStreamsResend;
    const std::uint32_t window = kStreamsWindowBytes / paxos.options.packet_bytes_max;
    paxos.options.window = std::min(paxos.options.window, window);
    paxos.options.member_window = std::min(paxos.options.member_window, window);
  }
  paxos.options.suspect = kSuspect;
  paxos.options.optimistic = settings_.optimistic;
  // As for the ring.
  if (settings_.keys) paxos.checksum = wire::Checksum::absent;
  paxos.storage = settings_.storage == Storage::memory ? order::paxos::Storage::memory
                                                       : order::paxos::Storage::disk;
  if (log_ != nullptr) {
    paxos.log = &log_->log();
    paxos.owed = &log_->owed();
  }
  if (!settings_.order->traits.ensembles) {
    return order::paxos::make_engine(paxos, frames_, host);
  }
  using Ways = order::ridge::Dissemination;
  const Ways ways =
      settings_.dissemination == Dissemination::ring ? Ways::ring : Ways::distributors;
  return order::ridge::make_engine(paxos, frames_, host, ways, layout_of(settings_));
}

std::unique_ptr<order::Engine> Runtime::make_ring(std::uint64_t epoch, order::Host& host) {
  order::ring::Config ring;
  ring.self = {settings_.self(), epoch};
  const order::NodeList list = list_of(settings_.nodes);
  ring.universe = list.nodes;
  ring.list = list.hash;
  ring.cluster = cluster_id(settings_);
  ring.options = settings_.ring;
  ring.options.packet_bytes_max = packet_bytes(settings_);
  // Every byte of a sealed packet is authenticated.
  if (settings_.keys) ring.checksum = wire::Checksum::absent;
  Digest seed;
  seed.add(ring.self.node.value);
  seed.add(epoch);
  ring.seed = seed.value();
  return order::ring::make_engine(ring, frames_, host);
}

}  // namespace peal::member
