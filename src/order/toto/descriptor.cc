// SPDX-License-Identifier: Apache-2.0
#include "order/toto/descriptor.h"

#include <algorithm>
#include <utility>

#include "order/evs/vocabulary.h"
#include "order/toto/options.h"
#include "order/toto/vocabulary.h"

namespace peal::order::toto {
namespace {

constexpr const EventKind* kEvents[] = {&event::token_lost, &event::token_retransmitted,
                                        &event::stall_excluded, &event::node_refused};

Options options_of(const OptionValues& values) {
  Options options;
  read_options<Options>(values, fields(), options);
  return options;
}

std::unique_ptr<Engine> make(const Setup& setup, BufferPool& packets, Host& host) {
  Config config;
  config.self = setup.self;
  config.universe = setup.list.nodes;
  config.list = setup.list.hash;
  config.cluster = setup.cluster;
  if (setup.authenticated) config.checksum = wire::Checksum::absent;
  config.options = options_of(setup.options);
  config.options.packet_bytes_max = setup.packet_bytes_max;
  config.seed = setup.seed;
  config.first_count = setup.first_count;
  return make_engine(config, packets, host);
}

Needs needs(const OptionValues& values, std::size_t nodes) {
  const Options options = options_of(values);
  const Options usual;
  const auto under_way = static_cast<std::uint32_t>(nodes * options.capacity());
  return {.max_gap = static_cast<std::uint32_t>(nodes * options.window),
          .pause = options.fault / 2,
          .own_packets = options.capacity(),
          .one_node_at_a_time = options.primary == PrimaryRule::majority,
          .held = under_way,
          .suspect = options.fault,
          .forms = options.damping_max() + options.fault * 8 + options.probe() * 4,
          .remembers = options.fault * 2,
          .idle = options.status(),
          .slower = std::max(
              1.0, static_cast<double>(options.fault.ns) / static_cast<double>(usual.fault.ns))};
}

Result<void, std::string> check(const OptionValues& values, const std::vector<DomainNodes>&) {
  if (std::string wrong = validate(options_of(values)); !wrong.empty()) {
    return unexpected(std::move(wrong));
  }
  return {};
}

}  // namespace

constinit const Descriptor kDescriptor{
    .name = "toto",
    .summary =
        "every message votes for those before it, without a token or a coordinator; both "
        "sides of a partition go on",
    .traits = {.companies = true, .causal = true},
    .unit_packets = "node",
    .events = kEvents,
    .options = &all_options,
    .needs = &needs,
    .validate = &check,
    .make = &make,
};

}  // namespace peal::order::toto
