// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"
#include "cli/bench/plan.h"
#include "config/file/file.h"

namespace peal::cli {

/// Runs one daemon of a benchmark and, in this process, one client of it that sends and receives.
/// Returns the exit status of this process.
int run_bench_client(const BenchCommand& command, const BenchPlan& plan, const config::File& file);

}  // namespace peal::cli
