// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace peal::daemon {

/// What a process that is a daemon runs by.
struct ProcessOptions {
  std::string config;   ///< path of the configuration file
  std::string name;     ///< of the node; empty: as in the file
  std::string trace;    ///< where the trace goes; empty: as in the file
  bool json = false;    ///< the log is JSON lines
  std::string version;  ///< of the program, for the log
};

/// How a daemon ended.
struct Ended {
  int status = 0;  ///< exit status: 0 on request, 1 it had to stop, 2 the configuration is wrong
  std::string problem;  ///< why it could not run, one line; empty: the log has said all
};

/// Makes this process a daemon: its log on standard error, SIGINT and SIGTERM to stop, SIGHUP to
/// reload, and its state told to the service manager, watchdog included. Returns when the daemon
/// has ended. Call it before any thread is started.
Ended run_process(const ProcessOptions& options);

}  // namespace peal::daemon
