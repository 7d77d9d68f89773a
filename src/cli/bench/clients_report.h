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
  double all_read_per_s = 0;     ///< messages at each receiver, while all read
  double one_stopped_per_s = 0;  ///< messages at each receiver but the one that stopped reading
  std::string slow_was_told;     ///< why the stopped client's session ended; empty: it did not end
};

/// The cost of clients and groups at one daemon.
struct ClientsReport {
  double bytes_per_client = 0;
  double connect_p50_us = 0, connect_p99_us = 0;  ///< from connecting to the welcome
  double bytes_per_group = 0;                     ///< each group has one member
  double join_p50_us = 0, join_p99_us = 0;        ///< from a join to its reply; one join at a time
  std::uint64_t silent = 0;                       ///< number of connections that send nothing
  /// How long it takes a client to connect, to join and to get its own message back: first without
  /// the silent connections, then beside them.
  double alone_p50_us = 0, alone_max_us = 0;
  double beside_silent_p50_us = 0, beside_silent_max_us = 0;
  std::vector<StoppedReport> stopped;
};

void print(const BenchClientsCommand& command, const ClientsReport& report);

}  // namespace peal::cli
