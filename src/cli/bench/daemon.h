// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/node/process.h"

namespace peal::cli {

/// The daemon of one node of a benchmark, as a process of its own. The destructor stops the
/// process.
class BenchDaemon {
 public:
  /// Starts node `name` of DIR/peal.toml. The error is one line.
  static Result<BenchDaemon, std::string> start(const std::string& dir, const std::string& name);
  BenchDaemon(BenchDaemon&&) = default;
  BenchDaemon& operator=(BenchDaemon&&) = default;
  ~BenchDaemon() { stop(); }

  const std::string& socket() const { return socket_; }
  /// Why the daemon ended, in words; nothing while it runs.
  std::optional<std::string> ended();
  /// CPU time used so far.
  double cpu_seconds() const;
  /// Resident memory of the daemon.
  std::uint64_t resident_bytes() const;
  void stop();

 private:
  BenchDaemon(Child child, const std::string& dir, const std::string& name);
  std::vector<Child> child_;  ///< exactly one
  std::string socket_;
  std::string log_;
};

}  // namespace peal::cli
