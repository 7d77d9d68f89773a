// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "oracle/checker.h"

namespace peal::oracle {

struct FilesReport {
  Report order;
  Report unit;  ///< without events unless the files have lines of that layer
  std::uint64_t lines = 0;
  std::uint64_t cut_lines = 0;  ///< last lines that were cut off in the middle
  bool ok() const { return order.ok() && unit.ok(); }
};

/// Checks trace files together, each the events of one or more processes, in order. A process
/// without a `leave` line counts as crashed where its lines end; the last line of a file may be cut
/// off. `options.layer` and `options.names` are not used. `options.quorum` is what the files say
/// themselves, where they begin with a start; traces of different engines together are an error, or
/// of an engine that this program does not have.
/// A process has all its events in one file: a file that is given twice, or a copy of it, is an
/// error. The error names the file and the line, e.g. "a.trace:17: key 'seq' is missing".
Result<FilesReport, std::string> check_files(std::span<const std::string> paths,
                                             const Options& options);

/// The options for traces of real processes: no common clock, and ends that may be missing.
Options file_options();

}  // namespace peal::oracle
