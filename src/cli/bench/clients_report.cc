// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/clients_report.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/text.h"

namespace peal::cli {
namespace {

const char* name_of(wire::SlowPolicy policy) {
  switch (policy) {
    case wire::SlowPolicy::spill: return "spill";
    case wire::SlowPolicy::drop: return "drop";
    case wire::SlowPolicy::evict: return "evict";
    case wire::SlowPolicy::block: return "block";
    case wire::SlowPolicy::normal: break;
  }
  return "normal";
}

std::string whole(double value) {
  const std::string text = grouped(static_cast<std::uint64_t>(std::llround(std::abs(value))));
  return (value <= -0.5 ? "-" : "") + text;
}

void print_json(const BenchClientsCommand& command, const ClientsReport& r) {
  nlohmann::ordered_json out = {{"clients", command.clients},
                                {"groups", command.groups},
                                {"payload_bytes", command.payload_bytes},
                                {"bytes_per_client", r.bytes_per_client},
                                {"connect_p50_us", r.connect_p50_us},
                                {"connect_p99_us", r.connect_p99_us},
                                {"bytes_per_group", r.bytes_per_group},
                                {"join_p50_us", r.join_p50_us},
                                {"join_p99_us", r.join_p99_us},
                                {"silent_connections", r.silent},
                                {"alone_p50_us", r.alone_p50_us},
                                {"alone_max_us", r.alone_max_us},
                                {"beside_silent_p50_us", r.beside_silent_p50_us},
                                {"beside_silent_max_us", r.beside_silent_max_us}};
  for (const StoppedReport& stopped : r.stopped) {
    out["one_of_100_stopped"].push_back({{"policy", name_of(stopped.policy)},
                                         {"all_read_messages_per_s", stopped.all_read_per_s},
                                         {"one_stopped_messages_per_s", stopped.one_stopped_per_s},
                                         {"slow_was_told", stopped.slow_was_told}});
  }
  std::printf("%s\n", out.dump(2).c_str());
}

}  // namespace

void print(const BenchClientsCommand& command, const ClientsReport& r) {
  if (command.json) return print_json(command, r);
  std::printf("one daemon, %s, %s, on the loopback interface\n",
              counted(command.clients, "client").c_str(), counted(command.groups, "group").c_str());
  std::printf("%-12s%14s bytes of the daemon's memory\n", "client",
              whole(r.bytes_per_client).c_str());
  std::printf("%-12s%14s us p50, from connect to welcome\n", "", whole(r.connect_p50_us).c_str());
  std::printf("%-12s%14s us p99\n", "", whole(r.connect_p99_us).c_str());
  std::printf("%-12s%14s bytes of the daemon's memory, with one member\n", "group",
              whole(r.bytes_per_group).c_str());
  std::printf("%-12s%14s us p50, to join it\n", "", whole(r.join_p50_us).c_str());
  std::printf("%-12s%14s us p99\n", "", whole(r.join_p99_us).c_str());
  std::printf("%-12s%14s us p50, from connect to a client's own first message\n", "alone",
              whole(r.alone_p50_us).c_str());
  std::printf("%-12s%14s us max\n", "", whole(r.alone_max_us).c_str());
  std::printf("%-12s%14s us p50, beside %s silent connections\n", "silent",
              whole(r.beside_silent_p50_us).c_str(), grouped(r.silent).c_str());
  std::printf("%-12s%14s us max\n", "", whole(r.beside_silent_max_us).c_str());
  for (const StoppedReport& stopped : r.stopped) {
    const double percent =
        stopped.all_read_per_s > 0 ? 100 * stopped.one_stopped_per_s / stopped.all_read_per_s : 0;
    std::printf("%-12s%14s messages per second at each of 100 clients that read\n",
                name_of(stopped.policy), whole(stopped.all_read_per_s).c_str());
    std::printf("%-12s%14s when one of them stopped: %.1f %%; it was told: %s\n", "",
                whole(stopped.one_stopped_per_s).c_str(), percent,
                stopped.slow_was_told.empty() ? "nothing" : stopped.slow_was_told.c_str());
  }
}

}  // namespace peal::cli
