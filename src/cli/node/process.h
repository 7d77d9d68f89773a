// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace peal::cli {

/// One child process. The kernel sends SIGTERM to the child if this process ends first.
class Child {
 public:
  /// Runs `program` with `arguments` (without the program's name). Standard output and standard
  /// error are appended to the file `output`; standard input is empty. `network` is the descriptor
  /// of a network namespace; -1: the namespace of this process. The error is one line.
  static Result<Child, std::string> start(const std::string& program,
                                          const std::vector<std::string>& arguments,
                                          const std::string& output, int network = -1);
  pid_t pid() const { return pid_; }
  /// How the child ended, in words ("exit status 2", "killed by signal 9"); nothing while it runs.
  const std::optional<std::string>& ended();
  /// Waits until the child has ended.
  void wait();
  /// The child's exit status, as of the last call of ended() or wait(); -1 if the child still ran
  /// then, or was killed.
  int status() const { return status_; }
  /// Sends a signal, unless the child has ended.
  void signal(int number);

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  void collect(int options);
  pid_t pid_;
  std::optional<std::string> ended_;
  int status_ = -1;
};

/// Sends SIGTERM to all children, waits at most `timeout_ms`, and kills the children that still
/// run.
void stop_all(std::vector<Child>& children, int timeout_ms);

/// The result of a program that has ended.
struct Finished {
  int status = -1;     ///< its exit status; -1 if it was killed
  std::string output;  ///< its output, including errors; at most 1 MiB
};
/// The path of a program, from PATH or the folders for administrators; empty if it does not exist.
std::string find_program(const std::string& name);
/// Runs a program with `arguments` (without the program's name) and waits for its end. The program
/// inherits the descriptors that exec does not close. The error is one line.
Result<Finished, std::string> run_program(const std::string& path,
                                          const std::vector<std::string>& arguments);

/// `count` ports of 127.0.0.1. Each of these ports and the next higher port are free for UDP and
/// TCP. The ports are not reserved: another process may open a port first. Returns no ports if
/// fewer than `count` are free.
std::vector<std::uint16_t> free_port_pairs(std::size_t count);

/// The last nonempty line of the log file of a process. If the file has no such line, a text with
/// the reason, such as a full disk.
std::string last_line(const std::string& path);

}  // namespace peal::cli
