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
  Report unit;  ///< has no events if the files have no lines of that layer
  std::uint64_t lines = 0;
  std::uint64_t cut_lines = 0;  ///< last lines that are incomplete
  bool ok() const { return order.ok() && unit.ok(); }
};

/// Checks trace files together. Each has the events of one or more processes, in order; a process
/// has all its events in one file. A process without a `leave` line counts as crashed at its last
/// line; the last line of a file may be incomplete. `options.layer`, `names` and `domains` are
/// ignored. The engine that the files name at their beginning decides `quorum`; `options.quorum` is
/// used only if the files name no engine. Errors: traces of different engines or of an unknown
/// engine, and the same trace twice. The error names the file and the line, e.g.
/// "a.trace:17: key 'seq' is missing".
Result<FilesReport, std::string> check_files(std::span<const std::string> paths,
                                             const Options& options);

/// The options for traces of real processes: no common clock, and last events may be missing.
Options file_options();

}  // namespace peal::oracle
