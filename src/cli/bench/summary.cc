// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/summary.h"

#include <algorithm>
#include <array>

namespace peal::cli {
namespace {

constexpr std::array kBenchFields{
    FigureField<BenchFigures>{"throughput_mbit_per_s", &BenchFigures::throughput_mbit_per_s},
    FigureField<BenchFigures>{"messages_per_s", &BenchFigures::messages_per_s},
    FigureField<BenchFigures>{"due_messages_per_s", &BenchFigures::due_messages_per_s},
    FigureField<BenchFigures>{"sent_percent", &BenchFigures::sent_percent},
    FigureField<BenchFigures>{"latency_min_us", &BenchFigures::latency_min_us},
    FigureField<BenchFigures>{"latency_p50_us", &BenchFigures::latency_p50_us},
    FigureField<BenchFigures>{"latency_p90_us", &BenchFigures::latency_p90_us},
    FigureField<BenchFigures>{"latency_p99_us", &BenchFigures::latency_p99_us},
    FigureField<BenchFigures>{"latency_p99_9_us", &BenchFigures::latency_p999_us},
    FigureField<BenchFigures>{"latency_max_us", &BenchFigures::latency_max_us},
    FigureField<BenchFigures>{"own_min_us", &BenchFigures::own_min_us},
    FigureField<BenchFigures>{"own_p50_us", &BenchFigures::own_p50_us},
    FigureField<BenchFigures>{"own_p99_us", &BenchFigures::own_p99_us},
    FigureField<BenchFigures>{"cpu_s_per_delivered_gb", &BenchFigures::cpu_s_per_delivered_gb},
    FigureField<BenchFigures>{"cores_per_node", &BenchFigures::cores_per_node},
    FigureField<BenchFigures>{"retransmitted_packets", &BenchFigures::retransmitted_packets},
    FigureField<BenchFigures>{"retransmitted_percent", &BenchFigures::retransmitted_percent},
    FigureField<BenchFigures>{"requested_packets", &BenchFigures::requested_packets},
    FigureField<BenchFigures>{"lost_at_sockets_packets", &BenchFigures::lost_at_sockets_packets},
    FigureField<BenchFigures>{"dropped_packets", &BenchFigures::dropped_packets},
    FigureField<BenchFigures>{"tokens_retransmitted", &BenchFigures::tokens_retransmitted},
    FigureField<BenchFigures>{"views_installed", &BenchFigures::views_installed},
    FigureField<BenchFigures>{"multicast_percent", &BenchFigures::multicast_percent},
    FigureField<BenchFigures>{"packets_per_send_call", &BenchFigures::packets_per_send_call},
    FigureField<BenchFigures>{"writes_per_message", &BenchFigures::writes_per_message},
    FigureField<BenchFigures>{"pulled_messages", &BenchFigures::pulled_messages},
    FigureField<BenchFigures>{"rounds", &BenchFigures::rounds},
    FigureField<BenchFigures>{"global_window_packets", &BenchFigures::global_window_packets},
    FigureField<BenchFigures>{"personal_window_packets", &BenchFigures::personal_window_packets},
    FigureField<BenchFigures>{"after_token_percent", &BenchFigures::after_token_percent},
    FigureField<BenchFigures>{"of_limit_percent", &BenchFigures::of_limit_percent},
    FigureField<BenchFigures>{"early_p50_us", &BenchFigures::early_p50_us},
    FigureField<BenchFigures>{"early_p99_us", &BenchFigures::early_p99_us},
    FigureField<BenchFigures>{"mistaken_percent", &BenchFigures::mistaken_percent},
};
static_assert(kBenchFields.size() * sizeof(double) == sizeof(BenchFigures),
              "every figure has a name");

constexpr std::array kLimitFields{
    FigureField<LimitFigures>{"one_mbit_per_s", &LimitFigures::one_mbit_per_s},
    FigureField<LimitFigures>{"one_cpu_s_per_delivered_gb",
                              &LimitFigures::one_cpu_s_per_delivered_gb},
    FigureField<LimitFigures>{"one_lost_percent", &LimitFigures::one_lost_percent},
    FigureField<LimitFigures>{"all_mbit_per_s", &LimitFigures::all_mbit_per_s},
    FigureField<LimitFigures>{"all_cpu_s_per_delivered_gb",
                              &LimitFigures::all_cpu_s_per_delivered_gb},
    FigureField<LimitFigures>{"all_lost_percent", &LimitFigures::all_lost_percent},
    FigureField<LimitFigures>{"round_trip_min_us", &LimitFigures::round_trip_min_us},
    FigureField<LimitFigures>{"round_trip_p50_us", &LimitFigures::round_trip_p50_us},
    FigureField<LimitFigures>{"round_trip_p99_us", &LimitFigures::round_trip_p99_us},
};
static_assert(kLimitFields.size() * sizeof(double) == sizeof(LimitFigures),
              "every figure has a name");

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

double microseconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e3; }

/// A percentile is the upper end of a bucket, which may exceed the maximum.
double percentile_us(const BenchLatency& latency, double share) {
  return microseconds(std::min(latency.ns.percentile(share), latency.max_ns));
}

double least_us(const BenchLatency& latency) {
  return latency.ns.total() == 0 ? 0 : microseconds(latency.min_ns);
}

bool is_same(const BenchView& a, const BenchView& b) {
  return a.digest.value == b.digest.value && a.unplaced_digest == b.unplaced_digest;
}

/// Checks each view in which a node delivered messages. Clears `run.one_order` unless all nodes of
/// the domain installed that view and delivered the same messages in it; those that have a place in
/// the same order. Each domain has views of its own, and the same messages as the others.
void compare_orders(const std::vector<BenchResult>& results, BenchRun& run) {
  for (const BenchResult& result : results) {
    for (const BenchView& view : result.views) {
      if (view.messages() == 0) continue;
      if (&result == &results.front()) {
        ++run.views;
        run.messages += view.messages();
        run.unplaced_messages += view.unplaced_messages;
      }
      for (const BenchResult& other : results) {
        if (other.domain == 0) continue;
        if (other.domain != result.domain) {
          if (!is_same(result.all, other.all)) run.one_order = false;
          continue;
        }
        const auto same = std::find_if(other.views.begin(), other.views.end(),
                                       [&](const BenchView& at) { return at.id == view.id; });
        if (same == other.views.end() || !is_same(*same, view)) run.one_order = false;
      }
    }
  }
}

void add_counters(const std::vector<BenchResult>& results, BenchRun& run) {
  BenchFigures& f = run.figures;
  const auto nodes = static_cast<double>(results.size());
  for (const BenchResult& result : results) {
    for (const auto& [name, value] : result.counters) run.counters[name] += value;
    const auto gauge = [&](const char* name) {
      const auto found = result.gauges.find(name);
      return found == result.gauges.end() ? 0.0 : static_cast<double>(found->second);
    };
    // With an engine on quorums, an ensemble has one coordinator. The windows of all other nodes
    // are 0.
    f.global_window_packets += gauge("global_window") / nodes + gauge("quorum_window");
    f.personal_window_packets += (gauge("personal_window") + gauge("quorum_member_window")) / nodes;
    f.after_token_percent += gauge("accelerated_percent") / nodes;
  }
  const auto count = [&run](const char* name) {
    const auto found = run.counters.find(name);
    return found == run.counters.end() ? 0.0 : static_cast<double>(found->second);
  };
  // Each engine has counters of its own; the counters of other engines are 0.
  f.retransmitted_packets =
      count("retransmitted") + count("quorum_repeated") + count("quorum_resent");
  f.retransmitted_percent =
      100 * ratio(f.retransmitted_packets,
                  count("data_sent") + count("quorum_originated") + count("units_sent"));
  f.mistaken_percent = 100 * ratio(count("opt_mistakes"), count("quorum_delivered"));
  f.requested_packets = count("requested") + count("quorum_repeats_asked");
  f.lost_at_sockets_packets = count("udp_drop_kernel");
  f.dropped_packets = count("udp_drop_fault_in");
  f.tokens_retransmitted = count("tokens_retransmitted");
  // With several ensembles, counts only the views that applications see.
  const bool together = run.counters.contains("ensembles_views");
  f.views_installed =
      count("views_installed") + count(together ? "ensembles_views" : "quorum_views");
  f.multicast_percent = 100 * ratio(count("udp_data_multicast_out"), count("udp_data_packets_out"));
  f.packets_per_send_call = ratio(count("udp_data_packets_out") + count("udp_token_packets_out") +
                                      count("udp_control_packets_out"),
                                  count("udp_send_calls"));
  f.writes_per_message = ratio(count("writes"), count("units_sent"));
  f.pulled_messages = count("pulls");
  f.rounds = count("rounds");
}

double packets_lost_percent(const LimitPhase& total) {
  const auto lost = static_cast<double>(total.packets_lost);
  return 100 * ratio(lost, lost + static_cast<double>(total.packets_received));
}

LimitPhase& operator+=(LimitPhase& total, const LimitPhase& other) {
  total.packets_sent += other.packets_sent;
  total.packets_received += other.packets_received;
  total.packets_lost += other.packets_lost;
  total.cpu_s += other.cpu_s;
  return total;
}

}  // namespace

