// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/assert.h"
#include "base/buffer.h"
#include "toto_run.h"
#include "wire/toto.h"

// Packets with nodes, for tests of the causal graph.

namespace peal::order::toto::test {

inline wire::Node wire_node(NodeRef ref, wire::NodeKind kind = wire::NodeKind::control) {
  wire::Node node;
  node.view = {1, {{1}, 10}};
  node.origin = ref.origin;
  node.seq = ref.seq;
  node.kind = kind;
  return node;
}

/// The same for a node of a random graph, with the advances that its covers give. `before`: the
/// past of the previous node of its origin.
inline wire::Node wire_node(const GraphNode& graph_node, std::span<const Seq> before,
                            wire::NodeKind kind) {
  wire::Node node = wire_node(graph_node.ref, kind);
  for (const Cover& cover : graph_node.covers) {
    if (cover.of == node.origin) continue;
    node.advances.push_back({cover.of, static_cast<std::uint16_t>(cover.upto - before[cover.of])});
  }
  return node;
}

/// Makes packets in a pool of its own, so it knows how many packets are still held.
class Packets {
 public:
  static constexpr std::uint32_t kUnitBytes = 8;

  explicit Packets(std::uint32_t count) : pool_(kSlabBytes, count) {}

  /// The packet of a node. A unit consists of kUnitBytes bytes, which are the low byte of `seq`.
  BufferRef make(const wire::Node& node) {
    const auto header_bytes =
        static_cast<std::uint32_t>(wire::node_header_bytes(node.advances.size()));
    const std::uint32_t unit = node.kind == wire::NodeKind::control ? 0 : kUnitBytes;
    BufferRef packet = pool_.take(0, header_bytes + unit);
    PEAL_ASSERT(packet);
    std::fill_n(packet.data() + header_bytes, unit, static_cast<std::byte>(node.seq & 0xff));
    const wire::Header header{wire::frame_kind(wire::TotoKind::node), 7, {{1}, 10}};
    wire::encode_node_in_place(header, node, ByteSpan{packet.data(), packet.size()});
    return packet;
  }
  std::uint32_t held() const { return pool_.slab_count() - pool_.free_count(); }

 private:
  static constexpr std::uint32_t kSlabBytes =
      wire::node_header_bytes(wire::kMembersMax) + kUnitBytes;
  BufferPool pool_;
};

}  // namespace peal::order::toto::test
