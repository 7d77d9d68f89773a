// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "sim/netmodel/arrivals.h"
#include "sim/netmodel/order_samples.h"
#include "sim/netmodel/profiles.h"
#include "sim/world/engine_options.h"

// One experiment on the network model: a cluster, a load, and the measured figures.

namespace peal::sim {

struct NetRunOptions {
  const NetKind* net = nullptr;
  const CpuKind* cpu = nullptr;
  EngineOptions engine;
  std::uint32_t nodes = 8;
  std::uint32_t senders = 0;  ///< number of nodes that send, from node 1 on; 0: all nodes
  /// With genuine multicast: so many nodes more, in no domain. Then they send, and no others.
  std::uint32_t outside = 0;
  /// Each sender has so many messages under way, and sends the next when one has its place; 0: as
  /// many as possible, or by `rate`.
  std::uint32_t under_way = 0;
  bool to_all = false;                  ///< with genuine multicast: each message is for all domains
  std::uint32_t payload_bytes = 1'350;  ///< at least kStampBytes
  Service service = Service::agreed;
  double rate = 0;  ///< messages per second of all nodes together; 0: as many as possible
  Arrivals arrivals = Arrivals::even;  ///< when messages are due, if there is a rate
  Duration burst{};  ///< clients collect messages for this time, then send them at once; 0: never
  double loss = 0;   ///< share of data packets that each node drops
  /// personal_window: packets per visit; 0 is automatic. accelerated_window: how many of these
  /// packets follow the token; 0 is the original ring. global_window: packets per rotation. A
  /// window without a value follows from `cpu`.
  std::optional<std::uint32_t> personal_window, accelerated_window, global_window;
  /// Largest datagram. 0 means 1472 or, if a message does not fit in 1472,
  /// CpuKind::datagram_bytes_large.
  std::uint32_t datagram_bytes = 0;
  std::optional<std::uint32_t> port_buffer_bytes;
  std::optional<Duration> latency;
  Duration coalesce{};    ///< interrupt delay of the network cards
  bool multicast = true;  ///< false: each multicast is a unicast to each other node
  /// Additional delay of all packets to and from the last node. If above 0, latencies are those of
  /// messages between the other nodes.
  Duration slow_node{};
  /// For engines whose nodes acknowledge: the most acknowledgements per second of a node. 0: none,
  /// so that the order advances only with messages. Without a value: the engine's default.
  std::optional<std::uint32_t> ack_rate;
  /// For engines with acceptors: number of acceptors, which are the lowest nodes. All nodes are
  /// acceptors if there are fewer nodes.
  std::uint32_t acceptors = 3;
  /// For engines with domains: divides the nodes evenly into this many domains. Each node sends
  /// only in its domain, nodes outside in one of them by turns. If 0, there are no domains, and all
  /// nodes learn all messages.
  std::uint32_t domains = 0;
  Duration disk{};  ///< for engines with acceptors: time of a sync; 0: logs in memory
  Duration warm_up = milliseconds(200);
  Duration measure = milliseconds(200);
  std::uint64_t seed = 1;
};

/// The number of nodes that send.
inline std::uint32_t senders_of(const NetRunOptions& options) {
  if (options.outside > 0) return options.outside;
  return options.senders == 0 ? options.nodes : options.senders;
}
/// The first node that sends; the others follow it.
inline NodeId first_sender(const NetRunOptions& options) {
  return NodeId{options.outside > 0 ? options.nodes + 1 : 1};
}
inline std::uint32_t all_nodes(const NetRunOptions& options) {
  return options.nodes + options.outside;
}

/// Size in bytes of the due time with which each message begins.
inline constexpr std::uint32_t kStampBytes = 8;

/// Latency in microseconds. Those that a figure has no use for are 0.
struct Percentiles {
  double p50_us = 0, p95_us = 0, p99_us = 0;
};

/// Of optimistic delivery.
struct Guesses {
  double mistaken = 0;  ///< share of units whose guessed position was wrong
  double inverted =
      0;  ///< share of units that came before the unit that precedes them in the order
};

struct NetFigures {
  double offered_mbps = 0;  ///< offered payload; 0: as much as possible
  double mbps = 0;          ///< payload delivered per node, including the node's own messages
  double total_mbps = 0;    ///< `mbps` times the number of domains
  double messages_per_second = 0;
  double total_messages_per_second = 0;  ///< of all domains together
  // Latency in microseconds, over all nodes: from the due time of a message to its delivery. See
  // NetRunOptions::slow_node.
  double mean_us = 0, p50_us = 0, p99_us = 0, max_us = 0;
  double worst_us = 0;  ///< mean of the largest 5 % of the latencies
  // Latency from the due time of a message: `reply` until its sender knows its place, `early` until
  // a node delivered it optimistically.
  Percentiles reply, early;
  double writes = 0;  ///< writes into memory for each message; 0 for engines without
  Guesses guesses;
  double rotation_us = 0;  ///< 0 for engines without a token
  // For engines that decide the order of a causal graph by votes; otherwise 0. See OrderSamples.
  double wait_us = 0;      ///< mean time at a node from joining the graph to the decision
  double expected_us = 0;  ///< the same without acknowledgements, as the paper's formulas predict
  double index = 0;        ///< mean number of members that had voted
  double concurrent = 0;   ///< mean number of members with concurrent messages
  /// Shares of the messages by the number of members that had voted: the smallest majority; one
  /// more; two more; three or more.
  std::array<double, 4> index_shares{};
  WorkFigures work;
  /// Packets of the sender with the fewest packets, divided by the mean over all senders.
  double least_sender = 0;
  double retransmitted = 0;            ///< retransmissions per packet
  double busiest_cpu = 0;              ///< share of the time that the busiest node worked
  double busiest_port = 0;             ///< share of the time that the busiest switch port sent
  double busiest_card = 0;             ///< share of the time that the busiest network card sent
  std::uint64_t dropped_frames = 0;    ///< frames dropped by full ports during the whole run
  std::uint64_t dropped_packets = 0;   ///< packets dropped by full sockets during the whole run
  std::uint64_t port_queue_bytes = 0;  ///< maximum number of bytes that waited at one port
  /// If automatic: share of a visit's packets that follow the token, at the end of the run.
  std::uint32_t accelerated_percent = 0;
  std::uint32_t global_window = 0;  ///< value at the end of the run
  std::uint64_t views = 0;
  std::uint64_t messages_compared = 0;
  std::string violation;  ///< the first violation; empty if there is none
  std::uint64_t digest = 0;

  /// True if the cluster delivered more than 98 % of the offered load, or if the load had no limit.
  bool keeps_up() const { return offered_mbps == 0 || total_mbps > 0.98 * offered_mbps; }
};

/// Runs one experiment. Deterministic: equal options give equal figures.
NetFigures run_net(const NetRunOptions& options);

}  // namespace peal::sim
