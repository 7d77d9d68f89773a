// SPDX-License-Identifier: Apache-2.0
#include "group/traffic_logs.h"

#include <algorithm>

#include "base/hooks.h"

namespace peal::group {

TrafficLogs::TrafficLogs(std::size_t domains) {
  for (std::size_t domain = 0; domain < domains; ++domain) {
    logs_.emplace_back(static_cast<order::Domain>(domain));
  }
}

/// Forgets old traffic once every daemon that can still join knows the traffic. A daemon that moved
/// together with this daemon in two successive view changes has completed the view between the two
/// changes. So it knows all earlier traffic. Other incarnations of that daemon's node are dead, or
/// start later.
void TrafficLogs::begin(const ViewId& view, const order::MemberSet& along) {
  for (TrafficLog& each : logs_) each.begin(view);
  const bool all = !nodes_.empty() && std::all_of(nodes_.begin(), nodes_.end(), [&](NodeId node) {
    const auto of_node = [node](const MemberId& member) { return member.node == node; };
    const auto both = std::find_if(along.begin(), along.end(), of_node);
    return both != along.end() && order::contains(came_along_, *both);
  });
  if (all || PEAL_MUTANT(gm19_traffic_forgotten_early)) {
    for (TrafficLog& each : logs_) each.keep(last_view_, view_);
  }
  came_along_ = along;
  last_view_ = view_;
  view_ = view;
}

}  // namespace peal::group
