// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"
#include "cli/node/state.h"
#include "runtime/snapshot.h"
#include "session/sessions.h"

namespace peal::cli {

/// All data of a node's status.
struct StatusFacts {
  std::string node;
  std::string cluster;
  Duration uptime{};
  runtime::Snapshot member;                     ///< its counters with those of clients
  std::map<std::string, Duration> dropped_ago;  ///< since the counters of drops grew last
  session::Status clients;
  std::uint64_t accepted = 0;     ///< connections
  std::uint64_t turned_away = 0;  ///< connections that were refused
};

/// The answer to the query `status`: JSON.
std::string status_json(const NodeState& state, const StatusFacts& facts);

}  // namespace peal::cli
