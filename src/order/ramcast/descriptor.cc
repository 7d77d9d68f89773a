// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/descriptor.h"

#include <algorithm>
#include <string>
#include <utility>

#include "order/ramcast/engine.h"
#include "order/ramcast/options.h"
#include "wire/ramcast.h"
#include "wire/ramcast_memory.h"

namespace peal::order::ramcast {
namespace {

std::unique_ptr<Engine> make(const Setup& setup, BufferPool& packets, Host& host) {
  Config config;
  config.self = setup.self;
  config.nodes = setup.list.nodes;
  for (const DomainNodes& domain : setup.domains) config.domains.push_back(domain.nodes);
  config.cluster = setup.cluster;
  if (setup.authenticated) config.checksum = wire::Checksum::absent;
  config.options = options_of(setup.options);
  config.options.packet_bytes_max = setup.packet_bytes_max;
  config.memory = setup.memory;
  config.seed = setup.seed;
  config.first_count = setup.first_count;
  return std::make_unique<RamcastEngine>(config, packets, host);
}

Needs needs(const OptionValues& values, std::size_t nodes) {
  const Options options = options_of(values);
  const Options usual;
  const auto under_way = static_cast<std::uint32_t>(nodes * options.slots);
  // Units of a view are retained for each member that it excluded: less than half of a domain.
  const auto excluded = static_cast<std::uint32_t>(std::min(nodes, wire::kDomainNodesMax) / 2);
  return {.max_gap = under_way,
          .pause = options.suspect / 2,
          .own_packets = under_way * (2 + excluded),
          .memory = true,
          .fabric = options.fabric,
          .polls = options.poll,
          .rdma_in_clear = options.verbs_in_clear,
          .around_unit = static_cast<std::uint32_t>(wire::kBacklogBytesMax),
          .held = under_way * (2 + excluded) +
                  static_cast<std::uint32_t>(options.overwritten_max(nodes)) + 2 * options.slots,
          .suspect = options.suspect,
          .forms = options.exclude() * 8,
          .remembers = options.exclude() * 2,
          .idle = options.beat,
          .slower = std::max(1.0, static_cast<double>(options.suspect.ns) /
                                      static_cast<double>(usual.suspect.ns))};
}

Result<void, std::string> check(const OptionValues& values,
                                const std::vector<DomainNodes>& /*domains*/) {
  std::string wrong = validate(options_of(values));
  if (!wrong.empty()) return unexpected(std::move(wrong));
  return {};
}

}  // namespace

constinit const Descriptor kDescriptor{
    .name = "ramcast",
    .summary =
        "multicast to sets of domains by writes into other nodes' memory; each domain goes on "
        "with a majority of its nodes",
    .traits = {.quorum = true,
               .streams = true,
               .genuine = true,
               .domain_nodes_most = wire::kDomainNodesMax,
               .equal_packets = true},
    .unit_packets = "message_relay",
    .options = &all_options,
    .needs = &needs,
    .validate = &check,
    .make = &make,
};

}  // namespace peal::order::ramcast
