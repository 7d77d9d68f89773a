// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace peal::cli {

/// One child process. It is asked to stop if this process ends without stopping it.
class Child {
 public:
  /// Runs `program` with `arguments` (without its name); standard output and standard error go to
  /// the end of the file `output`, standard input is empty. `network` is a descriptor of the
  /// network namespace to run in; -1: the one of this process. The error is one line.
  static Result<Child, std::string> start(const std::string& program,
                                          const std::vector<std::string>& arguments,
                                          const std::string& output, int network = -1);
  pid_t pid() const { return pid_; }
  /// How it ended, in words ("exit status 2", "killed by signal 9"); nothing while it runs.
  const std::optional<std::string>& ended();
  /// Waits until it has ended.
  void wait();
  /// Its exit status; -1 if it runs or was killed.
  int status() const { return status_; }
  /// Sends a signal, unless it has ended.
  void signal(int number);

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  void collect(int options);
  pid_t pid_;
  std::optional<std::string> ended_;
  int status_ = -1;
};

/// Asks all to stop with SIGTERM, waits at most `timeout_ms`, and kills those that are left.
void stop_all(std::vector<Child>& children, int timeout_ms);

/// What came of a program that has ended.
struct Finished {
  int status = -1;     ///< its exit status; -1 if it was killed
  std::string output;  ///< what it wrote, errors included; at most 1 MiB
};
/// The path of a program, from PATH or the folders for administrators; empty if it is not there.
std::string find_program(const std::string& name);
/// Runs a program with `arguments` (without its name) and waits for its end. It inherits the
/// descriptors that are not closed by exec. The error is one line.
Result<Finished, std::string> run_program(const std::string& path,
                                          const std::vector<std::string>& arguments);

/// `count` ports of 127.0.0.1, each free for UDP and TCP, and the one above it too. Nobody keeps
/// them: a port may be in use again when it is opened. Empty if there are not enough.
std::vector<std::uint16_t> free_port_pairs(std::size_t count);

/// The last line that says something of a process's log. If none does, why: mostly because there
/// was no room for it.
std::string last_line(const std::string& path);

}  // namespace peal::cli
