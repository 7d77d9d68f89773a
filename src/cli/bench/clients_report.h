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
  double all_read_per_s = 0;     ///< messages at each receiver
  double one_stopped_per_s = 0;  ///< at each receiver but the one that stopped
  std::string slow_was_told;     ///< why its session ended; empty: it did not
};

/// The cost of clients and groups at one daemon.
struct ClientsReport {
  double bytes_per_client = 0;
  double connect_p50_us = 0, connect_p99_us = 0;  ///< to the welcome
  double bytes_per_group = 0;                     ///< with one member, the last to join
  double join_p50_us = 0, join_p99_us = 0;        ///< to the reply, one after the other
  std::uint64_t silent = 0;                       ///< connections that send nothing
  /// One client that connects, joins and gets its own message back.
  double alone_p50_us = 0, alone_max_us = 0;
  double beside_silent_p50_us = 0, beside_silent_max_us = 0;
  std::vector<StoppedReport> stopped;
};

void print(const BenchClientsCommand& command, const ClientsReport& report);

}  // namespace peal::cli
