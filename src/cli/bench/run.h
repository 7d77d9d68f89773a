// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/bench/network.h"
#include "cli/bench/plan.h"
#include "cli/node/cluster.h"
#include "cli/node/process.h"
#include "io/stop_signals.h"

namespace peal::cli {

/// Why a benchmark has no figures: one line, and the exit status.
struct BenchFailure {
  int status = 1;
  std::string line;
};

/// Where a benchmark runs: a folder, the network, and the nodes' configuration. The destructor
/// removes the folder.
class BenchPlace {
 public:
  static Result<std::unique_ptr<BenchPlace>, BenchFailure> make(const BenchCommand& command);
  ~BenchPlace();
  BenchPlace(const BenchPlace&) = delete;
  BenchPlace& operator=(const BenchPlace&) = delete;

  const std::string& dir() const { return dir_; }
  const std::vector<std::string>& names() const { return cluster_.names; }

  /// Runs one process for each node, as planned, until all have succeeded or one has failed.
  Result<void, BenchFailure> run(const BenchPlan& plan);

  /// Starts the daemon of a node, counted from 0, in the node's network. An acceptor continues with
  /// its existing log.
  Result<Child, std::string> start_daemon(std::size_t node) const;
  std::string socket_of(std::size_t node) const { return dir_ + "/" + names()[node] + ".sock"; }
  std::string log_of(std::size_t node) const { return dir_ + "/" + names()[node] + ".log"; }
  /// True if a signal to stop this process came.
  bool interrupted() const { return signals_.take() != 0; }

 private:
  BenchPlace() = default;
  Result<void, BenchFailure> set_table(std::string_view table, const std::string& settings);
  Result<void, BenchFailure> start(std::vector<Child>& children);
  Result<void, BenchFailure> wait_for(std::vector<Child>& children);

  std::string dir_;
  std::optional<BenchNetwork> network_;  ///< none on the loopback interface
  LocalCluster cluster_;
  io::StopSignals signals_;
};

/// One run of the protocol: the result of each node, in the order of BenchPlace::names(). Message
/// loss or a wrong order at one node is an error; summarise() compares the orders of the nodes.
Result<std::vector<BenchResult>, BenchFailure> run_cluster(BenchPlace& place,
                                                           const BenchCommand& command,
                                                           double messages_per_s);
/// One run without a protocol.
Result<std::vector<LimitResult>, BenchFailure> run_limit(BenchPlace& place,
                                                         const BenchCommand& command);

}  // namespace peal::cli
