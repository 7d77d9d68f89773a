// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "io/udp_sockets.h"

// Checks a transport's configuration.

namespace peal::io {
namespace {

constexpr std::size_t kNodesMax = 128;
constexpr std::uint32_t kNodeIdMax = 65'535;

Unexpected<IoError> invalid(std::string message) {
  return unexpected(IoError{Errc::invalid_option, std::move(message)});
}

std::string name_of(const Peer& peer) {
  return "node " + std::to_string(peer.node.value) + " (" + to_string(peer.at) + ")";
}

Result<void, IoError> check_node(NodeId self, const Peer& peer, const Peer& first) {
  if (peer.node.value == 0 || peer.node.value > kNodeIdMax) {
    return invalid(name_of(peer) + ": node numbers go from 1 to 65535");
  }
  if (peer.node != self && peer.at == Endpoint{}) return {};  // the address is not known yet
  if (peer.at.is_unspecified() || peer.at.is_multicast()) {
    return invalid(name_of(peer) + ": needs the address of one interface");
  }
  if (peer.at.port == 0 || peer.at.port == 65'535) {
    return invalid(name_of(peer) + ": the port must be 1 to 65534; the one above is used as well");
  }
  if (peer.at.is_v4() != first.at.is_v4()) {
    return invalid(name_of(peer) + ": all nodes must have IPv4 addresses, or all IPv6");
  }
  return {};
}

const Peer& first_known(std::span<const Peer> nodes) {
  const auto known = std::find_if(nodes.begin(), nodes.end(),
                                  [](const Peer& peer) { return !peer.at.is_unspecified(); });
  return known == nodes.end() ? nodes.front() : *known;
}

Result<void, IoError> check_pair(const Peer& a, const Peer& b) {
  if (a.node == b.node) {
    return invalid("node " + std::to_string(a.node.value) + " is configured twice");
  }
  if (a.at.is_unspecified() || b.at.is_unspecified()) return {};
  const int gap = static_cast<int>(a.at.port) - static_cast<int>(b.at.port);
  if (a.at.ip == b.at.ip && gap >= -1 && gap <= 1) {
    return invalid(name_of(a) + " and " + name_of(b) +
                   ": ports on one address must be at least 2 apart; a node uses two");
  }
  return {};
}

}  // namespace

Result<void, IoError> check_peers(NodeId self, std::span<const Peer> nodes) {
  if (nodes.empty() || nodes.size() > kNodesMax) {
    return invalid("nodes: 1 to 128 must be configured, not " + std::to_string(nodes.size()));
  }
  bool has_self = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    has_self = has_self || nodes[i].node == self;
    const auto node = check_node(self, nodes[i], first_known(nodes));
    if (!node) return node;
    for (std::size_t j = 0; j < i; ++j) {
      const auto pair = check_pair(nodes[j], nodes[i]);
      if (!pair) return pair;
    }
  }
  if (!has_self) {
    return invalid("node " + std::to_string(self.value) + " is not among the nodes");
  }
  return {};
}

Result<void, IoError> check_udp_config(const UdpConfig& config, const BufferPool& receive_pool) {
  const auto nodes = check_peers(config.self, config.nodes);
  if (!nodes) return nodes;
  if (config.multicast == MulticastMode::group &&
      (!config.group.is_v4() || !config.group.is_multicast() || config.group.port == 0)) {
    return invalid("multicast " + to_string(config.group) +
                   ": must be an IPv4 group with a port, like 239.1.2.3:4700");
  }
  if (config.streams && config.multicast != MulticastMode::off) {
    return invalid("multicast: must be off with streams");
  }
  if (config.streams && config.seal && config.seal->header != nullptr) {
    return invalid("streams: packets cannot leave out their headers");
  }
  if (config.multicast_ttl == 0) return invalid("multicast_ttl 0: must be 1 to 255");
  if (config.packet_bytes_max < 256 || config.packet_bytes_max > 65'507) {
    return invalid("packet_bytes_max " + std::to_string(config.packet_bytes_max) +
                   ": must be 256 to 65507");
  }
  if (config.send_queue_packets < 256 || config.send_queue_packets > 1'000'000) {
    return invalid("send_queue_packets " + std::to_string(config.send_queue_packets) +
                   ": must be 256 to 1000000");
  }
  if (config.receive_budget == 0) return invalid("receive_budget 0: must be at least 1");
  if (receive_pool.slab_bytes() < UdpTransport::kSlabBytesMin || receive_pool.slab_count() < 4) {
    return invalid("receive pool: needs at least 4 slabs of 256 KiB");
  }
  return {};
}

}  // namespace peal::io
