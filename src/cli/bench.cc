// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/bench_plan.h"
#include "cli/cluster.h"
#include "cli/commands.h"
#include "cli/process.h"
#include "cli/signals.h"
#include "cli/text.h"

namespace peal::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kStopTimeoutMs = 3'000;

/// A folder that is gone when the benchmark is over.
class ScratchDir {
 public:
  ScratchDir() {
    char path[] = "/tmp/peal-bench-XXXXXX";
    if (::mkdtemp(path) != nullptr) path_ = path;
  }
  ~ScratchDir() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// All nodes together.
struct Summary {
  double messages_per_s = 0;  ///< delivered at a node, on average
  double bytes_per_s = 0;
  double offered_per_s = 0;  ///< sent by all nodes
  double cpu_s_per_gb = 0;   ///< of all nodes, for each GB that each of them delivered
  double cores_per_node = 0;
  Histogram latency_ns;
  std::uint64_t latency_max_ns = 0;
  std::uint64_t messages = 0;  ///< in the order that was compared, warm-up included
  std::size_t views = 0;       ///< in which messages were delivered
  bool one_order = true;
};

/// In each view that two nodes went through, both must have delivered the same in the same order.
void compare_orders(const std::vector<BenchResult>& results, Summary& summary) {
  for (const BenchView& view : results.front().views) {
    if (view.digest.messages == 0) continue;
    ++summary.views;
    summary.messages += view.digest.messages;
    for (const BenchResult& other : results) {
      const auto same = std::find_if(other.views.begin(), other.views.end(),
                                     [&](const BenchView& at) { return at.id == view.id; });
      if (same == other.views.end() || same->digest.value != view.digest.value) {
        summary.one_order = false;
      }
    }
  }
}

Summary summarise(const std::vector<BenchResult>& results, double seconds) {
  Summary summary;
  const auto nodes = static_cast<double>(results.size());
  double bytes = 0, cpu = 0;
  for (const BenchResult& result : results) {
    summary.messages_per_s += static_cast<double>(result.delivered) / seconds / nodes;
    summary.offered_per_s += static_cast<double>(result.sent) / seconds;
    bytes += static_cast<double>(result.delivered_bytes) / nodes;
    cpu += result.cpu_s;
    summary.latency_max_ns = std::max(summary.latency_max_ns, result.latency_max_ns);
    const auto& counts = result.latency_ns.counts();
    for (std::uint32_t bucket = 0; bucket < counts.size(); ++bucket) {
      summary.latency_ns.add_bucket(bucket, counts[bucket]);
    }
  }
  summary.bytes_per_s = bytes / seconds;
  summary.cpu_s_per_gb = bytes > 0 ? cpu / (bytes / 1e9) : 0;
  summary.cores_per_node = cpu / seconds / nodes;
  compare_orders(results, summary);
  return summary;
}

std::string milliseconds_text(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f ms", static_cast<double>(ns) / 1e6);
  return text;
}

void print_text(const BenchCommand& command, const Summary& s) {
  std::printf(
      "%s on 127.0.0.1, %s messages of %s, %s, %s s\n", counted(command.nodes, "node").c_str(),
      is_safe(command.service) ? "safe" : "agreed", counted(command.payload_bytes, "byte").c_str(),
      command.rate == 0 ? "as many as possible" : (grouped(command.rate) + " per second").c_str(),
      decimal(command.seconds).c_str());
  std::printf("delivered   %s messages/s at each node, %.1f MB/s\n",
              grouped(static_cast<std::uint64_t>(s.messages_per_s)).c_str(), s.bytes_per_s / 1e6);
  std::printf("latency     p50 %s   p99 %s   p99.9 %s   max %s\n",
              milliseconds_text(s.latency_ns.percentile(0.5)).c_str(),
              milliseconds_text(s.latency_ns.percentile(0.99)).c_str(),
              milliseconds_text(s.latency_ns.percentile(0.999)).c_str(),
              milliseconds_text(s.latency_max_ns).c_str());
  std::printf("processor   %.2f s for each GB, all nodes together; %.2f cores per node\n",
              s.cpu_s_per_gb, s.cores_per_node);
  std::printf("order       %s: %s in %s\n",
              s.one_order ? "the same at all nodes" : "NOT THE SAME AT ALL NODES",
              counted(s.messages, "message").c_str(), counted(s.views, "view").c_str());
}

void print_json(const BenchCommand& command, const Summary& s) {
  const auto ms = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e6; };
  Json out;
  out["nodes"] = command.nodes;
  out["payload_bytes"] = command.payload_bytes;
  out["service"] = is_safe(command.service) ? "safe" : "agreed";
  out["rate"] = command.rate == 0 ? Json("max") : Json(command.rate);
  out["seconds"] = command.seconds;
  out["offered_per_s"] = s.offered_per_s;
  out["delivered_per_s"] = s.messages_per_s;
  out["delivered_mb_per_s"] = s.bytes_per_s / 1e6;
  out["latency_ms"] = {{"p50", ms(s.latency_ns.percentile(0.5))},
                       {"p90", ms(s.latency_ns.percentile(0.9))},
                       {"p99", ms(s.latency_ns.percentile(0.99))},
                       {"p99.9", ms(s.latency_ns.percentile(0.999))},
                       {"max", ms(s.latency_max_ns)}};
  out["cpu_s_per_gb"] = s.cpu_s_per_gb;
  out["cores_per_node"] = s.cores_per_node;
  out["one_order"] = s.one_order;
  out["messages_compared"] = s.messages;
  out["views"] = s.views;
  std::printf("%s\n", out.dump(2).c_str());
}

