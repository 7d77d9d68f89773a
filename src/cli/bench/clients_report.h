// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "wire/client.h"

namespace peal::cli {

/// How a client that stopped reading affects the others under one policy.
struct StoppedReport {
  wire::SlowPolicy policy{};
  double all_read_per_s = 0;  ///< messages per second at one receiver, while all receivers read
  /// Messages per second at one receiver that reads, while another receiver does not read.
  double one_stopped_per_s = 0;
  std::string slow_was_told;  ///< why the stopped client's session ended; empty: it did not end
};

/// The cost of clients and groups at one daemon.
struct ClientsReport {
  double bytes_per_client = 0;
  double connect_p50_us = 0, connect_p99_us = 0;  ///< from connecting to the welcome
  double bytes_per_group = 0;                     ///< each group has one member
  double join_p50_us = 0, join_p99_us = 0;        ///< from a join to its reply; one join at a time
  std::uint64_t silent = 0;                       ///< number of connections that send nothing
  /// How long it takes a client to connect, to join a group and to receive its own message: first
  /// without the silent connections, then beside them.
  double alone_p50_us = 0, alone_max_us = 0;
  double beside_silent_p50_us = 0, beside_silent_max_us = 0;
  std::vector<StoppedReport> stopped;
};

void print(const BenchClientsCommand& command, const ClientsReport& report);

}  // namespace peal::cli
