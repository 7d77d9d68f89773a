// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

#include "base/time.h"

namespace peal::sim {

/// Writes the commands that a run executes. They form another script (RunOptions::plain), in which
/// targeted faults are plain lines at fixed times.
class PlainScript {
 public:
  /// If `file` is null, nothing is written.
  explicit PlainScript(std::FILE* file) : file_(file) {}

  /// The cluster has been built: the script begins at the time `now`.
  void built(Instant now) { written_ = now; }
  /// A command is executed at `now`; an empty command only lets time pass.
  void command(const std::string& text, Instant now);

 private:
  std::FILE* file_;
  Instant written_{};  ///< end time of the script so far
};

}  // namespace peal::sim
