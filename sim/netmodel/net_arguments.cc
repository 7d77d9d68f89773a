// SPDX-License-Identifier: Apache-2.0
#include "sim/netmodel/net_arguments.h"

#include <algorithm>
#include <iterator>

#include "sim/baselines/registry.h"
#include "sim/netmodel/setup.h"
#include "sim/scenario/tokenizer.h"
#include "trace/event.h"

namespace peal::sim {
namespace {

/// The option that switches acknowledgements off. The default engine on a bus has this option,
/// since an acknowledgement would occupy the bus for as long as a message.
constexpr std::string_view kAcks = "acks";

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
         "acceptors\n"
         "  peal sim --net bus10 --arrivals poisson --ack-rate 0    the ToTo paper's experiment\n\n"
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
  for (const order::Descriptor* each : baselines()) names.emplace_back(each->name);
  return names;
}

/// Adds the option `name` if an engine of this program has it. Skips `storage`: --disk-us replaces
/// this option.
void add_choice(CLI::App& app, NetArguments& a, std::string_view name) {
  if (name == "storage" || find_option_named(name) == nullptr) return;
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

std::vector<std::string> names_of_arrivals() {
  return {std::begin(kArrivalsNames), std::end(kArrivalsNames)};
}

/// 0 if the text is no duration.
Duration duration_in(const std::string& text) {
  Tokenizer words(text, 0);
  const Duration duration = words.duration();
  return words.failed() || !words.at_end() ? Duration{} : duration;
}

/// The engine that --order names, or the network's default.
const order::Descriptor& engine_named(const NetArguments& a) {
  if (!a.order.empty()) return *find_engine(a.order);
  const order::Descriptor* engine = &order::default_engine();
  if (net_kind(a.net)->is_bus()) order::take_engine(engines_with_option(kAcks), engine);
  return *engine;
}

void add_cluster_options(CLI::App& app, NetArguments& a) {
  app.add_option("--net", a.net, "kind of network")->check(CLI::IsMember(names_of(net_kinds())));
  app.add_option("--cpu", a.cpu,
                 "what runs on each processor; default: peal, with --net rdma that of the "
                 "engine in the RamCast paper")
      ->check(CLI::IsMember(names_of(cpu_kinds())));
  const std::string on_bus = engines_with_option(kAcks);
  app.add_option("--order", a.order,
                 "the engine; default: " + std::string(order::default_engine().name) +
                     (on_bus.empty() ? "" : ", on a bus " + on_bus))
      ->check(CLI::IsMember(engine_list()));
  if (!on_bus.empty()) {
    app.add_option("--ack-rate", a.ack_rate,
                   "with --order " + on_bus +
                       ": acknowledgements per second that a node without messages of its own "
                       "sends at most; 0: none, so that the order advances only with messages")
        ->check(CLI::Range(0, 1'000'000));
  }
  app.add_option(
         "--acceptors", a.acceptors,
         "with an engine that has acceptors: so many nodes vote, the lowest ones; default: 3")
      ->check(CLI::Range(1, 128));
  for (const std::string_view choice : kEngineChoices) add_choice(app, a, choice);
  app.add_option(
         "--domains", a.domains,
         "with an engine that has domains: the nodes are shared out evenly to so many, and send in "
         "theirs alone; each has --acceptors of its own")
      ->check(CLI::Range(1U, kDomainMax));
  app.add_option("--outside", a.outside,
                 "with an engine of genuine multicast: so many nodes more, in no domain; then only "
                 "they send")
      ->check(CLI::Range(1, 100));
  app.add_flag("--to-all", a.to_all,
               "with an engine of genuine multicast: each message is for all domains");
  app.add_option(
         "--disk-us", a.disk_us,
         "with an engine that has acceptors: a sync of all that a log has to write takes so "
         "long; default: 0, in memory")
      ->check(CLI::Range(0.0, 1e6));
  app.add_flag("--no-multicast", a.no_multicast,
               "the network has no multicast: a packet to all goes to each, one after the other");
  app.add_option("--slow-node", a.slow_node,
                 "packets to and from the last node take so much longer, as in 20ms; latencies are "
                 "then those of messages between the other nodes")
      ->check([](const std::string& text) {
        return duration_in(text).ns > 0 ? std::string() : "accepted is a duration such as 20ms";
      });
  app.add_option("--nodes", a.nodes, "number of nodes")->check(CLI::Range(1, 128));
  app.add_option("--senders", a.senders, "so many nodes send, the lowest ones; without it all")
      ->check(CLI::Range(1, 128));
}

void add_load_options(CLI::App& app, NetArguments& a) {
  app.add_option("--payload", a.payload, "bytes of a message; default: 1350, on a bus 1000")
      ->check(CLI::Range(8, 16 << 20));
  app.add_option("--service", a.service,
                 "default: agreed. Engines that order all messages deliver causal ones as agreed")
      ->check(CLI::IsMember({"agreed", "safe", "causal"}));
  app.add_option("--rate", a.rate,
                 "messages per second of all nodes together, or payload bits per second as in "
                 "400M or 2.5G; max: as many as possible; sweep: all rates up to what is too much. "
                 "On a bus, sweep is the default: the loads of the ToTo paper, with each rule of "
                 "delivery");
  app.add_option("--under-way", a.under_way,
                 "with --rate max: each sender has so many messages under way, and sends the next "
                 "when it knows the place of one")
      ->check(CLI::Range(1, 512));
  app.add_option("--arrivals", a.arrivals,
                 "when messages are due, at one mean rate: even, one in each interval; periodic; "
                 "or poisson. Default: even")
      ->check(CLI::IsMember(names_of_arrivals()));
  app.add_option("--step", a.step, "with a sweep: Mb/s between two rates")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--accelerated-window", a.accelerated,
                 "packets of a visit that follow the token; 0 is the original protocol, Totem");
  app.add_option("--personal-window", a.personal, "packets of a visit; 0: it tunes itself");
  app.add_option("--global-window", a.global, "packets of a rotation");
}

void add_network_options(CLI::App& app, NetArguments& a) {
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
}

void add_run_options(CLI::App& app, NetArguments& a) {
  app.add_option("--warm-up", a.warm_up,
                 "simulated seconds before measuring; default: 0.2, on a bus 20 messages of each "
                 "node")
      ->check(CLI::Range(0.0, 3'600.0));
  app.add_option("--seconds", a.measure,
                 "simulated seconds of measuring; default: 0.2, on a bus 4000 messages")
      ->check(CLI::Range(0.001, 3'600.0));
  app.add_option("--seed", a.seed, "where chance begins");
  app.add_option("--csv", a.csv, "write the figures to this file, too");
  app.add_flag("--json", a.json, "print JSON: one object, or for a sweep one in each line");
}

bool writes_memory(const NetRunOptions& options) {
  return options.engine.needs(options.nodes).memory;
}

/// The processor that --cpu names, or the default.
const CpuKind* cpu_of(const NetArguments& a, const NetRunOptions& options) {
  if (!a.cpu.empty()) return cpu_kind(a.cpu);
  if (options.net->write.ns == 0 || !options.engine.is_genuine()) return cpu_kind("peal");
  const std::string own(options.engine.engine().name);
  return cpu_kind(writes_memory(options) ? own : "wbcast");
}

NetRunOptions plain_options_of(const CLI::App& app, const NetArguments& a) {
  NetRunOptions options;
  options.net = net_kind(a.net);
  options.engine = EngineOptions(engine_named(a));
  options.cpu = cpu_of(a, options);
  options.nodes = a.nodes;
  options.senders = a.senders;
  options.multicast = !a.no_multicast;
  options.acceptors = app.count("--acceptors") > 0 ? a.acceptors : std::min(a.acceptors, a.nodes);
  options.domains = a.domains;
  options.outside = a.outside;
  options.under_way = a.under_way;
  options.to_all = a.to_all;
  options.disk = Duration{static_cast<std::int64_t>(a.disk_us * 1e3)};
  options.payload_bytes = app.count("--payload") == 0 && options.net->is_bus() ? 1'000 : a.payload;
  options.service = a.service == "safe"     ? Service::safe
                    : a.service == "causal" ? Service::causal
                                            : Service::agreed;
  const auto* arrivals = std::ranges::find(kArrivalsNames, std::string_view(a.arrivals));
  options.arrivals = static_cast<Arrivals>(arrivals - std::begin(kArrivalsNames));
  if (!a.slow_node.empty()) options.slow_node = duration_in(a.slow_node);
  options.ack_rate = a.ack_rate;
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

/// problem() for options about the load and the network.
std::string problem_of_load(const CLI::App& app, const NetArguments& a,
                            const NetRunOptions& options) {
  if (options.ack_rate && options.engine.find(kAcks) == nullptr) {
    return "--ack-rate is not accepted here: it must come with --order " +
           engines_with_option(kAcks);
  }
  const bool even = options.arrivals == Arrivals::even;
  if (!even && app.count("--burst-us") > 0) {
    return "--burst-us is not accepted here: it must come with --arrivals even";
  }
  if (!even && rate_of(a) == "max") {
    return "--arrivals is not accepted here: it must come with a --rate";
  }
  if (options.slow_node.ns > 0 && options.nodes == 1) {
    return "--slow-node is not accepted here: there is no other node";
  }
  if (options.net->is_bus() && app.count("--buffer") > 0) {
    return "--buffer is not accepted here: a bus has no ports";
  }
  return {};
}

/// problem() for engines of genuine multicast.
std::string problem_of_genuine(const CLI::App& app, const NetRunOptions& options) {
  const std::string name(options.engine.engine().name);
  for (const char* each : {"--outside", "--to-all"}) {
    if (app.count(each) == 0) continue;
    if (!options.engine.is_genuine()) {
      return std::string(each) + " is not accepted here: " + name + " is no genuine multicast";
    }
    if (options.domains == 0) return std::string(each) + " is not accepted here: add --domains";
  }
  if (options.outside > 0 && app.count("--senders") > 0) {
    return "--senders is not accepted here: with --outside, the nodes outside send";
  }
  if (!writes_memory(options)) return {};
  if (options.net->write.ns == 0) {
    return "--net " + std::string(options.net->name) + ": " + name +
           " writes into memory; accepted is rdma";
  }
  if (options.cpu->costs.write.each.ns == 0) {
    return "--cpu " + std::string(options.cpu->name) + ": " + name +
           " writes into memory; accepted is " + name;
  }
  return {};
}

/// Returns one line about options that cannot be combined or that the engine does not accept.
/// Returns an empty string if all options are accepted.
std::string problem(const CLI::App& app, const NetArguments& a, const NetRunOptions& options) {
  if (std::string wrong = problem_of_load(app, a, options); !wrong.empty()) return wrong;
  if (std::string wrong = problem_of_genuine(app, options); !wrong.empty()) return wrong;
  if (options.under_way > 0 && rate_of(a) != "max") {
    return "--under-way is not accepted here: it must come with --rate max";
  }
  if (options.senders > options.nodes) {
    return "--senders " + std::to_string(options.senders) + ": accepted is 1 to " +
           std::to_string(options.nodes) + ": senders are nodes";
  }
  if (options.domains > 0 && !options.engine.engine().traits.has_domains()) {
    return "--domains is not accepted here: " + std::string(options.engine.engine().name) +
           " has no domains";
  }
  if (options.domains > 0 && options.nodes % options.domains != 0) {
    return "--nodes " + std::to_string(options.nodes) + ": accepted are multiples of --domains " +
           std::to_string(options.domains);
  }
  const bool quorum = options.engine.has_acceptors();
  if (quorum && options.domains > 0 && options.acceptors > options.nodes / options.domains) {
    return "--acceptors " + std::to_string(options.acceptors) + ": accepted is 1 to " +
           std::to_string(options.nodes / options.domains) + ", the nodes of a domain";
  }
  const std::string_view usual = order::default_engine().name;
  for (const char* name : {"--acceptors", "--disk-us"}) {
    if (quorum || app.count(name) == 0) continue;
    return std::string(name) +
           " is not accepted here: " + std::string(options.engine.engine().name) +
           " has no acceptors";
  }
  const bool windows = &options.engine.engine() == &order::default_engine();
  for (const char* name : {"--personal-window", "--accelerated-window", "--global-window"}) {
    if (windows || app.count(name) == 0) continue;
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

}  // namespace

void add_net_options(CLI::App& app, NetArguments& a) {
  app.footer(examples());
  add_cluster_options(app, a);
  add_load_options(app, a);
  add_network_options(app, a);
  add_run_options(app, a);
}

std::string rate_of(const NetArguments& a) {
  if (!a.rate.empty()) return a.rate;
  return net_kind(a.net)->is_bus() ? "sweep" : "max";
}

NetRunOptions net_options_of(const CLI::App& app, const NetArguments& a, std::string& wrong) {
  NetRunOptions options = plain_options_of(app, a);
  for (const auto& [name, text] : a.choices) {
    if (!wrong.empty() || options.engine.read(name, text)) continue;
    wrong = "--" + std::string(name) + " is not accepted here: it must come with --order " +
            engines_with_option(name);
  }
  if (wrong.empty()) wrong = problem(app, a, options);
  return options;
}

}  // namespace peal::sim
