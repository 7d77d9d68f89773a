// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/descriptor.h"

#include <algorithm>

namespace peal::order::paxos {
namespace {

/// Longer than the default, because processes share processors with other processes, and a node
/// that was suspected wrongly misses deliveries until it is back.
constexpr Duration kSuspect = milliseconds(200);
/// Shorter than the default, because a recovering node requests at most 64 instances at a time, and
/// must get them faster than the other nodes order new instances.
constexpr Duration kGap = microseconds(500);
/// Streams lose hardly any packets. A value that is late on one stream usually still waits in the
/// queue of that stream (headway.h). If such values were requested as early as over datagrams, many
/// values would be sent twice, and full queues would grow further.
constexpr Duration kStreamsGap = milliseconds(50);
constexpr Duration kStreamsResend = milliseconds(100);
/// Limit of one node's values in progress, over streams: less than the queue for one peer, so that
/// the queues of a coordinator that sends to all peers do not overflow.
constexpr std::uint32_t kStreamsWindowBytes = 3U << 20;

std::unique_ptr<Engine> make(const Setup& setup, BufferPool& packets, Host& host) {
  return make_engine(config_of(setup), packets, host);
}

std::span<const Option> options() {
  static const std::vector<Option> kOptions = with_internal({kAcceptors, kKept[0].option});
  return kOptions;
}

/// All combinations of values are valid.
Result<void, std::string> check(const OptionValues& /*values*/,
                                const std::vector<DomainNodes>& /*domains*/) {
  return {};
}

}  // namespace

std::vector<Option> with_internal(std::vector<Option> chosen_by_users) {
  for (const Field<Options>& each : fields()) chosen_by_users.push_back(each.option);
  return chosen_by_users;
}

Kept kept_of(const OptionValues& values) {
  Kept kept;
  read_options<Kept>(values, kKept, kept);
  return kept;
}

Needs needs(const OptionValues& values, std::size_t nodes) {
  Options options;
  read_options<Options>(values, fields(), options);
  const auto members = static_cast<std::uint32_t>(nodes);
  return {.max_gap = options.max_gap,
          .pause = kSuspect / 2,
          .values = options.max_gap + 2 * options.checkpoint_every + options.window +
                    members * options.member_window,
          .log = kept_of(values).storage == Storage::disk,
          .optimistic = options.optimistic,
          // In the worst case, the units of all members wait at the coordinator. A restart also
          // reads values that precede the last checkpoint.
          .held = 2 * (options.max_gap + options.window + options.checkpoint_every) +
                  members * options.member_window,
          .suspect = options.suspect,
          .idle = options.heartbeat};
}

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
  config.storage = kept_of(setup.options).storage;
  config.log = setup.log;
  config.owed = setup.owed;
  return config;
}

constinit const Descriptor kDescriptor{
    .name = "paxos",
    .summary = "a majority of acceptors with durable logs orders; one side of a partition goes on",
    .traits = {.quorum = true,
               .streams = true,
               .equal_packets = true,
               .without_log = "paxos.storage = \"memory\""},
    .unit_packets = "propose",
    .options = &options,
    .needs = &needs,
    .validate = &check,
    .make = &make,
    .default_acceptors = &default_acceptors,
};

}  // namespace peal::order::paxos
