// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/bench/network.h"
#include "cli/engine_options.h"
#include "cli/text.h"
#include "trace/words.h"

namespace peal::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string fixed(double value, int digits) {
  if (std::abs(value) >= 10'000) return grouped(static_cast<std::uint64_t>(std::llround(value)));
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string rate_text(double bits_per_s) {
  if (bits_per_s >= 1e9) return decimal(bits_per_s / 1e9) + " Gb/s";
  if (bits_per_s >= 1e6) return decimal(bits_per_s / 1e6) + " Mb/s";
  return decimal(bits_per_s / 1e3) + " kb/s";
}

std::string wanted_rate(const BenchCommand& c) {
  const BenchRate& rate = c.rate;
  if (rate.is_max()) {
    // Their sender delivers them at once, so they are never under way.
    if (c.order->traits.causal && !is_ordered(c.service)) return "as fast as possible";
    return "as fast as possible with " + grouped(messages_under_way(c)) + " of each node under way";
  }
  if (rate.payload_bits_per_s > 0) return rate_text(rate.payload_bits_per_s) + " of payload";
  return fixed(rate.messages_per_s, 0) + " messages per second";
}

void print_setting(const BenchCommand& c) {
  std::string line = counted(c.nodes, "node") + ", messages of " + counted(c.payload_bytes, "byte");
  if (!c.limit_only) {
    line += ", " + std::string(trace::word_of(c.service)) + ", ";
    line += wanted_rate(c);
  }
  line += c.loopback ? "; on the loopback interface" : "; in network namespaces on one bridge";
  if (c.link_bits_per_s > 0) {
    line += ", links of " + rate_text(c.link_bits_per_s) + " with " +
            std::to_string(BenchNetwork::kSwitchQueueBytes >> 10) + " KiB at each switch port";
  }
  line += ", ordered by ";
  const auto ensembles = static_cast<std::uint64_t>(ensembles_of(c.options));
  if (ensembles > 1) line += counted(ensembles, "ensemble") + " of ";
  line += c.order->name;
  if (const std::string_view way = order::chosen_word(c.options, kDissemination);
      way != order::find_option(kDissemination)->words.front()) {
    line += " (" + std::string(way) + ")";
  }
  if (is_rotation(c.options)) line += ", merged in rotation";
  if (is_optimistic(c.options)) line += ", optimistic";
  if (c.acceptors) line += " with " + counted(*c.acceptors, "acceptor");
  if (c.streams) {
    line += ", over streams";
  } else if (!c.multicast) {
    line += ", without multicast";
  }
  const bool in_memory = is_in_memory(c.options);
  if (in_memory) line += ", votes in memory";
  if (c.order->traits.has_acceptors() && !in_memory) line += ", logs in " + c.place;
  if (c.domains > 1) line += ", " + counted(c.domains, "domain");
  if (c.outside) line += ", the last node in no domain";
  if (c.senders == BenchSenders::first) line += ", the first node sends";
  if (c.senders == BenchSenders::last) line += ", the last node sends";
  if (const auto fabric = order::chosen_word(c.options, kFabric); c.options.get(kFabric)) {
    line += ", fabric " + std::string(fabric);
  }
  if (c.poll) line += ", " + counted(*c.poll, "node") + " polling, the others asleep";
  if (c.insecure) line += ", insecure";
  if (c.daemon) line += ", clients of daemons";
  if (c.own_thread) line += ", members with threads of their own";
  if (c.loss_percent > 0) line += ", " + decimal(c.loss_percent) + " % of data packets dropped";
  if (c.table != nullptr) line += "; " + std::string(c.table->name) + ": " + c.table_settings;
  std::printf("%s\n%s of %s s\n", line.c_str(), counted(c.runs, "run").c_str(),
              decimal(c.seconds).c_str());
}

/// Prints figures line by line, with minimum and maximum if there were several runs.
template <class F>
class Table {
 public:
  explicit Table(const std::vector<F>& runs) : spread_(spread_of(runs)), several_(runs.size() > 1) {
    if (several_) std::printf("%-12s%14s %13s %13s\n", "", "median", "least", "greatest");
  }
  void line(const char* name, double F::*value, int digits, const std::string& unit) const {
    std::printf("%-12s%14s", name, fixed(spread_.median.*value, digits).c_str());
    if (several_) {
      std::printf(" %13s %13s", fixed(spread_.min.*value, digits).c_str(),
                  fixed(spread_.max.*value, digits).c_str());
    }
    std::printf(" %s\n", unit.c_str());
  }
  const F& median() const { return spread_.median; }
  const F& greatest() const { return spread_.max; }

 private:
  Spread<F> spread_;
  bool several_;
};

void print_limit(const std::vector<LimitFigures>& limits) {
  using F = LimitFigures;
  const Table<F> table(limits);
  table.line("one sends", &F::one_mbit_per_s, 1, "Mb/s of payload at each receiver");
  table.line("", &F::one_cpu_s_per_delivered_gb, 3, "CPU s per delivered GB");
  table.line("", &F::one_lost_percent, 2, "% of packets lost");
  table.line("all send", &F::all_mbit_per_s, 1, "Mb/s at each receiver, its own included");
  table.line("", &F::all_cpu_s_per_delivered_gb, 3, "CPU s per delivered GB");
  table.line("", &F::all_lost_percent, 2, "% of packets lost");
  table.line("round trip", &F::round_trip_min_us, 1, "us min, sleeping in between");
  table.line("", &F::round_trip_p50_us, 1, "us p50");
  table.line("", &F::round_trip_p99_us, 1, "us p99");
}

std::string receivers_text(const BenchReport& report) {
  double low = report.runs.front().receivers_mbit_per_s.front(), high = low;
  for (const BenchRun& run : report.runs) {
    for (const double each : run.receivers_mbit_per_s) {
      low = std::min(low, each);
      high = std::max(high, each);
    }
  }
  return "Mb/s of payload at each receiver (" + fixed(low, 1) + " to " + fixed(high, 1) + ")";
}

void print_order(const BenchReport& report) {
  std::uint64_t messages = 0, unplaced = 0;
  std::size_t views = 0;
  for (const BenchRun& run : report.runs) {
    messages += run.messages;
    unplaced += run.unplaced_messages;
    views += run.views;
  }
  const char* same = unplaced > 0 ? "that of each sender, and the same messages at all nodes"
                                  : "the same at all nodes";
  std::printf("%-12s%s: %s in %s%s\n", "order",
              report.one_order() ? same : "NOT THE SAME AT ALL NODES",
              counted(messages, "message").c_str(), counted(views, "view").c_str(),
              report.one_order() ? ", none lost, none twice" : "");
}

void print_views_installed(const Table<BenchFigures>& table) {
  if (table.greatest().views_installed <= 0) return;
  table.line("", &BenchFigures::views_installed, 0, "views installed while it was measured");
}

/// Of an engine that writes into other nodes' memory, and sends packets for repair alone.
void print_writes(const Table<BenchFigures>& table) {
  using F = BenchFigures;
  table.line("writes", &F::writes_per_message, 1, "into other nodes' memory per message");
  table.line("repair", &F::pulled_messages, 0, "messages pulled by nodes that lacked them");
  if (table.greatest().rounds > 0) {
    table.line("", &F::rounds, 0, "leaders that began while it was measured");
  }
  print_views_installed(table);
}

/// Prints figures from the counters of members; results of --daemon have no counters.
void print_counters(const BenchCommand& c, const BenchReport& report,
                    const Table<BenchFigures>& table) {
  using F = BenchFigures;
  if (c.order->traits.genuine) return print_writes(table);
  table.line("repair", &F::retransmitted_packets, 0,
             "packets retransmitted (" + fixed(table.median().retransmitted_percent, 2) + " %)");
  const bool token = report.runs.front().counters.contains("tokens_retransmitted");
  table.line("", &F::requested_packets, 0,
             c.order->traits.quorum ? "requests for packets" : "packets requested");
  table.line("", &F::lost_at_sockets_packets, 0, "packets lost at full sockets");
  if (c.loss_percent > 0) table.line("", &F::dropped_packets, 0, "packets dropped on purpose");
  if (token) table.line("", &F::tokens_retransmitted, 0, "tokens retransmitted");
  print_views_installed(table);
  if (token) {
    table.line("windows", &F::global_window_packets, 0, "packets in a rotation");
    table.line("", &F::personal_window_packets, 0, "packets of one node in a rotation");
    table.line("", &F::after_token_percent, 0, "% of these after the token");
  } else if (c.order->traits.quorum) {
    table.line("windows", &F::global_window_packets, 0,
               ensembles_of(c.options) > 1 ? "packets under way at all coordinators"
                                           : "packets under way at the coordinator");
    table.line("", &F::personal_window_packets, 0, "packets of one node under way");
  }
  table.line("sending", &F::multicast_percent, 0, "% of data packets by multicast");
  table.line("", &F::packets_per_send_call, 1, "packets per system call");
}

void print_latency(const BenchCommand& c, const Table<BenchFigures>& table) {
  using F = BenchFigures;
  // A lone node delivers its own messages without a place at once.
  if (table.greatest().latency_max_us <= 0) {
    std::printf("%-12s%14s\n", "latency", "none measured");
    return;
  }
  const int digits = table.median().latency_p50_us < 10 ? 1 : 0;
  const int own_digits = table.median().own_p50_us < 10 ? 1 : 0;
  table.line("latency", &F::latency_min_us, digits,
             c.rate.is_max() ? "us min, from sent to delivered" : "us min, from due to delivered");
  table.line("", &F::latency_p50_us, digits, "us p50");
  table.line("", &F::latency_p99_us, digits, "us p99");
  table.line("", &F::latency_p999_us, digits, "us p99.9");
  table.line("", &F::latency_max_us, digits, "us max");
  table.line("at its sender", &F::own_min_us, own_digits, "us min");
  table.line("", &F::own_p50_us, own_digits, "us p50");
  table.line("", &F::own_p99_us, own_digits, "us p99");
}

void print_cluster(const BenchCommand& c, const BenchReport& report) {
  using F = BenchFigures;
  const Table<F> table(report.figures());
  table.line("throughput", &F::throughput_mbit_per_s, 1, receivers_text(report));
  if (c.limit) table.line("", &F::of_limit_percent, 1, "% of the limit when all send");
  table.line("", &F::messages_per_s, 0, "messages per second");
  if (table.median().sent_percent < 99.95) {
    table.line("", &F::sent_percent, 1, "% of what was due could be sent in time");
  }
  print_latency(c, table);
  if (is_optimistic(c.options)) {
    table.line("told early", &F::early_p50_us, 0, "us p50");
    table.line("", &F::early_p99_us, 0, "us p99");
    table.line("", &F::mistaken_percent, 2, "% of packets at another place than told");
  }
  table.line("processor", &F::cpu_s_per_delivered_gb, 2,
             "CPU s per delivered GB, all nodes by all receivers");
  table.line("", &F::cores_per_node, 2, "cores per node");
  if (!c.daemon) print_counters(c, report, table);
  print_order(report);
}

template <class F>
Json json_of(const F& figures) {
  Json out = Json::object();
  for (const auto& field : fields_of(figures)) out[std::string(field.name)] = figures.*field.value;
  return out;
}

/// Adds the fields "median", "least" and "greatest".
template <class F>
void add_spread(Json& out, const std::vector<F>& runs) {
  const Spread<F> spread = spread_of(runs);
  out["median"] = json_of(spread.median);
  out["least"] = json_of(spread.min);
  out["greatest"] = json_of(spread.max);
}

Json setting_of(const BenchCommand& c) {
  Json out;
  out["nodes"] = c.nodes;
  out["payload_bytes"] = c.payload_bytes;
  out["network"] = c.loopback ? "loopback" : "namespaces";
  if (c.table != nullptr) out[std::string(c.table->name)] = c.table_settings;
  if (c.link_bits_per_s > 0) {
    out["link_bit_per_s"] = c.link_bits_per_s;
    out["switch_queue_bytes"] = BenchNetwork::kSwitchQueueBytes;
  }
  out["seconds"] = c.seconds;
  out["runs"] = c.runs;
  if (c.limit_only) return out;
  out["order"] = c.order->name;
  if (c.order->traits.ensembles) {
    out["dissemination"] = order::chosen_word(c.options, kDissemination);
    out["ensembles"] = ensembles_of(c.options);
    out["merge"] = order::chosen_word(c.options, kMerge);
    out["optimistic"] = is_optimistic(c.options);
  }
  if (c.order->traits.has_acceptors()) {
    out["storage"] = order::chosen_word(c.options, kStorage);
  }
  if (c.acceptors) out["acceptors"] = *c.acceptors;
  if (c.order->traits.genuine) {
    out["domains"] = c.domains;
    out["outside"] = c.outside;
    out["fabric"] = order::chosen_word(c.options, kFabric);
    if (c.poll) out["poll"] = *c.poll;
  }
  out["senders"] = c.senders == BenchSenders::all     ? "all"
                   : c.senders == BenchSenders::first ? "first"
                                                      : "last";
  out["service"] = trace::word_of(c.service);
  out["rate_messages_per_s"] =
      c.rate.is_max() ? Json("max") : Json(c.rate.messages_of(c.payload_bytes));
  if (c.rate.is_max()) {
    if (!c.daemon) out["thread"] = c.own_thread ? "own" : "caller";
    out["messages_under_way_per_node"] = messages_under_way(c);
  }
  out["daemon"] = c.daemon;
  out["multicast"] = c.multicast ? "auto" : "off";
  out["data"] = c.streams ? "streams" : "datagrams";
  if (c.order->traits.has_acceptors()) out["logs_in"] = c.place;
  out["insecure"] = c.insecure;
  out["loss_percent"] = c.loss_percent;
  return out;
}

Json json_of(const BenchRun& run) {
  Json out = json_of(run.figures);
  out["receivers_mbit_per_s"] = run.receivers_mbit_per_s;
  out["one_order"] = run.one_order;
  out["messages_compared"] = run.messages;
  out["messages_without_place"] = run.unplaced_messages;
  out["views"] = run.views;
  out["counters"] = run.counters;
  return out;
}

}  // namespace

std::vector<BenchFigures> BenchReport::figures() const {
  std::vector<BenchFigures> all;
  for (const BenchRun& run : runs) all.push_back(run.figures);
  return all;
}

bool BenchReport::one_order() const {
  return std::all_of(runs.begin(), runs.end(), [](const BenchRun& run) { return run.one_order; });
}

void print_text(const BenchCommand& command, const BenchReport& report) {
  print_setting(command);
  if (!report.limits.empty()) print_limit(report.limits);
  if (!report.runs.empty()) print_cluster(command, report);
}

void print_point(const SweepPoint& point) {
  const BenchFigures& f = point.figures;
  std::printf("at %8.1f Mb/s: %8.1f Mb/s at each receiver, p50 %8.0f us, p99 %8.0f us\n",
              point.rate_mbit_per_s, f.throughput_mbit_per_s, f.latency_p50_us, f.latency_p99_us);
  std::fflush(stdout);
}

void print_json(const BenchCommand& command, const BenchReport& report) {
  Json out;
  out["setting"] = setting_of(command);
  if (!report.runs.empty()) {
    out["one_order"] = report.one_order();
    add_spread(out, report.figures());
    out["each_run"] = Json::array();
    for (const BenchRun& run : report.runs) out["each_run"].push_back(json_of(run));
  }
  if (!report.limits.empty()) {
    add_spread(out["limit"], report.limits);
    for (const LimitFigures& run : report.limits) out["limit"]["each_run"].push_back(json_of(run));
  }
  for (const SweepPoint& point : report.points) {
    Json each = {{"rate_mbit_per_s", point.rate_mbit_per_s}};
    each.update(json_of(point.figures));
    out["points"].push_back(std::move(each));
  }
  std::printf("%s\n", out.dump(2).c_str());
}

}  // namespace peal::cli
