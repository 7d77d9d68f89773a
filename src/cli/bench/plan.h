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

// The files that `peal bench` and its own processes exchange: one plan, and one result for each
// process.

namespace peal::cli {

/// The plan of one run, for all its processes.
struct BenchPlan {
  bool limit = false;  ///< without a protocol: `peal bench limit`
  /// True: each member has its own thread. False: the thread that sends and receives runs the
  /// member.
  bool own_thread = false;
  bool daemon = false;  ///< a client of a daemon sends and receives, not a member
  std::uint32_t nodes = 0;
  std::uint32_t domains = 1;
  bool outside = false;  ///< the last node is in no domain
  BenchSenders senders = BenchSenders::all;
  std::optional<std::uint32_t> poll;  ///< how many nodes poll always; the others sleep then
  std::uint32_t payload_bytes = 0;
  Service service = Service::agreed;
  double rate = 0;  ///< messages per second of each node; 0: as many as possible
  /// Without a rate: the maximum number of messages that each node has in progress.
  std::uint64_t under_way = 0;
  double loss = 0;       ///< probability that a data packet is dropped on arrival
  double warm_up_s = 0;  ///< at the beginning, not measured
  double seconds = 0;    ///< length of the measurement
};

/// How many nodes send.
std::uint32_t senders_of(const BenchPlan& plan);

/// What one node of a plan does.
struct BenchRole {
  std::uint32_t domain = 1;        ///< 0: in no domain, it delivers nothing
  std::uint32_t domain_nodes = 0;  ///< nodes of its domain
  bool sends = false;
  bool starts = false;  ///< it tells the others when to begin
  bool polls = false;   ///< with BenchPlan::poll
};
/// `index` is counted from 0.
BenchRole role_of(const BenchPlan& plan, std::uint32_t index);

/// The maximum number of messages that each node has in progress, if messages are sent as fast as
/// possible. The default is just enough to keep the ring busy: more messages would only wait in
/// queues. While messages are sent as fast as possible, latency is this number divided by the rate
/// of each node, and not a property of the ring.
std::uint64_t messages_under_way(const BenchCommand& command);

/// Latencies: a histogram, with the exact minimum and maximum.
struct BenchLatency {
  Histogram ns;
  std::uint64_t min_ns = ~std::uint64_t{0};
  std::uint64_t max_ns = 0;

  void add(std::uint64_t value);
  void add(const BenchLatency& other);
};

/// What one process delivered in one view.
struct BenchView {
  std::string id;
  daemon::OrderDigest digest;  ///< digest of the messages that have a place, in their order
  /// Digest of the messages without a place: a sum over the messages, which does not depend on the
  /// order in which this process delivered them.
  std::uint64_t unplaced_digest = 0;
  std::uint64_t unplaced_messages = 0;

  /// Adds a message. `number` counts the sender's messages.
  void add(std::string_view sender, std::uint64_t number, bool has_place, ByteView payload);
  std::uint64_t messages() const { return digest.messages + unplaced_messages; }
};

/// One process's measurements between the end of the warm-up and the end of the run.
struct BenchResult {
  std::string problem;       ///< empty if the run succeeded and the order was right
  std::uint32_t domain = 1;  ///< see BenchRole
  /// Messages of this node that were due in the measured time; without a rate, as many as `sent`.
  std::uint64_t due = 0;
  /// Messages among `due` that were sent in time: at most 0.1 s after the end of the measurement.
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;  ///< at this node, in the measured time
  std::uint64_t delivered_bytes = 0;
  double cpu_s = 0;
  BenchLatency latency;
  BenchLatency own;  ///< of own messages: until delivered here, or placed if that is all it learns
  BenchLatency early;  ///< latencies until optimistic delivery announced the messages
  std::vector<BenchView> views;
  BenchView all;  ///< over all views
  /// How much each counter of the node grew.
  std::map<std::string, std::uint64_t> counters;
  /// Medians of the node's values that rise and fall, by name.
  std::map<std::string, std::uint64_t> gauges;
};

bool write_plan(const std::string& dir, const BenchPlan& plan);
std::optional<BenchPlan> read_plan(const std::string& dir);
bool write_result(const std::string& dir, const std::string& name, const BenchResult& result);
/// Waits until all `nodes` have written their results, good or bad, but for at most five seconds.
/// `wait` waits until a given time; if the process has a member, `wait` serves it meanwhile.
void wait_for_results(const std::string& dir, const std::vector<config::NodeEntry>& nodes,
                      const std::function<void(std::int64_t until_ns)>& wait);
std::optional<BenchResult> read_result(const std::string& dir, const std::string& name);

/// One phase of `peal bench limit`: the packets and the CPU time of one process, or of all
/// processes together.
struct LimitPhase {
  std::uint64_t packets_sent = 0;  ///< this and the other fields: in the measured time
  std::uint64_t packets_received = 0;
  std::uint64_t packets_lost = 0;
  double cpu_s = 0;
};
/// One process's measurements.
struct LimitResult {
  std::string problem;
  std::uint32_t packet_bytes = 0;  ///< bytes of each packet; all bytes count as payload
  LimitPhase one;                  ///< the first node sends to all
  LimitPhase all;                  ///< all send to all
  BenchLatency round_trip;         ///< measured by the first node only
};
bool write_limit_result(const std::string& dir, const std::string& name, const LimitResult& result);
std::optional<LimitResult> read_limit_result(const std::string& dir, const std::string& name);

/// Runs one node of a benchmark in this process. Returns the exit status.
int run_bench_worker(const BenchCommand& command);
/// As run_bench_worker(), for `peal bench limit`.
int run_limit_worker(const BenchCommand& command, const BenchPlan& plan);

}  // namespace peal::cli