std::span<const FigureField<BenchFigures>> fields_of(const BenchFigures&) { return kBenchFields; }
std::span<const FigureField<LimitFigures>> fields_of(const LimitFigures&) { return kLimitFields; }

BenchRun summarise(const std::vector<BenchResult>& results, double seconds) {
  BenchRun run;
  BenchFigures& f = run.figures;
  const auto nodes = static_cast<double>(results.size());
  double receivers = 0, bytes = 0, cpu = 0, due = 0, sent = 0, delivered = 0;
  BenchLatency latency, early, own;
  for (const BenchResult& result : results) {
    const auto got = static_cast<double>(result.delivered_bytes);
    if (result.domain != 0) {  // it delivers
      run.receivers_mbit_per_s.push_back(got * 8 / 1e6 / seconds);
      ++receivers;
    }
    bytes += got;
    cpu += result.cpu_s;
    due += static_cast<double>(result.due);
    sent += static_cast<double>(result.sent);
    delivered += static_cast<double>(result.delivered);
    latency.add(result.latency);
    early.add(result.early);
    own.add(result.own);
  }
  f.throughput_mbit_per_s = bytes * 8 / 1e6 / seconds / receivers;
  f.messages_per_s = delivered / seconds / receivers;
  f.due_messages_per_s = due / seconds;
  f.sent_percent = 100 * ratio(sent, due);
  f.latency_min_us = least_us(latency);
  f.latency_p50_us = percentile_us(latency, 0.5);
  f.latency_p90_us = percentile_us(latency, 0.9);
  f.latency_p99_us = percentile_us(latency, 0.99);
  f.latency_p999_us = percentile_us(latency, 0.999);
  f.latency_max_us = microseconds(latency.max_ns);
  f.own_min_us = least_us(own);
  f.own_p50_us = percentile_us(own, 0.5);
  f.own_p99_us = percentile_us(own, 0.99);
  f.early_p50_us = percentile_us(early, 0.5);
  f.early_p99_us = percentile_us(early, 0.99);
  f.cpu_s_per_delivered_gb = ratio(cpu, bytes / 1e9);
  f.cores_per_node = cpu / seconds / nodes;
  add_counters(results, run);
  compare_orders(results, run);
  return run;
}

