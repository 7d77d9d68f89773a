// SPDX-License-Identifier: Apache-2.0
// The command line of `peal bench`.
#include <algorithm>
#include <optional>

#include "cli/arguments_builder.h"

namespace peal::cli {
namespace {

/// A text such as "20mbit" as bits; nothing if it has another form, or is outside the range.
std::optional<double> bits_in(std::string_view text, double minimum, double maximum) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
  for (const auto& [name, bits] : kUnits) {
    if (!text.ends_with(name)) continue;
    text.remove_suffix(name.size());
    const auto number = number_in<double>(text, minimum / bits, maximum / bits);
    return number ? std::optional<double>(*number * bits) : std::nullopt;
  }
  return std::nullopt;
}

bool store_rate(const std::string& text, BenchRate& rate) {
  rate = {};
  if (text == "max") return true;
  if (const auto messages = number_in<std::uint64_t>(text, 1, 100'000'000)) {
    rate.messages_per_s = static_cast<double>(*messages);
    return true;
  }
  const auto bits = bits_in(text, 1, 1e12);
  rate.payload_bits_per_s = bits.value_or(0);
  return bits.has_value();
}

constexpr const char* kFailoverRates =
    "a whole number from 1 to 100000000, or a number with kbit, mbit or gbit";

/// Options of `peal bench` and `peal bench limit`.
void add_common(Builder& b, BenchCommand& c, std::uint32_t nodes_min) {
  b.number<std::uint32_t>("--nodes", "N", c.nodes, nodes_min, kBenchNodesMax, "how many nodes (3)");
  b.number<std::uint32_t>("--payload", "N", c.payload_bytes, kBenchPayloadMin, kBenchPayloadMax,
                          "bytes per message (1350)");
  b.flag("--loopback", c.loopback,
         "on the loopback interface instead of one network namespace for each node");
  b.value(
      "--link", "RATE", "a number from 1mbit to 100gbit with kbit, mbit or gbit",
      "limit each node's cable, in each direction, such as 1gbit, with 512 KiB of queue at each "
      "port of the switch; batches pass in one piece. Without it, as fast as the machine",
      [&c](const std::string& text) {
        const auto bits = bits_in(text, 1e6, 1e11);
        c.link_bits_per_s = bits.value_or(0);
        return bits.has_value();
      });
  b.number<double>("--seconds", "S", c.seconds, 0.1, 3'600, "how long to measure (5)");
  b.number<std::uint32_t>("--runs", "K", c.runs, 1, 100,
                          "measure so often; prints median, least and greatest (1)");
  b.flag("--json", c.json, "JSON, with everything that was counted");
}

/// Adds the options of the engine.
void add_engine(Builder& b, BenchCommand& c) {
  b.order(c.order);
  b.dissemination(c.options);
  b.ensembles(c.options);
  b.merge(c.options);
  b.flag(
      "--optimistic", [&c] { c.options.set(kOptimistic, 1); },
      "with --order " + engines_with(kOptimistic) +
          ", nodes are told of messages before these have their places, too, and the report says "
          "how soon, and how often at another place than they get");
  b.storage(c.options);
  b.domains(c.domains);
  b.flag("--outside", c.outside,
         "with --order " + engines_with(&order::Traits::genuine) +
             ", the last node is in no domain: it only sends");
  b.fabric(c.options);
  b.value("--poll", "N", "a whole number from 0 to " + std::to_string(kBenchNodesMax),
          "with --order " + engines_with(kPoll) +
              ", so many nodes poll always, a sender in no domain first, and the others sleep "
              "whenever nothing comes. Without it each polls before it sleeps, if that pays",
          [&c](const std::string& text) {
            c.poll = number_in<std::uint32_t>(text, 0, kBenchNodesMax);
            return c.poll.has_value();
          });
  b.data(c.streams);
  b.value("--acceptors", "K", "an odd whole number from 1 to " + std::to_string(kBenchAcceptorsMax),
          "with --order " + engines_that(has_acceptors) +
              ", how many nodes vote; the others learn decisions. Without it all of up "
              "to two nodes, three of up to four, else five",
          [&c](const std::string& text) {
            c.acceptors = number_in<std::uint32_t>(text, 1, kBenchAcceptorsMax);
            return c.acceptors.has_value() && *c.acceptors % 2 == 1;
          });
}

/// Adds an option for the settings in the engine's table of the configuration file, if users may
/// tune any of these settings.
void add_table(Builder& b, BenchCommand& c, const order::Descriptor& engine) {
  const auto options = engine.options();
  const auto tunable = [&engine](const order::Option& each) {
    return each.is_tunable() && each.table() == engine.name;
  };
  if (std::none_of(options.begin(), options.end(), tunable)) return;
  const std::string name(engine.name);
  b.value("--" + name, "KEY=VALUE", "KEY=VALUE, and more after commas",
          "settings of the table [" + name +
              "], with commas between them; see `peal node --print-config`. Without it they have "
              "their defaults",
          [&c, &engine](const std::string& text) {
            c.table = &engine;
            c.table_settings = text;
            return text.find('=') != std::string::npos && text.find('\n') == std::string::npos;
          });
}

/// Adds the options --senders, --rate and --under-way.
void add_pace(Builder& b, BenchCommand& c) {
  b.value("--senders", "WHICH", "\"all\", \"first\" or \"last\"",
          "which nodes send: all (the default), the first one or the last one alone",
          [&c](const std::string& text) {
            c.senders = text == "first"  ? BenchSenders::first
                        : text == "last" ? BenchSenders::last
                                         : BenchSenders::all;
            return text == "all" || c.senders != BenchSenders::all;
          });
  b.value("--rate", "RATE",
          "\"max\", a whole number from 1 to 100000000, or a number with kbit, mbit or gbit",
          "of all nodes together: messages per second, or payload per second with a unit, such as "
          "20mbit; max (the default): each sends when it can",
          [&c](const std::string& text) { return store_rate(text, c.rate); });
  b.value("--under-way", "N", "a whole number from 1 to " + std::to_string(kBenchUnderWayMax),
          "with --rate max, how many messages each node has under way at most: sent, and not yet "
          "delivered to itself. Without it 1 MiB of them, from 16 to 8192. Messages without a "
          "place are delivered at once by their sender, so it does not bound them",
          [&c](const std::string& text) {
            c.under_way = number_in<std::uint32_t>(text, 1, kBenchUnderWayMax);
            return c.under_way.has_value();
          });
}

}  // namespace

void build_bench(Builder& b, BenchCommand& c) {
  b.app().footer(
      "Measures real node processes, each in a network namespace of its own on one\n"
      "bridge, with one sender and one receiver each. Checks while it measures that\n"
      "nothing is lost, delivered twice or in another order: then the exit status is 1,\n"
      "whatever the speed. Messages without a place in the order (--service causal)\n"
      "have to be the same at all nodes, in the order of each sender. Latency runs from\n"
      "the time at which a message was due until each node delivered it; with\n"
      "--rate max it is due when it is sent. A sender delivers its own message without\n"
      "a place at once, which is not counted.\n"
      "`peal bench limit` measures what the machine can do without a protocol.\n"
      "\nExamples:\n"
      "  peal bench                               as fast as three nodes can\n"
      "  peal bench --under-way 1                 one message of each node at a time\n"
      "  peal bench --rate 20mbit --service safe  latency at 20 Mb/s of payload in all\n"
      "  peal bench --link 1gbit --loss 1         on shaped links, with loss\n"
      "  peal bench --limit --runs 5              beside what the machine can do\n"
      "  peal bench --daemon                      through daemons and their clients\n"
      "  peal bench clients                       what clients and groups cost a daemon\n"
      "  peal bench --plot latency.png            latency against throughput");
  add_common(b, c, 1);
  add_engine(b, c);
  b.service(c.service);
  add_pace(b, c);
  b.number<double>("--loss", "PERCENT", c.loss_percent, 0, 50,
                   "data packets that each node drops on arrival, by chance");
  for (const order::Descriptor* engine : order::engines()) add_table(b, c, *engine);
  b.value("--thread", "WHOSE", "\"caller\" or \"own\"",
          "which thread runs each member: the one that sends and receives (caller, the default), "
          "or one "
          "of the member's own; see peal::Thread in peal/config.h",
          [&c](const std::string& text) {
            c.own_thread = text == "own";
            return text == "own" || text == "caller";
          });
  b.flag("--insecure", c.insecure,
         "with packets that are neither encrypted nor authenticated; else with a key of its own");
  b.value("--multicast", "WHETHER", "\"auto\" or \"off\"",
          "auto (the default): by multicast to the nodes that it reaches; off: a copy to each node",
          [&c](const std::string& text) {
            c.multicast = text == "auto";
            return text == "auto" || text == "off";
          });
  b.path("--dir", "DIR", c.place,
         "where the run has its files (/tmp), with the logs of acceptors among them: in memory if "
         "that is /dev/shm, else on the disk that DIR is on");
  b.flag("--daemon", c.daemon,
         "a daemon for each node, and a client of it that sends and receives, instead of members "
         "inside the process that does; it polls before it sleeps, as those do; processor time is "
         "that of both");
  b.value("--warm-up", "S", "a number from 0.1 to 600",
          "before measuring (a fifth of --seconds, from 0.3 to 2)", [&c](const std::string& text) {
            c.warm_up_s = number_in<double>(text, 0.1, 600);
            return c.warm_up_s.has_value();
          });
  b.flag("--limit", c.limit,
         "also measure what the machine can do without a protocol, in turns; throughput is then a "
         "part of it as well");
  b.path("--plot", "FILE.png", c.plot,
         "measure the greatest throughput and then ten rates up to it; writes FILE.csv, and "
         "draws FILE.png with gnuplot");
}

void build_bench_limit(Builder& b, BenchCommand& c) {
  b.app().footer(
      "Sends through the same sockets as a node, with the same batches, but without\n"
      "order or repair: one node to all, then all to all, and then a packet there and\n"
      "back. Receivers acknowledge now and then, so that senders do not overrun them.\n"
      "Small messages share a packet. Every figure of `peal bench` can be read as a\n"
      "part of these.\n"
      "\nExamples:\n"
      "  peal bench limit                   three nodes in network namespaces\n"
      "  peal bench limit --nodes 8 --json  eight, for a program");
  c.limit_only = true;
  add_common(b, c, 2);
}

void build_bench_failover(Builder& b, BenchFailoverCommand& c) {
  std::string on_quorum = "  peal bench failover";
  for (const order::Descriptor* engine : order::engines()) {
    if (!engine->traits.has_acceptors()) continue;
    on_quorum += " --order " + std::string(engine->name);
    break;
  }
  b.app().footer(
      "Runs the daemons of a cluster, with a client at each that sends and receives, and\n"
      "kills (SIGKILL) the node that leads, again and again: the coordinator of an\n"
      "engine with acceptors, or the first member of the view. The node is started again,\n"
      "and all nodes are in one view, before the next kill. Prints how long it took from the kill\n"
      "until each of the others was in a view without that node, until it delivered the\n"
      "next message in that view, and until it delivered a message that was sent after\n"
      "the kill, behind all that waited. Beside it stands the longest sync of a file of\n"
      "4 KiB on the same disk: votes on disk cannot be faster than the disk.\n"
      "\nExamples:\n"
      "  peal bench failover                     first members of views\n" +
      on_quorum + "                20 coordinators\n" + on_quorum +
      " --storage memory  that wait for no disk\n" + on_quorum +
      " --dir /var/tmp  on another disk\n"
      "  peal bench failover --kills 5 --json    each kill, for a program");
  c.cluster.rate.payload_bits_per_s = 20e6;
  b.number<std::uint32_t>("--kills", "N", c.kills, 1, 1'000, "how many times (20)");
  b.number<double>("--settle", "S", c.settle_s, 0, 600,
                   "how long all nodes are there before each kill (1)");
  b.number<std::uint32_t>("--nodes", "N", c.cluster.nodes, 3, kBenchNodesMax, "how many nodes (3)");
  b.order(c.cluster.order);
  b.dissemination(c.cluster.options);
  b.storage(c.cluster.options);
  b.data(c.cluster.streams);
  b.number<std::uint32_t>("--payload", "N", c.cluster.payload_bytes, kBenchPayloadMin,
                          kBenchPayloadMax, "bytes per message (1350)");
  b.value("--rate", "RATE", kFailoverRates,
          "of all nodes together: messages per second, or payload per second with a unit (20mbit)",
          [&c](const std::string& text) {
            const bool good = store_rate(text, c.cluster.rate);
            return good && !c.cluster.rate.is_max();
          });
  b.flag("--loopback", c.cluster.loopback,
         "on the loopback interface instead of one network namespace for each node");
  b.path("--dir", "DIR", c.cluster.place,
         "where the run has its files (/tmp), with the logs of acceptors among them");
  b.flag("--json", c.cluster.json, "JSON, with every kill");
}

void build_bench_clients(Builder& b, BenchClientsCommand& c) {
  b.app().footer(
      "Runs one daemon and its clients on this machine. Prints how much memory of the\n"
      "daemon each idle client and each group takes; how long it takes to connect and\n"
      "to join; what 1,000 silent connections cost a well-behaved client; and\n"
      "what one client of 100 that stops reading does to the others, under each policy\n"
      "for slow clients.\n"
      "\nExamples:\n"
      "  peal bench clients                         1,000 clients, 10,000 groups\n"
      "  peal bench clients --clients 100 --runs 5  fewer, with medians of 5 runs");
  b.number<std::uint32_t>("--clients", "N", c.clients, 1, 3'000, "clients that stay (1000)");
  b.number<std::uint32_t>("--groups", "N", c.groups, 1, 100'000,
                          "groups, each with one member (10000)");
  b.number<std::uint32_t>("--payload", "N", c.payload_bytes, 1, kBenchPayloadMax,
                          "bytes per message (1350)");
  b.number<double>("--seconds", "S", c.seconds, 0.1, 600,
                   "how long to measure each throughput (2)");
  b.number<std::uint32_t>("--runs", "K", c.runs, 1, 100,
                          "of each throughput, in turns; prints medians (1)");
  b.flag("--json", c.json, "JSON, for a program");
}

}  // namespace peal::cli