/// Waits for all to end; the error is one line.
Result<void, std::string> wait_for(std::vector<Child>& children, const LocalCluster& cluster,
                                   const StopSignals& signals) {
  while (true) {
    bool all = true;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const auto& ended = children[i].ended();
      all = all && ended.has_value();
      if (!ended || children[i].status() == 0) continue;
      const std::string line = last_line(cluster.dir + "/" + cluster.names[i] + ".log");
      return tl::unexpected(line.starts_with("peal: bench: ") ? line.substr(13)
                                                              : "a node ended: " + *ended);
    }
    if (all) return {};
    pollfd wake{signals.fd(), POLLIN, 0};
    ::poll(&wake, 1, 20);
    if (signals.take() != 0) return tl::unexpected(std::string("interrupted"));
  }
}

}  // namespace

int run_bench(const BenchCommand& command) {
  if (!command.worker.empty()) return run_bench_worker(command);
  const StopSignals signals;
  const ScratchDir dir;
  if (dir.path().empty()) return fail(1, "bench: cannot make a folder in /tmp");
  const auto cluster = make_local_cluster(dir.path(), "bench", command.nodes);
  if (!cluster) return fail(1, "bench: " + cluster.error());
  BenchPlan plan{command.nodes, command.payload_bytes, command.service, 0, 0, command.seconds};
  plan.rate = static_cast<double>(command.rate) / command.nodes;
  plan.warm_up_s = std::clamp(command.seconds / 5, 0.3, 2.0);
  if (!write_plan(dir.path(), plan)) return fail(1, "bench: cannot write to " + dir.path());

  std::vector<Child> children;
  Result<void, std::string> done;
  for (const std::string& name : cluster->names) {
    auto child = Child::start(own_program(), {"bench", "--worker", name, dir.path()},
                              dir.path() + "/" + name + ".log");
    if (!child) {
      done = tl::unexpected(child.error());
      break;
    }
    children.push_back(std::move(*child));
  }
  if (done) done = wait_for(children, *cluster, signals);
  stop_all(children, kStopTimeoutMs);
  if (!done) return fail(1, "bench: " + done.error());

  std::vector<BenchResult> results;
  for (const std::string& name : cluster->names) {
    auto result = read_result(dir.path(), name);
    if (!result) return fail(1, "bench: no result of " + name);
    results.push_back(std::move(*result));
  }
  const Summary summary = summarise(results, command.seconds);
  if (command.json)
    print_json(command, summary);
  else
    print_text(command, summary);
  return summary.one_order ? 0 : fail(1, "bench: the order was not the same at all nodes");
}

}  // namespace peal::cli