LimitFigures summarise(const std::vector<LimitResult>& results, double seconds) {
  LimitFigures f;
  LimitPhase one, all;
  for (const LimitResult& result : results) {
    one += result.one;
    all += result.all;
  }
  const double packet_bits = 8.0 * results.front().packet_bytes;
  const auto nodes = static_cast<double>(results.size());
  // A packet has one receiver less than there are nodes. If all send, each packet also counts as
  // received by its sender.
  const double one_bits = static_cast<double>(one.packets_received) * packet_bits;
  const double all_bits =
      static_cast<double>(all.packets_received) * packet_bits * nodes / (nodes - 1);
  f.one_mbit_per_s = one_bits / 1e6 / seconds / (nodes - 1);
  f.one_cpu_s_per_delivered_gb = ratio(one.cpu_s, one_bits / 8e9);
  f.one_lost_percent = packets_lost_percent(one);
  f.all_mbit_per_s = all_bits / 1e6 / seconds / nodes;
  f.all_cpu_s_per_delivered_gb = ratio(all.cpu_s, all_bits / 8e9);
  f.all_lost_percent = packets_lost_percent(all);
  const BenchLatency& there_and_back = results.front().round_trip;
  f.round_trip_min_us = least_us(there_and_back);
  f.round_trip_p50_us = percentile_us(there_and_back, 0.5);
  f.round_trip_p99_us = percentile_us(there_and_back, 0.99);
  return f;
}

template <class F>
Spread<F> spread_of(const std::vector<F>& runs) {
  Spread<F> spread;
  for (const auto& field : fields_of(F{})) {
    std::vector<double> values;
    for (const F& run : runs) values.push_back(run.*field.value);
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    spread.min.*field.value = values.front();
    spread.median.*field.value =
        values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    spread.max.*field.value = values.back();
  }
  return spread;
}
template Spread<BenchFigures> spread_of(const std::vector<BenchFigures>&);
template Spread<LimitFigures> spread_of(const std::vector<LimitFigures>&);

}  // namespace peal::cli
