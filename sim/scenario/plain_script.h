// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

#include "base/time.h"

namespace peal::sim {

/// Writes the commands that a run executes, as another script (RunOptions::plain). In the other
/// script, targeted faults are plain lines at fixed times.
class PlainScript {
 public:
  /// If `file` is null, nothing is written.
  explicit PlainScript(std::FILE* file) : file_(file) {}

  /// Call when all nodes have started. The script's `cluster` line itself lasts until `now`, so no
  /// `run` line is written for this time.
  void built(Instant now) { written_ = now; }
  /// Writes a command that is executed at `now`. An empty command only lets time pass.
  void command(const std::string& text, Instant now);

 private:
  std::FILE* file_;
  Instant written_{};  ///< end time of the script so far
};

}  // namespace peal::sim
