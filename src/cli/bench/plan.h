// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/bench/histogram.h"
#include "config/file/file.h"
#include "daemon/order_digest.h"

// How `peal bench` and its own processes speak: a plan in a file, and one result of each.

namespace peal::cli {

/// What all processes of one run do.
struct BenchPlan {
  bool limit = false;       ///< no protocol: `peal bench limit`
  bool own_thread = false;  ///< of each member; else the sender and receiver runs it
  bool daemon = false;      ///< the sender and receiver is a client of a daemon
  std::uint32_t nodes = 0;
  std::uint32_t payload_bytes = 0;
  Service service = Service::agreed;
  double rate = 0;              ///< messages per second of each node; 0: as many as possible
  std::uint64_t under_way = 0;  ///< without a rate: messages of each node, at most
  double loss = 0;              ///< probability that a data packet is dropped on arrival
  double warm_up_s = 0;         ///< at the beginning, not measured
  double seconds = 0;           ///< measured
};

/// How many messages of each node are under way when they are sent as fast as possible. If the
/// command does not say it: enough to keep the ring busy, and no more, since what would wait in
/// queues says nothing about the ring. Latency is then this number by the rate, and no property of
/// the ring.
std::uint64_t messages_under_way(const BenchCommand& command);

/// Latencies, as counted and with their ends.
struct BenchLatency {
  Histogram ns;
  std::uint64_t min_ns = ~std::uint64_t{0};
  std::uint64_t max_ns = 0;

  void add(std::uint64_t value);
  void add(const BenchLatency& other);
};

struct BenchView {
  std::string id;
  daemon::OrderDigest digest;
};

/// What one process saw between the end of the warm-up and the end.
struct BenchResult {
  std::string problem;          ///< empty if it went through and all was in order
  std::uint64_t due = 0;        ///< messages of this node that were due in the measured time
  std::uint64_t sent = 0;       ///< of these, those that could be sent before its end
  std::uint64_t delivered = 0;  ///< at this node, in the measured time
  std::uint64_t delivered_bytes = 0;
  double cpu_s = 0;
  BenchLatency latency;
  BenchLatency early;  ///< until it was told of messages that have no place yet
  std::vector<BenchView> views;
  /// How much each counter of the node grew.
  std::map<std::string, std::uint64_t> counters;
  /// The medians of samples, by name: values of the node that go up and down.
  std::map<std::string, std::uint64_t> gauges;
};

bool write_plan(const std::string& dir, const BenchPlan& plan);
std::optional<BenchPlan> read_plan(const std::string& dir);
bool write_result(const std::string& dir, const std::string& name, const BenchResult& result);
/// Waits until all of these have written their results, whether good or bad, for five seconds at
/// most. `wait` lets a time pass, and nodes do their work.
void wait_for_results(const std::string& dir, const std::vector<config::NodeEntry>& nodes,
                      const std::function<void(std::int64_t until_ns)>& wait);
std::optional<BenchResult> read_result(const std::string& dir, const std::string& name);

/// What the processes of `peal bench limit` do at the same time.
struct LimitPhase {
  std::uint64_t packets_sent = 0;  ///< in the measured time, as all of these
  std::uint64_t packets_received = 0;
  std::uint64_t packets_lost = 0;
  double cpu_s = 0;
};
/// What one of them saw.
struct LimitResult {
  std::string problem;
  std::uint32_t packet_bytes = 0;  ///< of which all count as payload
  LimitPhase one;                  ///< the first node sends to all
  LimitPhase all;                  ///< all send to all
  BenchLatency round_trip;         ///< the first node only
};
bool write_limit_result(const std::string& dir, const std::string& name, const LimitResult& result);
std::optional<LimitResult> read_limit_result(const std::string& dir, const std::string& name);

/// Runs one node of a benchmark in this process; its exit status.
int run_bench_worker(const BenchCommand& command);
/// The same for `peal bench limit`.
int run_limit_worker(const BenchCommand& command, const BenchPlan& plan);

}  // namespace peal::cli
