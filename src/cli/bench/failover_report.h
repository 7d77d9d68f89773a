// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/arguments.h"

namespace peal::cli {

/// One node's measurements of one kill.
struct FailoverSurvivor {
  std::string name;
  double view_ms = 0;      ///< from the kill to the view without the killed node
  double delivery_ms = 0;  ///< from the kill to the first delivery in the new view
  double fresh_ms = 0;     ///< from the kill to the first delivery of a message sent after the kill
};

struct FailoverKill {
  std::string victim;
  std::vector<FailoverSurvivor> survivors;
  double sync_ms = 0;  ///< the longest sync of 4 KiB in progress at the kill or later
  double back_s = 0;   ///< from the victim's restart until all nodes were in one view
};

struct FailoverReport {
  std::vector<FailoverKill> kills;
  double sync_max_ms = 0;  ///< the longest sync of the whole run
  std::uint64_t syncs = 0;
  double load_1min = 0;  ///< load of the machine at the end of the run
  std::uint32_t processors = 0;
};

/// Minimum, median and maximum.
struct FailoverSpread {
  double min = 0, median = 0, max = 0;
};
/// All fields are 0 if `values` is empty.
FailoverSpread failover_spread(std::vector<double> values);

void print(const BenchFailoverCommand& command, const FailoverReport& report);

}  // namespace peal::cli
