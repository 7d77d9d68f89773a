// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/failover_report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/engine_options.h"
#include "cli/text.h"

namespace peal::cli {
namespace {

using Json = nlohmann::ordered_json;

bool has_quorum(const BenchFailoverCommand& c) { return c.cluster.order->traits.quorum; }
bool has_domains(const BenchFailoverCommand& c) { return c.cluster.order->traits.genuine; }

/// True if votes are written to disk: with an engine on quorums, unless its votes are in memory.
bool waits_for_disk(const BenchFailoverCommand& c) {
  return c.cluster.order->traits.has_acceptors() && !is_in_memory(c.cluster.options);
}

std::string victim_text(const BenchFailoverCommand& c) {
  if (has_domains(c)) return "the leader";
  return has_quorum(c) ? "the coordinator" : "the representative";
}

std::vector<double> values_of(const FailoverReport& report, double FailoverSurvivor::*value,
                              const std::string& name = {}) {
  std::vector<double> values;
  for (const FailoverKill& kill : report.kills) {
    for (const FailoverSurvivor& each : kill.survivors) {
      if (name.empty() || each.name == name) values.push_back(each.*value);
    }
  }
  return values;
}

std::set<std::string> names_of(const FailoverReport& report) {
  std::set<std::string> names;
  for (const FailoverKill& kill : report.kills) {
    for (const FailoverSurvivor& each : kill.survivors) names.insert(each.name);
  }
  return names;
}

/// The time by which the slowest delivery exceeds the longest sync of the run.
double above_sync_ms(const FailoverReport& report) {
  return failover_spread(values_of(report, &FailoverSurvivor::delivery_ms)).max -
         report.sync_max_ms;
}

Json json_of(const FailoverSpread& spread) {
  return {{"min", spread.min}, {"median", spread.median}, {"max", spread.max}};
}

Json json_of(const FailoverKill& kill) {
  Json out = {{"victim", kill.victim}, {"longest_sync_ms", kill.sync_ms}, {"back_s", kill.back_s}};
  for (const FailoverSurvivor& each : kill.survivors) {
    out["survivors"].push_back({{"node", each.name},
                                {"view_ms", each.view_ms},
                                {"delivery_ms", each.delivery_ms},
                                {"sent_later_ms", each.fresh_ms}});
  }
  return out;
}

void print_json(const BenchFailoverCommand& command, const FailoverReport& report) {
  const BenchCommand& c = command.cluster;
  Json out;
  out["setting"] = {{"nodes", c.nodes},
                    {"order", c.order->name},
                    {"payload_bytes", c.payload_bytes},
                    {"rate_messages_per_s", c.rate.messages_of(c.payload_bytes)},
                    {"network", c.loopback ? "loopback" : "namespaces"},
                    {"dir", c.place}};
  if (has_quorum(command)) {
    out["setting"]["storage"] = waits_for_disk(command) ? "disk" : "memory";
  }
  out["kills"] = report.kills.size();
  out["delivery_ms"] = json_of(failover_spread(values_of(report, &FailoverSurvivor::delivery_ms)));
  out["view_ms"] = json_of(failover_spread(values_of(report, &FailoverSurvivor::view_ms)));
  out["sent_later_ms"] = json_of(failover_spread(values_of(report, &FailoverSurvivor::fresh_ms)));
  for (const std::string& name : names_of(report)) {
    out["delivery_ms_at"][name] =
        json_of(failover_spread(values_of(report, &FailoverSurvivor::delivery_ms, name)));
  }
  out["longest_sync_ms"] = report.sync_max_ms;
  out["syncs"] = report.syncs;
  out["delivery_max_above_sync_ms"] = above_sync_ms(report);
  out["load_1min"] = report.load_1min;
  out["processors"] = report.processors;
  for (const FailoverKill& kill : report.kills) out["each_kill"].push_back(json_of(kill));
  std::printf("%s\n", out.dump(2).c_str());
}

void print_line(const std::string& name, const FailoverSpread& spread, const char* what) {
  std::printf("%-14s%10.0f %10.0f %10.0f  %s\n", name.c_str(), spread.min, spread.median,
              spread.max, what);
}

void print_setting(const BenchFailoverCommand& command) {
  const BenchCommand& c = command.cluster;
  std::string line = counted(c.nodes, "node") + ", ordered by " + std::string(c.order->name);
  if (has_quorum(command)) {
    line += waits_for_disk(command) ? ", votes on the disk of " + c.place : ", votes in memory";
  }
  line += ", " + grouped(static_cast<std::uint64_t>(c.rate.messages_of(c.payload_bytes))) +
          " messages of " + counted(c.payload_bytes, "byte") + " per second";
  line += c.loopback ? "; on the loopback interface" : "; in network namespaces on one bridge";
  std::printf("%s\n%s of %s\n", line.c_str(), counted(command.kills, "kill").c_str(),
              victim_text(command).c_str());
}

}  // namespace

FailoverSpread failover_spread(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {values.front(), median, values.back()};
}

void print(const BenchFailoverCommand& command, const FailoverReport& report) {
  if (command.cluster.json) return print_json(command, report);
  print_setting(command);
  std::printf("%-14s%10s %10s %10s\n", "", "min", "median", "max");
  print_line("delivery", failover_spread(values_of(report, &FailoverSurvivor::delivery_ms)),
             "ms from the kill to the next delivery, at all survivors");
  for (const std::string& name : names_of(report)) {
    print_line("  at " + name,
               failover_spread(values_of(report, &FailoverSurvivor::delivery_ms, name)), "ms");
  }
  print_line("view", failover_spread(values_of(report, &FailoverSurvivor::view_ms)),
             "ms from the kill to the view without that node");
  print_line("sent later", failover_spread(values_of(report, &FailoverSurvivor::fresh_ms)),
             "ms from the kill to the first message sent after it");
  std::printf("%-14s%32.0f  ms, the longest of %s of a 4 KiB file in %s\n", "sync",
              report.sync_max_ms, counted(report.syncs, "sync").c_str(),
              command.cluster.place.c_str());
  if (waits_for_disk(command)) {
    std::printf("%-14s%32.0f  ms, the slowest delivery less the longest sync\n", "",
                above_sync_ms(report));
  }
  std::printf("%-14s%32.1f  processes wanted a processor in the last minute; there are %u\n",
              "load", report.load_1min, report.processors);
}

}  // namespace peal::cli
