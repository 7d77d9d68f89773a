// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"

namespace peal::cli {
namespace {

struct Run {
  int operator()(const UpCommand& command) const { return run_up(command); }
  int operator()(const NodeCommand& command) const { return run_node(command); }
  int operator()(const SendCommand& command) const { return run_send(command); }
  int operator()(const RecvCommand& command) const { return run_recv(command); }
  int operator()(const StatusCommand& command) const { return run_status(command); }
  int operator()(const ReloadCommand& command) const { return run_reload(command); }
  int operator()(const CheckCommand& command) const { return run_check(command); }
  int operator()(const SimCommand& command) const { return run_sim(command); }
  int operator()(const BenchCommand& command) const { return run_bench(command); }
  int operator()(const BenchClientsCommand& command) const { return run_bench_clients(command); }
  int operator()(const BenchFailoverCommand& command) const { return run_bench_failover(command); }
  int operator()(const KeygenCommand& command) const { return run_keygen(command); }
  int operator()(const VersionCommand&) const { return run_version(); }
};

int run_arguments(const std::vector<std::string>& arguments) {
  const auto command = parse_arguments(arguments);
  if (command) return std::visit(Run{}, *command);
  if (command.error().status != 0) return fail(command.error().status, command.error().text);
  std::fputs(command.error().text.c_str(), stdout);
  return 0;
}

bool is_peald(std::string_view program) {
  return program.substr(program.rfind('/') + 1) == "peald";
}

/// The exit status: `status`, or 1 if the output could not be written.
int finish(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return fail(1, std::string("cannot write to standard output: ") + std::strerror(errno));
}

}  // namespace
}  // namespace peal::cli

int main(int argc, char** argv) {
  try {
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    // `peald` means `peal node`: service managers and administrators expect a daemon of this name.
    if (argc > 0 && peal::cli::is_peald(argv[0])) arguments.insert(arguments.begin(), "node");
    return peal::cli::finish(peal::cli::run_arguments(arguments));
  } catch (const std::bad_alloc&) {
    return peal::cli::fail(1,
                           "no memory is left: this process needs more than the machine, or a "
                           "limit such as `ulimit -v`, gives it");
  } catch (const std::exception& error) {
    // Peal's own code throws no exceptions. An exception of a library ends the process with one
    // line.
    return peal::cli::fail(1, error.what());
  }
}
