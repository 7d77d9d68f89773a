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
  Report unit;  ///< has no messages if the files have no lines of layer unit
  std::uint64_t lines = 0;
  std::uint64_t cut_lines = 0;  ///< number of files whose last line is incomplete
  bool ok() const { return order.ok() && unit.ok(); }
};

/// Checks trace files together. Each file has the events of one or more processes, in order. All
/// events of a process are in one file. A process without a `leave` line counts as crashed at its
/// last line; the last line of a file may be incomplete. `options.layer`, `names` and `domains` are
/// ignored. The engine in the start events decides `quorum`, `companies` and `genuine`; those of
/// `options` are used only if no file begins with a start event. Errors: a file or a line that
/// cannot be read, missing lines, traces of different engines or of an unknown engine, a node with
/// different domains in its start events, and the same trace twice. An error about a line names the
/// file and the line, e.g. "a.trace:17: key 'seq' is missing".
Result<FilesReport, std::string> check_files(std::span<const std::string> paths,
                                             const Options& options);

/// The options for traces of real processes: no common clock, and last events may be missing.
Options file_options();

}  // namespace peal::oracle
