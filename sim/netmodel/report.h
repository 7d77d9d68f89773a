// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/netmodel/run.h"

namespace peal::sim {

// Formats one experiment and its result, for people and for programs.

/// A description of the experiment in one line.
std::string net_title(const NetRunOptions& options);
/// Column titles of net_row.
std::string net_header();
std::string net_row(const NetFigures& figures);
/// Column titles of wait_row.
std::string wait_header();
/// How long messages wait for their decision, with an engine that decides by votes. `speed_up`: see
/// docs/papers.md; 0 leaves it out.
std::string wait_row(const NetRunOptions& options, const NetFigures& figures, double speed_up);
/// One JSON object, without a newline.
std::string net_json(const NetRunOptions& options, const NetFigures& figures);
std::string net_csv_header();
std::string net_csv(const NetRunOptions& options, const NetFigures& figures);

}  // namespace peal::sim
