// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "cluster.h"
#include "order/toto/options.h"
#include "wire/toto.h"

// Whole ToTo engines in one thread, and their packets.

namespace peal::order::toto::test {

using Bytes = std::vector<std::byte>;

inline order::test::Cluster::Make maker(const Options& options) {
  return [options](const MemberId& self, const std::vector<NodeId>& universe, BufferPool& pool,
                   Host& host) {
    Config config;
    config.self = self;
    config.universe = universe;
    config.cluster = 7;
    config.options = options;
    config.seed = self.node.value;
    return make_engine(config, pool, host);
  };
}

inline bool is(const order::test::Flight& flight, wire::TotoKind kind) {
  return flight.kind == wire::frame_kind(kind);
}

inline wire::Header header_of(const Bytes& packet) {
  wire::Header header;
  EXPECT_EQ(wire::decode_header(packet, header), wire::Drop::none);
  return header;
}

inline wire::Node node_of(const Bytes& packet) {
  wire::Node node;
  EXPECT_EQ(wire::decode_node(packet, node), wire::Drop::none);
  return node;
}

/// The packet of `node`, sent by the sender of the packet `like`. `unit`: empty for a control node.
inline Bytes packet_of(const wire::Node& node, const Bytes& like, std::string_view unit = {}) {
  const std::size_t header_bytes = wire::node_header_bytes(node.advances.size());
  Bytes packet(header_bytes + unit.size());
  for (std::size_t i = 0; i < unit.size(); ++i) {
    packet[header_bytes + i] = static_cast<std::byte>(unit[i]);
  }
  wire::encode_node_in_place(header_of(like), node, packet);
  return packet;
}

}  // namespace peal::order::toto::test
