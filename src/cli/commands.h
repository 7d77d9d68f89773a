// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cli/arguments.h"

// The commands. Each command returns the exit status of the process: 0 success, 1 failure, 2 wrong
// arguments, a wrong configuration or a wrong file.

namespace peal::cli {

int run_up(const UpCommand& command);
int run_node(const NodeCommand& command);
int run_send(const SendCommand& command);
int run_recv(const RecvCommand& command);
int run_status(const StatusCommand& command);
int run_reload(const ReloadCommand& command);
int run_check(const CheckCommand& command);
int run_sim(const SimCommand& command);
int run_bench(const BenchCommand& command);
int run_bench_clients(const BenchClientsCommand& command);
int run_bench_failover(const BenchFailoverCommand& command);
int run_keygen(const KeygenCommand& command);
int run_version();

/// Writes "peal: " and one line to standard error; returns `status`.
int fail(int status, std::string_view line);
/// The path of this program's file, to start more processes of the program.
std::string own_program();

}  // namespace peal::cli
