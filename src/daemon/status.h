// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "daemon/drops.h"
#include "daemon/history.h"
#include "node/node.h"
#include "runtime/snapshot.h"
#include "session/sessions.h"

namespace peal::daemon {

class Daemon;

/// The state of a daemon at one moment. status_json() converts the state to JSON.
struct Status {
  std::string node;
  std::string cluster;
  std::int64_t pid = 0;
  Duration uptime{};
  runtime::Snapshot member;  ///< includes the counters of clients and of the log
  DeliveryHistory delivered;
  std::map<std::string, Duration> dropped_ago;  ///< time since each counter of drops grew last
  session::Status clients;
  std::uint64_t accepted = 0;     ///< connections that were accepted
  std::uint64_t turned_away = 0;  ///< connections that were refused
};

/// Records the history that a status contains: deliveries, and when counters grew last. Thread: the
/// loop's.
class StatusRecorder {
 public:
  StatusRecorder(std::string node, std::string cluster, Instant started)
      : node_(std::move(node)), cluster_(std::move(cluster)), started_(started) {}

  /// Like the functions of Owner with these names.
  void on_view(Instant now, const ViewNotice& view) { delivered_.on_view(now, view); }
  void on_message(std::string_view sender, const node::Message& message);
  const DeliveryHistory& delivered() const { return delivered_; }

  /// Notes which counters of drops have grown. `log_lines_dropped` is the log's own counter.
  void look(Instant now, const Daemon& daemon, std::uint64_t log_lines_dropped);
  /// Returns the status, with only those clients whose names begin with `prefix`.
  Status status(Instant now, const Daemon& daemon, std::uint64_t log_lines_dropped,
                std::string_view prefix);

 private:
  std::string node_;
  std::string cluster_;
  Instant started_;
  DeliveryHistory delivered_;
  DropTimes drops_;
};

}  // namespace peal::daemon
