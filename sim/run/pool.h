// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "sim/run/run_result.h"

// Worker processes. A failed assertion ends only one worker, not the run. The parent knows which
// script that worker was running.

namespace peal::sim {

struct PoolOptions {
  std::uint64_t first = 1, last = 1;  ///< indexes, both included
  std::uint32_t jobs = 2;
  bool stop_at_failure = false;
  double hang_seconds = 120;  ///< processor time; a script that takes longer ends its worker
};

/// Calls `work` for every index in worker processes, and `done` in this process for every result,
/// in any order. With stop_at_failure, indexes above the lowest failing index may be skipped.
void run_pool(const PoolOptions& options, const std::function<RunResult(std::uint64_t)>& work,
              const std::function<void(const RunResult&)>& done);

}  // namespace peal::sim
