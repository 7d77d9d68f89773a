// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace peal::daemon {

/// The options of a process that is a daemon.
struct ProcessOptions {
  std::string config;   ///< path of the configuration file
  std::string name;     ///< name of the node; empty: as in the file
  std::string trace;    ///< path of the trace; empty: as in the file
  bool json = false;    ///< true: the log has JSON lines
  std::string version;  ///< version of the program, for the log
};

/// How a daemon ended.
struct Ended {
  int status = 0;  ///< exit status: 0 on request, 1 after an error, 2 for a wrong configuration
  std::string problem;  ///< why the daemon could not run, one line; empty: the log has the reason
};

/// Runs a daemon in this process. The daemon logs to standard error, stops at SIGINT and SIGTERM,
/// reloads at SIGHUP, and reports its state to the service manager and its watchdog. Returns when
/// the daemon has ended. Call it before any thread is started.
Ended run_process(const ProcessOptions& options);

}  // namespace peal::daemon
