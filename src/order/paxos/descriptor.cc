// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/descriptor.h"

#include <algorithm>
#include <array>

namespace peal::order::paxos {
namespace {

/// Processes share processors with others, and a node that was suspected for nothing misses what is
/// delivered until it is back.
constexpr Duration kSuspect = milliseconds(200);
/// A recovering node asks for 64 instances at a time, and must be faster than those that go on.
constexpr Duration kGap = microseconds(500);
/// Over streams hardly anything is lost, and what one of them brings later than another is on its
/// way, for as long as its queue is (headway.h): asked for as early as datagrams, much would come
/// twice, and make full streams fuller.
constexpr Duration kStreamsGap = milliseconds(50);
constexpr Duration kStreamsResend = milliseconds(100);
/// Of one node's values on their way, over streams: less than what may wait for one peer, so that a
/// coordinator that sends to all does not drop what its own queues cannot hold.
constexpr std::uint32_t kStreamsWindowBytes = 3U << 20;

struct Kept {
  Storage storage = Storage::disk;
};
constexpr std::string_view kStorages[] = {"disk", "memory"};
constexpr std::array kKept{field<&Kept::storage>({.key = "paxos.storage", .words = kStorages})};

std::unique_ptr<Engine> make(const Setup& setup, BufferPool& packets, Host& host) {
  return make_engine(config_of(setup), packets, host);
}

}  // namespace

Config config_of(const Setup& setup) {
  Config config;
  config.self = setup.self;
  config.universe = setup.list.nodes;
  config.acceptors = setup.list.acceptors;
  config.nodes_hash = setup.list.hash;
  config.cluster = setup.cluster;
  if (setup.authenticated) config.checksum = wire::Checksum::absent;
  Options& options = config.options;
  options.packet_bytes_max = setup.packet_bytes_max;
  options.suspect = kSuspect;
  options.gap = setup.streams ? kStreamsGap : kGap;
  if (setup.streams) {
    options.resend = kStreamsResend;
    const std::uint32_t window = kStreamsWindowBytes / options.packet_bytes_max;
    options.window = std::min(options.window, window);
    options.member_window = std::min(options.member_window, window);
  }
  read_options<Options>(setup.options, fields(), options);
  Kept kept;
  read_options<Kept>(setup.options, kKept, kept);
  config.storage = kept.storage;
  config.log = setup.log;
  config.owed = setup.owed;
  return config;
}

constinit const Descriptor kDescriptor{
    .name = "paxos",
    .summary = "a majority of acceptors with durable logs orders; one side of a partition goes on",
    .traits = {.quorum = true, .streams = true, .values_in_packets = true},
    .unit_packets = "propose",
    .make = &make,
};

}  // namespace peal::order::paxos
