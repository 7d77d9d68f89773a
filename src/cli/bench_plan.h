// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/histogram.h"
#include "cli/order_digest.h"

// How `peal bench` and its own processes speak: a plan in a file, and one result of each.

namespace peal::cli {

/// What all processes of one benchmark do.
struct BenchPlan {
  std::uint32_t nodes = 0;
  std::uint32_t payload_bytes = 0;
  Service service = Service::agreed;
  double rate = 0;       ///< messages per second of each node; 0: as many as possible
  double warm_up_s = 0;  ///< at the beginning, not measured
  double seconds = 0;    ///< measured
};

struct BenchView {
  std::string id;
  OrderDigest digest;
};

/// What one process saw between the end of the warm-up and the end.
struct BenchResult {
  std::string problem;          ///< empty if it went through
  std::uint64_t sent = 0;       ///< by this node, with due times in the measured time
  std::uint64_t delivered = 0;  ///< at this node, in the measured time
  std::uint64_t delivered_bytes = 0;
  double cpu_s = 0;
  std::uint64_t latency_max_ns = 0;
  Histogram latency_ns;
  std::vector<BenchView> views;
};

bool write_plan(const std::string& dir, const BenchPlan& plan);
std::optional<BenchPlan> read_plan(const std::string& dir);
bool write_result(const std::string& dir, const std::string& name, const BenchResult& result);
std::optional<BenchResult> read_result(const std::string& dir, const std::string& name);

/// Runs one node of a benchmark in this process; its exit status.
int run_bench_worker(const BenchCommand& command);

}  // namespace peal::cli
