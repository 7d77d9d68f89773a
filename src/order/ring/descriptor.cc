// SPDX-License-Identifier: Apache-2.0
#include "order/ring/descriptor.h"

#include "wire/frames.h"

namespace peal::order::ring {
namespace {

void write_header(std::uint64_t cluster, const MemberId& sender, std::uint32_t frame_bytes,
                  ByteSpan out) {
  wire::write_data_header({wire::FrameKind::data, cluster, sender, wire::Checksum::absent},
                          frame_bytes, out);
}

}  // namespace

constinit const Descriptor kDescriptor{
    .name = "ring",
    .summary = "a token goes round, and who has it sends; both sides of a partition go on",
    .traits = {},
    .unit_packets = "data",
    .write_data_header = &write_header,
};

}  // namespace peal::order::ring
