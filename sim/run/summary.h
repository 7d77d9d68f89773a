// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/run/run_result.h"

namespace peal::sim {

/// The sums of all results of a run.
struct Summary {
  std::uint64_t seeds = 0;
  std::uint64_t violations = 0;
  Figures figures;
  FaultCounts faults;
  std::map<std::string, std::uint64_t> probes;
  std::vector<RunResult> failures;  ///< sorted by index
  double seconds = 0;

  void add(const RunResult& result);
  /// The summary as one JSON object.
  std::string json() const;
  /// The summary for people.
  std::string text() const;
};

}  // namespace peal::sim
