// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>

#include "base/time.h"
#include "cli/local_protocol.h"
#include "cli/local_server.h"
#include "order/engine.h"

namespace peal::cli {

/// One regular view as this node went through it.
struct ViewHistory {
  ViewRecord view;  ///< its digest counts on until the next regular view
  Instant installed{};
  Duration took{};  ///< from the beginning of the search for members; 0 if unknown
};

/// What one node has delivered, for its status.
class NodeState {
 public:
  static constexpr std::size_t kViewsMax = 64;  ///< kept; older ones are forgotten

  void on_message(const MessageRecord& message);
  void on_view(Instant now, const ViewRecord& view);
  /// How long the newest view took to form.
  void on_view_took(Duration took);

  /// The newest regular view; no members before the first.
  const ViewRecord& current() const;
  /// In the transitional view after current(): members are being agreed on.
  bool transitional() const { return transitional_; }
  const std::deque<ViewHistory>& views() const { return views_; }
  std::uint64_t messages() const { return messages_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::deque<ViewHistory> views_;  ///< oldest first
  bool transitional_ = false;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Everything that a status says besides the state.
struct StatusFacts {
  Instant now{};
  Instant started{};
  order::WaitReason waits_for;
  std::uint64_t submitted = 0;
  std::uint64_t queued_messages = 0;
  std::uint64_t queued_bytes = 0;
  std::span<const order::Counter> counters;
  std::size_t connections = 0;
  LocalServerCounters local;
};

/// The answer to a `status` request: JSON.
std::string status_json(const Welcome& welcome, const NodeState& state, const StatusFacts& facts);

/// What a node waits for, in plain words: "n2: its application does not read its messages".
std::string wait_text(const order::WaitReason& reason, const Welcome& welcome);

}  // namespace peal::cli
