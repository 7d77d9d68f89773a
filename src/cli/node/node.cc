// SPDX-License-Identifier: Apache-2.0
// `peal node`: one node and its clients.
#include <cstdio>

#include "cli/commands.h"
#include "config/file/print.h"
#include "daemon/process.h"
#include "peal/version.h"

namespace peal::cli {

int run_node(const NodeCommand& command) {
  if (command.print_config) {
    std::fputs(config::annotated_file().c_str(), stdout);
    return 0;
  }
  const daemon::Ended ended = daemon::run_process(
      {command.config, command.name, command.trace, command.json, PEAL_VERSION_TEXT});
  return ended.problem.empty() ? ended.status : fail(ended.status, "node: " + ended.problem);
}

}  // namespace peal::cli
