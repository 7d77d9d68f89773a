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

/// All nodes of one run together, as numbers that have a median over several runs.
struct BenchFigures {
  double throughput_mbit_per_s = 0;  ///< payload that each receiver got; the mean of all
  double messages_per_s = 0;         ///< the same in messages
  double due_messages_per_s = 0;     ///< that all senders together should have sent
  double sent_percent = 0;           ///< of these, what could be sent in time
  double latency_min_us = 0, latency_p50_us = 0, latency_p90_us = 0, latency_p99_us = 0,
         latency_p999_us = 0, latency_max_us = 0;
  double cpu_s_per_delivered_gb = 0;  ///< of all nodes, by the payload of all receivers
  double cores_per_node = 0;
  double retransmitted_packets = 0;
  double retransmitted_percent = 0;  ///< of the packets sent
  double requested_packets = 0;
  double lost_at_sockets_packets = 0;  ///< a buffer of the kernel was full
  double dropped_packets = 0;          ///< by --loss
  double tokens_retransmitted = 0;
  double views_installed = 0;  ///< while it was measured
  double multicast_percent = 0;
  double packets_per_send_call = 0;
  double global_window_packets = 0;
  double personal_window_packets = 0;
  double after_token_percent = 0;  ///< of a visit's packets
  double of_limit_percent = 0;     ///< throughput against LimitFigures::all_mbit_per_s; 0: unknown
  // With optimistic delivery.
  double early_p50_us = 0, early_p99_us = 0;
  double mistaken_percent = 0;  ///< of packets: told at another place than they got
};

/// What the machine can do without a protocol.
struct LimitFigures {
  double one_mbit_per_s = 0;  ///< payload at each receiver when the first node sends
  double one_cpu_s_per_delivered_gb = 0;
  double one_lost_percent = 0;
  double all_mbit_per_s = 0;  ///< when all send, a node's own share included, as in a cluster
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
  std::map<std::string, std::uint64_t> counters;  ///< of all nodes, added up
  std::uint64_t messages = 0;                     ///< that were compared, warm-up included
  std::size_t views = 0;                          ///< in which messages were delivered
  bool one_order = true;
};

/// One rate of a sweep: what was asked for, and the medians of what came of it.
struct SweepPoint {
  double rate_mbit_per_s = 0;
  BenchFigures figures;
};

/// `results` holds one for each node.
BenchRun summarise(const std::vector<BenchResult>& results, double seconds);
LimitFigures summarise(const std::vector<LimitResult>& results, double seconds);

/// Each figure by itself: the least value, the median, the greatest.
template <class F>
struct Spread {
  F min, median, max;
};
template <class F>
Spread<F> spread_of(const std::vector<F>& runs);

}  // namespace peal::cli
