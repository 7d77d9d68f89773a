// SPDX-License-Identifier: Apache-2.0
#include "sim/netmodel/report.h"

#include <cinttypes>
#include <cstdio>
#include <functional>
#include <utility>

#include "sim/netmodel/setup.h"
#include "sim/scenario/tokenizer.h"

namespace peal::sim {
namespace {

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string window_text(const std::optional<std::int64_t>& window) {
  return window ? std::to_string(*window) : "auto";
}

bool has_windows(const NetRunOptions& options) {
  return &options.engine.engine() == &order::default_engine();
}

std::string_view service_name(Service service) {
  switch (service) {
    case Service::fifo: return "fifo";
    case Service::causal: return "causal";
    case Service::agreed: return "agreed";
    case Service::safe: return "safe";
  }
  return "";
}

std::string protocol_name(const NetRunOptions& options) {
  if (!has_windows(options)) return "none";
  return engine_of(options).number("accelerated_window") == 0 ? "original" : "accelerated";
}

std::string windows_text(const NetRunOptions& options) {
  const EngineOptions engine = engine_of(options);
  const std::int64_t window = engine.number("accelerated_window");
  const bool tuned = window == engine.find("accelerated_window")->automatic;
  const std::int64_t own = engine.number("personal_window");
  const std::optional<std::int64_t> personal = own != 0 ? std::optional(own) : std::nullopt;
  const std::optional<std::int64_t> after = tuned ? std::nullopt : std::optional(window);
  return ", " + protocol_name(options) + " " + std::string(engine.engine().name) + ", windows " +
         window_text(personal) + "/" + window_text(after);
}

std::string genuine_text(const NetRunOptions& options) {
  const auto number = [](std::uint32_t value) { return std::to_string(value); };
  std::string text = ", " + std::string(options.engine.engine().name);
  if (options.domains > 0) {
    text += ", " + number(options.domains) + (options.domains == 1 ? " domain" : " domains");
  }
  if (options.outside > 0) text += ", " + number(options.outside) + " senders outside";
  if (options.under_way > 0) text += ", " + number(options.under_way) + " under way each";
  return text + (options.to_all ? ", to all domains" : "");
}

std::string quorum_text(const NetRunOptions& options) {
  if (options.engine.is_genuine()) return genuine_text(options);
  const std::string count = std::to_string(options.acceptors);
  const EngineOptions& engine = options.engine;
  std::string text = ", " + std::string(engine.engine().name) + ", " + count +
                     (options.acceptors == 1 ? " acceptor" : " acceptors");
  if (engine.ensembles() > 1) text += ", " + std::to_string(engine.ensembles()) + " ensembles";
  if (engine.differs("merge")) text += " in " + std::string(engine.word("merge"));
  if (engine.differs("dissemination"))
    text += ", in a " + std::string(engine.word("dissemination"));
  if (options.domains > 0) text += ", " + std::to_string(options.domains) + " domains";
  if (engine.is_optimistic()) text += ", optimistic";
  if (options.disk.ns == 0) return text + " in memory";
  const double disk_us = static_cast<double>(options.disk.ns) / 1e3;
  return text + ", " + formatted("%g", disk_us) + " us a sync";
}

using Visit = std::function<void(const char*, const std::string&, bool)>;

/// As each_field(), for the results of engines that decide by votes, and for their options.
void each_decision_field(const NetRunOptions& options, const NetFigures& f, const Visit& visit) {
  const EngineOptions& engine = options.engine;
  const bool has_rules = engine.find("delivery") != nullptr;
  visit("arrivals", std::string(arrivals_name(options.arrivals)), true);
  visit("rate", formatted("%g", options.rate), false);
  visit("delivery", has_rules ? std::string(engine.word("delivery")) : "none", true);
  visit("acknowledges", acknowledges(options) ? "1" : "0", false);
  visit("slow_node_ms", formatted("%g", static_cast<double>(options.slow_node.ns) / 1e6), false);
  visit("index", formatted("%.3f", f.index), false);
  visit("concurrent", formatted("%.3f", f.concurrent), false);
  visit("wait_us", formatted("%.1f", f.wait_us), false);
  visit("expected_wait_us", formatted("%.1f", f.expected_us), false);
  for (std::size_t i = 0; i < f.index_shares.size(); ++i) {
    const std::string name = "index_share_" + std::to_string(i);
    visit(name.c_str(), formatted("%.4f", f.index_shares[i]), false);
  }
  visit("order_steps", formatted("%.1f", f.work.mean), false);
  visit("order_steps_bound", formatted("%.1f", f.work.bound), false);
  visit("order_steps_by_bound_most", formatted("%.2f", f.work.most), false);
}

/// Calls `visit` for each option and then for each result. Passes the name, the value, and whether
/// the value is a string.
void each_field(const NetRunOptions& options, const NetFigures& f, const Visit& visit) {
  const EngineOptions engine = engine_of(options);
  const std::int64_t after = engine.number("accelerated_window");
  const bool itself = after == engine.find("accelerated_window")->automatic;
  // Without a delivered message there is no latency.
  const auto latency = [&f](double us) { return f.max_us > 0 ? formatted("%.1f", us) : "null"; };
  visit("net", std::string(options.net->name), true);
  visit("cpu", std::string(options.cpu->name), true);
  visit("nodes", std::to_string(options.nodes), false);
  visit("senders", std::to_string(senders_of(options)), false);
  visit("payload_bytes", std::to_string(options.payload_bytes), false);
  visit("service", std::string(service_name(options.service)), true);
  visit("order", std::string(engine.engine().name), true);
  visit("acceptors", engine.has_acceptors() ? std::to_string(options.acceptors) : "0", false);
  visit("ensembles", engine.has_quorum() ? std::to_string(engine.ensembles()) : "0", false);
  visit("disk_us", formatted("%g", static_cast<double>(options.disk.ns) / 1e3), false);
  visit("multicast", options.multicast ? "1" : "0", false);
  visit(std::string(order::default_engine().name).c_str(), protocol_name(options), true);
  visit("personal_window", std::to_string(engine.number("personal_window")), false);
  visit("accelerated_window", itself ? "-1" : std::to_string(after), false);
  visit("datagram_bytes", std::to_string(engine.packet_bytes_max()), false);
  visit("loss", formatted("%g", options.loss), false);
  visit("seed", std::to_string(options.seed), false);
  visit("offered_mbps", formatted("%.1f", f.offered_mbps), false);
  visit("mbps", formatted("%.1f", f.mbps), false);
  visit("messages_per_second", formatted("%.0f", f.messages_per_second), false);
  visit("mean_us", latency(f.mean_us), false);
  visit("p50_us", latency(f.p50_us), false);
  visit("p99_us", latency(f.p99_us), false);
  visit("max_us", latency(f.max_us), false);
  visit("worst_5_percent_us", latency(f.worst_us), false);
  visit("rotation_us", formatted("%.1f", f.rotation_us), false);
  visit("least_sender_percent", formatted("%.1f", f.least_sender * 100), false);
  visit("retransmitted_percent", formatted("%.2f", f.retransmitted * 100), false);
  visit("cpu_percent", formatted("%.1f", f.busiest_cpu * 100), false);
  visit("port_percent", formatted("%.1f", f.busiest_port * 100), false);
  visit("card_percent", formatted("%.1f", f.busiest_card * 100), false);
  visit("port_full_frames", std::to_string(f.dropped_frames), false);
  visit("socket_full_packets", std::to_string(f.dropped_packets), false);
  visit("port_queue_bytes", std::to_string(f.port_queue_bytes), false);
  visit("global_window", std::to_string(f.global_window), false);
  visit("accelerated_percent", std::to_string(f.accelerated_percent), false);
  visit("messages_compared", std::to_string(f.messages_compared), false);
  visit("views", std::to_string(f.views), false);
  visit("optimistic", engine.is_optimistic() ? "1" : "0", false);
  visit("early_p50_us", formatted("%.1f", f.early.p50_us), false);
  visit("early_p99_us", formatted("%.1f", f.early.p99_us), false);
  visit("mistaken_percent", formatted("%.3f", f.guesses.mistaken * 100), false);
  visit("inverted_percent", formatted("%.3f", f.guesses.inverted * 100), false);
  visit("domains", std::to_string(options.domains), false);
  visit("total_mbps", formatted("%.1f", f.total_mbps), false);
  const bool has_ways = engine.find("dissemination") != nullptr;
  visit("dissemination", has_ways ? std::string(engine.word("dissemination")) : "none", true);
  visit("merge", engine.ensembles() > 1 ? std::string(engine.word("merge")) : "none", true);
  visit("outside", std::to_string(options.outside), false);
  visit("under_way", std::to_string(options.under_way), false);
  visit("to_all", options.to_all ? "1" : "0", false);
  visit("total_messages_per_second", formatted("%.0f", f.total_messages_per_second), false);
  visit("reply_p50_us", formatted("%.2f", f.reply.p50_us), false);
  visit("reply_p95_us", formatted("%.2f", f.reply.p95_us), false);
  visit("writes", formatted("%.2f", f.writes), false);
  visit("keeps_up", f.keeps_up() ? "1" : "0", false);
  each_decision_field(options, f, visit);
}

}  // namespace

std::string net_title(const NetRunOptions& options) {
  std::string text = std::to_string(options.nodes) + " nodes, " + std::string(options.net->name) +
                     ", processor " + std::string(options.cpu->name) + ", " +
                     std::to_string(options.payload_bytes) + " bytes, " +
                     std::string(service_name(options.service));
  if (options.loss > 0) text += ", loss " + formatted("%g", options.loss * 100) + " %";
  if (options.senders != 0) text += ", " + std::to_string(options.senders) + " sending";
  if (!options.multicast) text += ", no multicast";
  if (options.arrivals != Arrivals::even) {
    text += ", " + std::string(arrivals_name(options.arrivals));
  }
  if (options.slow_node.ns > 0) text += ", one node " + duration_text(options.slow_node) + " away";
  if (options.engine.has_quorum()) return text + quorum_text(options);
  if (has_windows(options)) return text + windows_text(options);
  text += ", " + std::string(options.engine.engine().name) + options.engine.choices();
  return acknowledges(options) ? text : text + ", no acknowledgements";
}

std::string net_header() {
  return "  offered       got  messages   mean    p50    p99  worst 5%  rotation  again   cpu  port"
         "    full\n"
         "     Mb/s      Mb/s       1/s     us     us     us        us        us      %     %     %"
         "  frames\n";
}

std::string net_row(const NetFigures& f) {
  char text[256];
  const std::string offered = f.offered_mbps > 0 ? formatted("%.0f", f.offered_mbps) : "max";
  std::snprintf(text, sizeof text,
                "%9s %9.1f %9.0f %6.0f %6.0f %6.0f %9.0f %9.1f %6.2f %5.1f %5.1f %7" PRIu64 "%s\n",
                offered.c_str(), f.mbps, f.messages_per_second, f.mean_us, f.p50_us, f.p99_us,
                f.worst_us, f.rotation_us, f.retransmitted * 100, f.busiest_cpu * 100,
                f.busiest_port * 100, f.dropped_frames,
                !f.keeps_up()   ? "  falls behind"
                : f.max_us == 0 ? "  no latency: measure for longer"
                                : "");
  std::string row = text;
  if (f.total_mbps > f.mbps) {
    row += "    all domains together: " + formatted("%.1f", f.total_mbps) + " Mb/s\n";
  }
  if (f.writes > 0 || f.total_messages_per_second > f.messages_per_second) {
    std::snprintf(text, sizeof text,
                  "    %.0f messages/s in all domains; %.1f writes a message; the sender knows the "
                  "place after %.1f us (median), %.1f us (95th percentile)\n",
                  f.total_messages_per_second, f.writes, f.reply.p50_us, f.reply.p95_us);
    row += text;
  }
  if (f.early.p50_us > 0) {
    std::snprintf(text, sizeof text,
                  "    told early: median %.0f us, 99th percentile %.0f us; at another place than "
                  "told %.2f %%, two the other way round %.2f %%\n",
                  f.early.p50_us, f.early.p99_us, f.guesses.mistaken * 100,
                  f.guesses.inverted * 100);
    row += text;
  }
  if (f.index > 0 && f.expected_us > 0) {
    std::snprintf(text, sizeof text,
                  "    decided %.2f ms after they came, %.2f by the formula; %.2f members had "
                  "voted; %.2f had concurrent messages\n",
                  f.wait_us / 1e3, f.expected_us / 1e3, f.index, f.concurrent);
    row += text;
  }
  return row;
}

std::string wait_header() {
  return "  messages  decides     waits   formula  differs  speed-up  index  concurrent  majority"
         "    +1     +2  above\n"
         "       1/s                 ms        ms        %                                    %"
         "     %      %      %\n";
}

std::string wait_row(const NetRunOptions& options, const NetFigures& f, double speed_up) {
  char text[256];
  const double differs = f.wait_us > 0 ? (f.expected_us / f.wait_us - 1) * 100 : 0;
  const auto& share = f.index_shares;
  std::snprintf(text, sizeof text,
                "%10.0f  %-8s %8.2f  %8.2f %8.1f  %8s %6.2f %11.2f %9.1f %5.1f %6.1f %6.1f\n",
                options.rate, std::string(options.engine.word("delivery")).c_str(), f.wait_us / 1e3,
                f.expected_us / 1e3, differs,
                speed_up > 0 ? formatted("%.2f", speed_up).c_str() : "", f.index, f.concurrent,
                share[0] * 100, share[1] * 100, share[2] * 100, share[3] * 100);
  return text;
}

std::string net_json(const NetRunOptions& options, const NetFigures& figures) {
  std::string out;
  each_field(options, figures, [&out](const char* name, const std::string& value, bool word) {
    out += std::string(out.empty() ? "{" : ",") + "\"" + name + "\":";
    out += word ? "\"" + value + "\"" : value;
  });
  char digest[32];
  std::snprintf(digest, sizeof digest, "%016" PRIx64, figures.digest);
  out += std::string(",\"one_order\":") + (figures.violation.empty() ? "true" : "false");
  return out + ",\"digest\":\"" + digest + "\"}";
}

std::string net_csv_header() {
  NetRunOptions any;
  any.net = net_kinds().data();
  any.cpu = cpu_kinds().data();
  std::string out;
  each_field(any, {}, [&out](const char* name, const std::string&, bool) {
    out += (out.empty() ? "" : ",") + std::string(name);
  });
  return out + "\n";
}

std::string net_csv(const NetRunOptions& options, const NetFigures& figures) {
  std::string out;
  each_field(options, figures, [&out](const char*, const std::string& value, bool) {
    out += (out.empty() ? "" : ",") + value;
  });
  return out + "\n";
}

}  // namespace peal::sim
