// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bench/plan.h"

namespace peal::cli {

/// The figures of one run, for all nodes together.
struct BenchFigures {
  double throughput_mbit_per_s = 0;  ///< payload that each receiver got; mean over all receivers
  double messages_per_s = 0;         ///< mean over all receivers
  double due_messages_per_s = 0;     ///< the total that all senders should have sent
  double sent_percent = 0;           ///< the part of the due messages that was sent in time
  double latency_min_us = 0, latency_p50_us = 0, latency_p90_us = 0, latency_p99_us = 0,
         latency_p999_us = 0, latency_max_us = 0;
  /// Until the sender has delivered its own message, or knows its place if it delivers nothing.
  double own_min_us = 0, own_p50_us = 0, own_p99_us = 0;
  double cpu_s_per_delivered_gb = 0;  ///< of all nodes, divided by the payload of all receivers
  double cores_per_node = 0;
  double retransmitted_packets = 0;
  double retransmitted_percent = 0;  ///< of the packets sent
  double requested_packets = 0;
  double lost_at_sockets_packets = 0;  ///< lost because a buffer of the kernel was full
  double dropped_packets = 0;          ///< dropped because of the option --loss
  double tokens_retransmitted = 0;
  double views_installed = 0;  ///< during the measurement
  double multicast_percent = 0;
  double packets_per_send_call = 0;
  // Only with an engine that writes into other nodes' memory.
  double writes_per_message = 0;
  double pulled_messages = 0;  ///< asked for again by a node that lacked them
  double rounds = 0;           ///< leaders that have begun
  double global_window_packets = 0;
  double personal_window_packets = 0;
  /// The part of the packets of a token visit that was sent after the token.
  double after_token_percent = 0;
  double of_limit_percent = 0;  ///< throughput against LimitFigures::all_mbit_per_s; 0: unknown
  // Only with optimistic delivery: latency until a message was announced early.
  double early_p50_us = 0, early_p99_us = 0;
  /// The part of the delivered packets that was announced early at a wrong place.
  double mistaken_percent = 0;
};

/// The limits of the machine, measured without a protocol.
struct LimitFigures {
  double one_mbit_per_s = 0;  ///< payload at each receiver when the first node sends
  double one_cpu_s_per_delivered_gb = 0;
  double one_lost_percent = 0;
  /// Payload at each node when all nodes send. A node's own packets count, as in a cluster.
  double all_mbit_per_s = 0;
  double all_cpu_s_per_delivered_gb = 0;
  double all_lost_percent = 0;
  double round_trip_min_us = 0, round_trip_p50_us = 0, round_trip_p99_us = 0;
};

template <class F>
struct FigureField {
  std::string_view name;
  double F::*value;
};
std::span<const FigureField<BenchFigures>> fields_of(const BenchFigures&);
std::span<const FigureField<LimitFigures>> fields_of(const LimitFigures&);

/// One run.
struct BenchRun {
  BenchFigures figures;
  std::vector<double> receivers_mbit_per_s;
  std::map<std::string, std::uint64_t> counters;  ///< sums over all nodes
  std::uint64_t messages = 0;                     ///< compared messages, including the warm-up
  std::uint64_t unplaced_messages = 0;            ///< those of them that have no place
  std::size_t views = 0;                          ///< views in which messages were delivered
  /// All nodes delivered the same messages in each view; those that have a place in the same order.
  bool one_order = true;
};

/// One point of a sweep: the requested rate, and the medians of the results.
struct SweepPoint {
  double rate_mbit_per_s = 0;
  BenchFigures figures;
};

/// `results` holds one result for each node.
BenchRun summarise(const std::vector<BenchResult>& results, double seconds);
LimitFigures summarise(const std::vector<LimitResult>& results, double seconds);

/// Minimum, median and maximum of each figure, computed separately for each.
template <class F>
struct Spread {
  F min, median, max;
};
template <class F>
Spread<F> spread_of(const std::vector<F>& runs);

}  // namespace peal::cli
