// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "cli/bench/plot.h"
#include "cli/bench/print.h"
#include "cli/bench/progress.h"
#include "cli/bench/run.h"
#include "cli/commands.h"
#include "cli/text.h"

namespace peal::cli {
namespace {

constexpr int kSweepSteps = 10;
constexpr const char* kDisorder =
    "bench: the messages or their order were not the same at all nodes";

int fail_bench(const BenchFailure& failure) {
  return fail(failure.status, "bench: " + failure.line);
}

std::string run_text(const BenchCommand& command, std::uint32_t number, const std::string& what) {
  return "run " + std::to_string(number + 1) + " of " + std::to_string(command.runs) + ": " + what;
}

Result<void, BenchFailure> measure_limit(BenchPlace& place, const BenchCommand& command,
                                         BenchReport& report) {
  const auto results = run_limit(place, command);
  if (!results) return unexpected(results.error());
  report.limits.push_back(summarise(*results, command.seconds));
  return {};
}

Result<void, BenchFailure> measure_cluster(BenchPlace& place, const BenchCommand& command,
                                           double messages_per_s, BenchReport& report) {
  const auto results = run_cluster(place, command, messages_per_s);
  if (!results) return unexpected(results.error());
  BenchRun run = summarise(*results, command.seconds);
  if (!report.limits.empty() && report.limits.back().all_mbit_per_s > 0) {
    run.figures.of_limit_percent =
        100 * run.figures.throughput_mbit_per_s / report.limits.back().all_mbit_per_s;
  }
  report.runs.push_back(std::move(run));
  return {};
}

/// All runs at one rate. Runs without and with the protocol alternate, so that changes of the
/// machine's load affect both.
Result<BenchReport, BenchFailure> measure(BenchPlace& place, const BenchCommand& command,
                                          double messages_per_s) {
  BenchReport report;
  const BenchProgress progress;
  for (std::uint32_t i = 0; i < command.runs; ++i) {
    if (command.limit || command.limit_only) {
      progress.say(run_text(command, i, "without a protocol"));
      auto done = measure_limit(place, command, report);
      if (!done) return unexpected(done.error());
    }
    if (command.limit_only) continue;
    const std::string rate =
        messages_per_s > 0
            ? grouped(static_cast<std::uint64_t>(messages_per_s)) + " messages per second"
            : "as fast as possible";
    progress.say(run_text(command, i, rate));
    auto done = measure_cluster(place, command, messages_per_s, report);
    if (!done) return unexpected(done.error());
  }
  return report;
}

int finish(const BenchCommand& command, const BenchReport& report) {
  if (command.json)
    print_json(command, report);
  else
    print_text(command, report);
  return report.one_order() ? 0 : fail(1, kDisorder);
}

/// Measures the maximum throughput, and then rates that rise to this maximum in equal steps.
int sweep(BenchPlace& place, const BenchCommand& command) {
  auto report = measure(place, command, 0);
  if (!report) return fail_bench(report.error());
  const double most = spread_of(report->figures()).median.messages_per_s;
  if (!command.json) print_text(command, *report);
  for (int step = 1; step <= kSweepSteps && report->one_order(); ++step) {
    const double rate = std::max(1.0, most * step / kSweepSteps);
    auto at_rate = measure(place, command, rate);
    if (!at_rate) return fail_bench(at_rate.error());
    if (!at_rate->one_order()) return finish(command, *at_rate);
    report->points.push_back(
        {rate * command.payload_bytes * 8 / 1e6, spread_of(at_rate->figures()).median});
    if (!command.json) print_point(report->points.back());
  }
  if (command.json) print_json(command, *report);
  if (!report->one_order()) return fail(1, kDisorder);
  const auto drawn = write_plot(command, place.dir(), report->points);
  return drawn ? 0 : fail(1, "bench: " + drawn.error());
}

/// True if the picture and its table can be written. Call it before the measurement.
bool can_write(const std::string& png) {
  for (const std::string& path : {png, csv_path(png)}) {
    const bool there = ::access(path.c_str(), F_OK) == 0;
    if (!std::ofstream(path, std::ios::app)) return false;
    if (!there) ::unlink(path.c_str());
  }
  return true;
}

}  // namespace

int run_bench(const BenchCommand& command) {
  if (!command.worker.empty()) return run_bench_worker(command);
  if (!command.plot.empty() && !can_write(command.plot)) {
    return fail(2, "bench: --plot = " + quote(command.plot) +
                       ": accepted is a file in a folder where you may write");
  }
  const auto place = BenchPlace::make(command);
  if (!place) return fail_bench(place.error());
  if (!command.plot.empty()) return sweep(**place, command);
  const auto report = measure(**place, command, command.rate.messages_of(command.payload_bytes));
  if (!report) return fail_bench(report.error());
  return finish(command, *report);
}

}  // namespace peal::cli
