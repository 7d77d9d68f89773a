// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "group/traffic.h"
#include "order/member_set.h"

namespace peal::group {

/// The traffic that this daemon knows, for all domains. Decides when to forget old traffic.
class TrafficLogs {
 public:
  explicit TrafficLogs(std::size_t domains);

  /// Sets the nodes that may be in a view, sorted.
  void set_nodes(std::vector<NodeId> nodes) { nodes_ = std::move(nodes); }
  /// Starts a view. `along`: the daemons with equal tables that came to the view together with this
  /// daemon.
  void begin(const ViewId& view, const order::MemberSet& along);

  std::size_t domains() const { return logs_.size(); }
  const std::vector<TrafficLog>& all() const { return logs_; }
  TrafficLog& of(order::Domain domain) { return logs_[domain]; }

 private:
  std::vector<TrafficLog> logs_;  ///< by domain
  std::vector<NodeId> nodes_;
  order::MemberSet came_along_;  ///< `along` of the last begin()
  ViewId last_view_{};           ///< the view before the current one
  ViewId view_{};
};

}  // namespace peal::group
