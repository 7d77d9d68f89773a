// SPDX-License-Identifier: Apache-2.0
#include "sim/netmodel/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "sim/netmodel/report.h"
#include "sim/netmodel/run.h"
#include "trace/event.h"

// `peal sim --net`: estimates throughput and latency of a cluster on a modelled network.

namespace peal::sim {
namespace {

enum Exit { kClean = 0, kViolations = 1, kUsage = 2 };

struct NetArguments {
  std::string net = "10g", cpu = "peal", order{order::default_engine().name}, service = "agreed",
              rate = "max", csv;
  std::uint32_t nodes = 8, senders = 0, payload = 1'350, datagram = 0, step = 0;
  std::uint32_t acceptors = 3;
  std::uint32_t domains = 0;
  /// Chosen values of the options in kEngineChoices.
  std::vector<std::pair<std::string_view, std::string>> choices;
  std::uint32_t personal = 0, accelerated = 0, global = 0, buffer = 0;
  double disk_us = 0, loss = 0, burst_us = 0, latency_us = 0, coalesce_us = 0, warm_up = 0.2,
         measure = 0.2;
  std::uint64_t seed = 1;
  bool json = false, no_multicast = false;
};

constexpr const char* kNetAbout =
    "Runs a cluster of whole nodes on a model of a switched Ethernet (bandwidth, delay, switch\n"
    "buffers that overflow, processor time per packet and byte), and prints what it reached.";

/// Returns one line of help for each kind.
template <class Kinds>
std::string list_of(const Kinds& kinds) {
  std::string text;
  for (const auto& kind : kinds) {
    text += "  " + std::string(kind.name) + std::string(14 - kind.name.size(), ' ') +
            std::string(kind.help) + "\n";
  }
  return text;
}

std::string examples() {
  return "\nNetworks (--net):\n" + list_of(net_kinds()) + "\nProcessors (--cpu):\n" +
         list_of(cpu_kinds()) +
         "\nWhere the numbers behind them come from: docs/papers.md.\n\nExamples:\n"
         "  peal sim --net 25g --nodes 16                    the most that 16 nodes would carry\n"
         "  peal sim --net 10g --rate 2.5G --service safe    latency at 2.5 Gb/s of payload\n"
         "  peal sim --net 1g --rate sweep --accelerated-window 0 --csv original.csv\n"
         "  peal sim --net 1g --order ENGINE --payload 65536 another engine\n"
         "  peal sim --net 1g --order ENGINE --disk-us 100   with logs on disks, if it has "
         "acceptors\n\n"
         "Exit status: 0 all is well, 1 the order was violated, 2 the command line is wrong.";
}

template <class Kinds>
std::vector<std::string> names_of(const Kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.emplace_back(kind.name);
  return names;
}

std::vector<std::string> engine_list() {
  std::vector<std::string> names;
  for (const order::Descriptor* each : order::engines()) names.emplace_back(each->name);
  return names;
}

/// Adds the option `name`, which only some engines have. Skips `storage`: --disk-us replaces this
/// option.
void add_choice(CLI::App& app, NetArguments& a, std::string_view name) {
  if (name == "storage") return;
  const order::Option& option = *find_option_named(name);
  const std::string flag = "--" + std::string(name);
  const std::string help = "with --order " + engines_with_option(name) + ": " +
                           std::string(option.key) +
                           "; default: " + order::text_of(option, option.normal);
  if (option.kind == order::Option::Kind::flag) {
    app.add_flag_callback(
        flag, [&a, name] { a.choices.emplace_back(name, "yes"); }, help);
    return;
  }
  const auto take = [&a, &option, name](const std::string& text) {
    a.choices.emplace_back(name, text);
    return order::number_of(option, text).has_value();
  };
  app.add_option_function<std::string>(
         flag, [](const std::string&) {}, help)
      ->check([take, &option](const std::string& text) {
        return take(text) ? std::string() : "accepted is " + order::accepted_by(option);
      });
}

void add_options(CLI::App& app, NetArguments& a) {
  app.footer(examples());
  app.add_option("--net", a.net, "kind of network")->check(CLI::IsMember(names_of(net_kinds())));
  app.add_option("--cpu", a.cpu, "what runs on each processor; default: peal")
      ->check(CLI::IsMember(names_of(cpu_kinds())));
  app.add_option("--order", a.order, "the engine; default: " + a.order)
      ->check(CLI::IsMember(engine_list()));
  app.add_option(
         "--acceptors", a.acceptors,
         "with an engine that has acceptors: so many nodes vote, the lowest ones; default: 3")
      ->check(CLI::Range(1, 128));
  for (const std::string_view choice : kEngineChoices) add_choice(app, a, choice);
  app.add_option(
         "--domains", a.domains,
         "with an engine that has domains: the nodes are shared out evenly to so many, and send in "
         "theirs alone; each has --acceptors of its own")
      ->check(CLI::Range(1U, trace::kDomainMax));
  app.add_option(
         "--disk-us", a.disk_us,
         "with an engine that has acceptors: a sync of all that a log has to write takes so "
         "long; default: 0, in memory")
      ->check(CLI::Range(0.0, 1e6));
  app.add_flag("--no-multicast", a.no_multicast,
               "the network has no multicast: a packet to all goes to each, one after the other");
  app.add_option("--nodes", a.nodes, "number of nodes")->check(CLI::Range(1, 128));
  app.add_option("--senders", a.senders, "so many nodes send, the lowest ones; without it all")
      ->check(CLI::Range(1, 128));
  app.add_option("--payload", a.payload, "bytes of a message")->check(CLI::Range(8, 16 << 20));
  app.add_option("--service", a.service)->check(CLI::IsMember({"agreed", "safe"}));
  app.add_option("--rate", a.rate,
                 "messages per second of all nodes together, or payload bits per second as in "
                 "400M or 2.5G; max: as many as possible; sweep: all rates up to what is too much");
  app.add_option("--step", a.step, "with a sweep: Mb/s between two rates")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--accelerated-window", a.accelerated,
                 "packets of a visit that follow the token; 0 is the original protocol, Totem");
  app.add_option("--personal-window", a.personal, "packets of a visit; 0: it tunes itself");
  app.add_option("--global-window", a.global, "packets of a rotation");
  app.add_option("--datagram", a.datagram,
                 "bytes of the largest datagram; without it 1472, or, for the papers' processors "
                 "and messages "
                 "that do not fit in it, 9000")
      ->check(CLI::Range(256, 65'507));
  app.add_option("--loss", a.loss, "share of data packets that each node throws away, 0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--buffer", a.buffer, "bytes that wait at a port of the switch, at most")
      ->check(CLI::Range(2'000, 1 << 30));
  app.add_option("--latency-us", a.latency_us, "from a port of the switch to the socket")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--coalesce-us", a.coalesce_us,
                 "network cards wait so long after a packet before one interrupt for all")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--burst-us", a.burst_us,
                 "clients send at once what so many microseconds bring; without it evenly")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--warm-up", a.warm_up, "simulated seconds before measuring")
      ->check(CLI::Range(0.0, 3'600.0));
  app.add_option("--seconds", a.measure, "simulated seconds of measuring")
      ->check(CLI::Range(0.001, 3'600.0));
  app.add_option("--seed", a.seed, "where chance begins");
  app.add_option("--csv", a.csv, "write the figures to this file, too");
  app.add_flag("--json", a.json, "print JSON: one object, or for a sweep one in each line");
}

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

NetRunOptions options_of(const CLI::App& app, const NetArguments& a) {
  NetRunOptions options;
  options.net = net_kind(a.net);
  options.cpu = cpu_kind(a.cpu);
  options.engine = EngineOptions(*order::find_engine(a.order));
  options.nodes = a.nodes;
  options.senders = a.senders;
  options.multicast = !a.no_multicast;
  options.acceptors = app.count("--acceptors") > 0 ? a.acceptors : std::min(a.acceptors, a.nodes);
  options.domains = a.domains;
  options.disk = Duration{static_cast<std::int64_t>(a.disk_us * 1e3)};
  options.payload_bytes = a.payload;
  options.service = a.service == "safe" ? Service::safe : Service::agreed;
  options.loss = a.loss;
  if (app.count("--personal-window") > 0) options.personal_window = a.personal;
  if (app.count("--accelerated-window") > 0) options.accelerated_window = a.accelerated;
  if (app.count("--global-window") > 0) options.global_window = a.global;
  if (app.count("--buffer") > 0) options.port_buffer_bytes = a.buffer;
  if (app.count("--latency-us") > 0) {
    options.latency = Duration{static_cast<std::int64_t>(a.latency_us * 1e3)};
  }
  options.coalesce = Duration{static_cast<std::int64_t>(a.coalesce_us * 1e3)};
  options.burst = Duration{static_cast<std::int64_t>(a.burst_us * 1e3)};
  options.datagram_bytes = a.datagram;
  options.warm_up = Duration{static_cast<std::int64_t>(a.warm_up * 1e9)};
  options.measure = Duration{static_cast<std::int64_t>(a.measure * 1e9)};
  options.seed = a.seed;
  return options;
}

/// Runs experiments and prints their figures.
class Printer {
 public:
  Printer(const NetArguments& a, std::FILE* csv) : json_(a.json), csv_(csv) {}

  NetFigures run(const NetRunOptions& options) {
    const NetFigures figures = run_net(options);
    if (!figures.violation.empty()) {
      violated_ = true;
      std::fprintf(stderr, "peal sim: %s\n", figures.violation.c_str());
    }
    if (json_) {
      std::fputs((net_json(options, figures) + "\n").c_str(), stdout);
    } else {
      if (!titled_) std::fputs((net_title(options) + "\n" + net_header()).c_str(), stdout);
      std::fputs(net_row(figures).c_str(), stdout);
    }
    if (csv_ != nullptr) {
      if (!titled_) std::fputs(net_csv_header().c_str(), csv_);
      std::fputs(net_csv(options, figures).c_str(), csv_);
    }
    titled_ = true;
    std::fflush(stdout);
    return figures;
  }
  bool violated() const { return violated_; }

 private:
  bool json_;
  std::FILE* csv_;
  bool titled_ = false;
  bool violated_ = false;
};

void sweep(NetRunOptions options, std::uint32_t step, Printer& printer) {
  const std::uint32_t megabits = options.net->megabits;
  if (step == 0) step = megabits / (megabits <= 1'000 ? 20 : 50);
  for (std::uint32_t mbps = step; mbps <= 2 * megabits; mbps += step) {
    options.rate = mbps * 1e6 / (8.0 * options.payload_bytes);
    const NetFigures figures = printer.run(options);
    if (!figures.keeps_up() || !figures.violation.empty()) return;
  }
}

/// Returns one line about options that cannot be combined or that the engine does not accept.
/// Returns an empty string if all options are accepted.
std::string problem(const CLI::App& app, const NetRunOptions& options) {
  if (options.senders > options.nodes) {
    return "--senders " + std::to_string(options.senders) + ": accepted is 1 to " +
           std::to_string(options.nodes) + ": senders are nodes";
  }
  if (options.domains > 0 && !options.engine.engine().traits.ensembles) {
    return "--domains is not accepted here: " + std::string(options.engine.engine().name) +
           " has no domains";
  }
  if (options.domains > 0 && options.nodes % options.domains != 0) {
    return "--nodes " + std::to_string(options.nodes) + ": accepted are multiples of --domains " +
           std::to_string(options.domains);
  }
  if (options.domains > 0 && options.acceptors > options.nodes / options.domains) {
    return "--acceptors " + std::to_string(options.acceptors) + ": accepted is 1 to " +
           std::to_string(options.nodes / options.domains) + ", the nodes of a domain";
  }
  const bool quorum = options.engine.has_quorum();
  const std::string_view usual = order::default_engine().name;
  for (const char* name : {"--acceptors", "--disk-us"}) {
    if (quorum || app.count(name) == 0) continue;
    return std::string(name) +
           " is not accepted here: " + std::string(options.engine.engine().name) +
           " has no acceptors";
  }
  for (const char* name : {"--personal-window", "--accelerated-window", "--global-window"}) {
    if (!quorum || app.count(name) == 0) continue;
    return std::string(name) + " is not accepted here: it must come with --order " +
           std::string(usual);
  }
  const std::uint32_t most = std::min(options.nodes, options.engine.engine().traits.acceptors_most);
  if (quorum && options.acceptors > most) {
    return "--acceptors " + std::to_string(options.acceptors) + ": accepted is 1 to " +
           std::to_string(most) +
           (most < options.nodes ? ": the engine takes no more" : ": acceptors are nodes");
  }
  std::vector<order::DomainNodes> domains(options.domains);
  return engine_of(options).validate(domains);
}

int run_arguments(const CLI::App& app, const NetArguments& a) {
  NetRunOptions options = options_of(app, a);
  std::string wrong;
  for (const auto& [name, text] : a.choices) {
    if (!wrong.empty() || options.engine.read(name, text)) continue;
    wrong = "--" + std::string(name) + " is not accepted here: it must come with --order " +
            engines_with_option(name);
  }
  if (wrong.empty()) wrong = problem(app, options);
  if (!wrong.empty()) {
    std::fprintf(stderr, "peal sim: %s\n", wrong.c_str());
    return kUsage;
  }
  const bool sweeps = a.rate == "sweep";
  if (!sweeps && a.rate != "max") {
    options.rate = read_rate(a.rate, a.payload);
    if (options.rate < 0) {
      std::fprintf(stderr,
                   "peal sim: --rate %s: accepted are messages per second (20000), payload bits "
                   "per second (400M, 2.5G), max and sweep\n",
                   a.rate.c_str());
      return kUsage;
    }
  }
  std::FILE* csv = a.csv.empty() ? nullptr : std::fopen(a.csv.c_str(), "w");
  if (csv == nullptr && !a.csv.empty()) {
    std::fprintf(stderr, "peal sim: --csv %s: cannot be written\n", a.csv.c_str());
    return kUsage;
  }
  Printer printer(a, csv);
  if (sweeps) {
    sweep(options, a.step, printer);
  } else {
    printer.run(options);
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
  add_options(app, a);
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
