// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "group/groups.h"
#include "session/requests.h"

namespace peal::session {

/// The last membership to which new rules were applied. Memberships are taken in order of session,
/// then of group.
struct Reconfigured {
  std::uint32_t session = 0;
  std::string group;
};

/// Applies new rules to existing sessions at once, and to their memberships step by step.
class Reconfiguration {
 public:
  Reconfiguration(Context& context, Registry& registry, const Requests& requests,
                  group::Groups& groups)
      : context_(context), registry_(registry), requests_(requests), groups_(groups) {}

  void begin(const Options& options);
  /// Checks a bounded number of memberships, and ends those that the rules no longer allow. Stops
  /// early if the node does not accept a leave.
  void work();
  /// True if memberships are left to check, and the node may accept leaves.
  bool has_work() const { return done_ && !waits_for_room_; }

 private:
  bool check(Session& it, const std::string& group, const Membership& member);

  Context& context_;
  Registry& registry_;
  const Requests& requests_;
  group::Groups& groups_;
  std::optional<Reconfigured> done_;  ///< std::nullopt: no membership is left to check
  bool waits_for_room_ = false;       ///< the node did not accept the last leave
};

}  // namespace peal::session
