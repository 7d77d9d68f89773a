// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/bench/summary.h"

namespace peal::cli {

/// All measurements of one command: the runs of the protocol and, if requested, the runs without a
/// protocol and the points of a sweep.
struct BenchReport {
  std::vector<BenchRun> runs;
  std::vector<LimitFigures> limits;
  std::vector<SweepPoint> points;

  std::vector<BenchFigures> figures() const;
  /// True if in each run all nodes delivered the same order.
  bool one_order() const;
};

/// Prints one line of a sweep: a requested rate and its results.
void print_point(const SweepPoint& point);
/// Writes the report to standard output: for people, or as one JSON object.
void print_text(const BenchCommand& command, const BenchReport& report);
void print_json(const BenchCommand& command, const BenchReport& report);

}  // namespace peal::cli
