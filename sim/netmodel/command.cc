// SPDX-License-Identifier: Apache-2.0
#include "sim/netmodel/command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/netmodel/net_arguments.h"
#include "sim/netmodel/report.h"
#include "sim/netmodel/run.h"

// `peal sim --net`: estimates throughput and latency of a cluster on a modelled network.

namespace peal::sim {
namespace {

enum Exit { kClean = 0, kViolations = 1, kUsage = 2 };

constexpr const char* kNetAbout =
    "Runs a cluster of whole nodes on a model of a network (a switched Ethernet or a bus: "
    "bandwidth,\n"
    "delay, switch buffers that overflow, processor time per packet and byte), and prints what it\n"
    "reached.";

/// The option that says when a message may be delivered.
constexpr const char* kDelivery = "delivery";
/// The loads of the ToTo paper, in messages per second of all nodes.
constexpr double kPaperLoads[] = {50, 100, 150, 200};
/// The messages of each run in the paper, and the messages of each node before the measurement.
constexpr double kPaperMessages = 4'000;
constexpr double kWarmUpMessages = 20;
/// Rough number of messages per second that a bus carries.
constexpr double kBusRate = 1'000;

/// Converts `text` to messages per second; negative if `text` is not a rate.
double read_rate(const std::string& text, std::uint32_t payload) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(value > 0) || value > 1e12) return -1;
  const std::string_view unit(end);
  if (unit.empty()) return value;
  if (unit == "M") return value * 1e6 / (8.0 * payload);
  if (unit == "G") return value * 1e9 / (8.0 * payload);
  return -1;
}

/// Runs experiments and prints their figures.
class Printer {
 public:
  Printer(const NetArguments& a, std::FILE* csv) : json_(a.json), csv_(csv) {}

  NetFigures run(const NetRunOptions& options) {
    const NetFigures figures = run_net(options);
    print(options, figures, net_header(), net_row(figures));
    return figures;
  }
  /// Runs the experiment with each of these rules of delivery. Each row but the first shows the
  /// speed-up of the first rule: the wait with the row's rule, divided by the wait with the first.
  void compare(NetRunOptions options, std::span<const std::string_view> rules) {
    double first_us = 0;
    for (const std::string_view rule : rules) {
      options.engine.read(kDelivery, std::string(rule));
      const NetFigures figures = run_net(options);
      const double speed_up = first_us > 0 ? figures.wait_us / first_us : 0;
      if (first_us == 0) first_us = figures.wait_us;
      print(options, figures, wait_header(), wait_row(options, figures, speed_up));
    }
  }
  bool violated() const { return violated_; }

 private:
  void print(const NetRunOptions& options, const NetFigures& figures, const std::string& header,
             const std::string& row) {
    if (!figures.violation.empty()) {
      violated_ = true;
      std::fprintf(stderr, "peal sim: %s\n", figures.violation.c_str());
    }
    if (json_) {
      std::fputs((net_json(options, figures) + "\n").c_str(), stdout);
    } else {
      if (!titled_) std::fputs((net_title(options) + "\n" + header).c_str(), stdout);
      std::fputs(row.c_str(), stdout);
    }
    if (csv_ != nullptr) {
      if (!titled_) std::fputs(net_csv_header().c_str(), csv_);
      std::fputs(net_csv(options, figures).c_str(), csv_);
    }
    titled_ = true;
    std::fflush(stdout);
  }

  bool json_;
  std::FILE* csv_;
  bool titled_ = false;
  bool violated_ = false;
};

/// A message takes long on a bus, so experiments there last for a number of messages.
void fit_times(const CLI::App& app, NetRunOptions& options) {
  if (!options.net->is_bus()) return;
  const double rate = options.rate > 0 ? options.rate : kBusRate;
  const auto time_of = [rate](double messages) {
    return Duration{static_cast<std::int64_t>(messages / rate * 1e9)};
  };
  if (app.count("--warm-up") == 0) options.warm_up = time_of(kWarmUpMessages * options.nodes);
  if (app.count("--seconds") == 0) options.measure = time_of(kPaperMessages);
}

void sweep(NetRunOptions options, std::uint32_t step, Printer& printer) {
  const std::uint32_t megabits = options.net->megabits;
  if (step == 0) step = megabits / (megabits <= 1'000 ? 20 : 50);
  for (std::uint32_t mbps = step; mbps <= 2 * megabits; mbps += step) {
    options.rate = mbps * 1e6 / (8.0 * options.payload_bytes);
    const NetFigures figures = printer.run(options);
    if (!figures.keeps_up() || !figures.violation.empty()) return;
  }
}

/// The ToTo paper's experiment: each load with each rule of delivery, or with the chosen one.
void run_paper_loads(const CLI::App& app, NetRunOptions options, Printer& printer) {
  const order::Option* rule = options.engine.find(kDelivery);
  for (const double rate : kPaperLoads) {
    options.rate = rate;
    fit_times(app, options);
    if (rule == nullptr) {
      printer.run(options);
    } else if (app.count("--delivery") > 0) {
      const std::string_view chosen[] = {options.engine.word(kDelivery)};
      printer.compare(options, chosen);
    } else {
      printer.compare(options, rule->words);
    }
  }
}

int run_arguments(const CLI::App& app, const NetArguments& a) {
  std::string wrong;
  NetRunOptions options = net_options_of(app, a, wrong);
  if (!wrong.empty()) {
    std::fprintf(stderr, "peal sim: %s\n", wrong.c_str());
    return kUsage;
  }
  const std::string rate = rate_of(a);
  const bool sweeps = rate == "sweep";
  if (!sweeps && rate != "max") {
    options.rate = read_rate(rate, options.payload_bytes);
    if (options.rate < 0) {
      std::fprintf(stderr,
                   "peal sim: --rate %s: accepted are messages per second (20000), payload bits "
                   "per second (400M, 2.5G), max and sweep\n",
                   rate.c_str());
      return kUsage;
    }
  }
  fit_times(app, options);
  std::FILE* csv = a.csv.empty() ? nullptr : std::fopen(a.csv.c_str(), "w");
  if (csv == nullptr && !a.csv.empty()) {
    std::fprintf(stderr, "peal sim: --csv %s: cannot be written\n", a.csv.c_str());
    return kUsage;
  }
  Printer printer(a, csv);
  if (!sweeps) {
    printer.run(options);
  } else if (options.net->is_bus()) {
    run_paper_loads(app, options, printer);
  } else {
    sweep(options, a.step, printer);
  }
  if (csv != nullptr) std::fclose(csv);
  return printer.violated() ? kViolations : kClean;
}

}  // namespace

bool asks_for_net(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word == "--net" || word.substr(0, 6) == "--net=") return true;
  }
  return false;
}

int run_net_command(int argc, char** argv) {
  NetArguments a;
  CLI::App app(kNetAbout, "peal sim");
  add_net_options(app, a);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return kUsage;
  }
  return run_arguments(app, a);
}

}  // namespace peal::sim
