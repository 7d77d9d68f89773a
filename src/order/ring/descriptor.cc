// SPDX-License-Identifier: Apache-2.0
#include "order/ring/descriptor.h"

#include <string>
#include <utility>

#include "order/evs/vocabulary.h"
#include "order/ring/options.h"
#include "order/ring/vocabulary.h"
#include "wire/frames.h"

namespace peal::order::ring {
namespace {

void write_header(std::uint64_t cluster, const MemberId& sender, std::uint32_t frame_bytes,
                  ByteSpan out) {
  wire::write_data_header({wire::FrameKind::data, cluster, sender, wire::Checksum::absent},
                          frame_bytes, out);
}

constexpr const EventKind* kEvents[] = {&event::token_lost, &event::token_retransmitted,
                                        &event::stall_excluded, &event::recovery_guard};

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

Needs needs(const OptionValues& values, std::size_t /*nodes*/) {
  const Options options = options_of(values);
  return {.max_gap = options.max_gap,
          .pause = options.token_loss / 2,
          .one_node_at_a_time = options.primary == PrimaryRule::majority};
}

Result<void, std::string> check(const OptionValues& values, const std::vector<DomainNodes>&) {
  if (std::string wrong = validate(options_of(values)); !wrong.empty()) {
    return unexpected(std::move(wrong));
  }
  return {};
}

}  // namespace

constinit const Descriptor kDescriptor{
    .name = "ring",
    .summary = "a token goes round, and who has it sends; both sides of a partition go on",
    .traits = {},
    .unit_packets = "data",
    .events = kEvents,
    .options = &all_options,
    .needs = &needs,
    .validate = &check,
    .make = &make,
    .write_data_header = &write_header,
};

}  // namespace peal::order::ring
