// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/bench/summary.h"

namespace peal::cli {

/// The path of the table for the picture `png`, FILE.png: FILE.csv in the same folder.
std::string csv_path(const std::string& png);
/// The points as a table: a line of names with units, and one line for each point.
std::string csv_of(const std::vector<SweepPoint>& points);
/// The gnuplot script that draws the table: latency against throughput.
std::string plot_script(const BenchCommand& command, const std::string& csv,
                        const std::string& png);
/// Writes the table and draws the picture. The error is one line.
Result<void, std::string> write_plot(const BenchCommand& command, const std::string& dir,
                                     const std::vector<SweepPoint>& points);

}  // namespace peal::cli
