// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cli/local_protocol.h"
#include "cli/local_server.h"

namespace peal::cli {

/// One regular view as this node went through it.
struct ViewHistory {
  ViewRecord view;  ///< its digest counts on until the next regular view
  Instant installed{};
  Duration gap{};  ///< since the view before stopped being in force; 0 for the first
};

/// What one node has delivered, for its status.
class NodeState {
 public:
  static constexpr std::size_t kViewsMax = 64;  ///< kept; older ones are forgotten

  void on_message(const MessageRecord& message);
  void on_view(Instant now, const ViewRecord& view);

  /// The newest regular view; no members before the first.
  const ViewRecord& current() const;
  /// In the transitional view after current().
  bool transitional() const { return transitional_; }
  const std::deque<ViewHistory>& views() const { return views_; }
  std::uint64_t messages() const { return messages_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::deque<ViewHistory> views_;  ///< oldest first
  bool transitional_ = false;
  Instant left_{};  ///< when the transitional view came
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Everything that a status says besides the state.
struct StatusFacts {
  std::string node;
  std::string member;
  std::string cluster;
  Duration uptime{};
  std::string waits_for;  ///< in words; empty: nothing
  std::string multicast;  ///< in words
  std::string seal;       ///< "key 1f0e9a3b" or "insecure"
  std::uint64_t submitted = 0;
  std::uint64_t queued_messages = 0;
  std::uint64_t queued_bytes = 0;
  std::vector<std::pair<std::string, std::uint64_t>> counters;
  std::size_t connections = 0;
  LocalServerCounters local;
};

/// The answer to a `status` request: JSON.
std::string status_json(const NodeState& state, const StatusFacts& facts);

}  // namespace peal::cli
