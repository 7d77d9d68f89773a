// SPDX-License-Identifier: Apache-2.0
#include "order/ring/descriptor.h"

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

std::unique_ptr<Engine> make(const Setup& setup, BufferPool& packets, Host& host) {
  Config config;
  config.self = setup.self;
  config.universe = setup.list.nodes;
  config.list = setup.list.hash;
  config.cluster = setup.cluster;
  if (setup.authenticated) config.checksum = wire::Checksum::absent;
  read_options<Options>(setup.options, fields(), config.options);
  config.options.packet_bytes_max = setup.packet_bytes_max;
  config.seed = setup.seed;
  config.first_count = setup.first_count;
  return make_engine(config, packets, host);
}

}  // namespace

constinit const Descriptor kDescriptor{
    .name = "ring",
    .summary = "a token goes round, and who has it sends; both sides of a partition go on",
    .traits = {},
    .unit_packets = "data",
    .events = kEvents,
    .make = &make,
    .write_data_header = &write_header,
};

}  // namespace peal::order::ring
