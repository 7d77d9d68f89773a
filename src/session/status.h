// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "wire/client.h"

namespace peal::session {

/// One membership of a session, for display.
struct MembershipStatus {
  std::string group;  ///< empty: messages to the private name
  wire::SlowPolicy policy{};
  std::uint64_t memory_bytes{};
  std::uint64_t memory_bytes_max{};
  std::uint64_t disk_bytes{};
  std::uint64_t disk_bytes_max{};
  std::uint64_t left_out{};  ///< total number of dropped messages
};
/// One session, for display.
struct SessionStatus {
  std::string name;      ///< private name
  std::string identity;  ///< "user ann (1000)", "certificate feed.example", …
  bool connected = false;
  std::uint64_t sent{};         ///< messages received from the client
  std::uint64_t settled{};      ///< of these, acknowledged
  std::uint64_t events{};       ///< total, written or waiting
  std::uint64_t events_seen{};  ///< of these, seen by the client
  Duration oldest{};            ///< age of the first event that the client has not seen
  std::string waits_for;        ///< why the client or others wait, or the session ends; may be
                                ///< empty
  std::uint64_t memberships_count{};
  /// At most kStatusMembershipsMax memberships; if there are more, those with waiting events are
  /// preferred.
  std::vector<MembershipStatus> memberships;
};
inline constexpr std::size_t kStatusSessionsMax = 100;
inline constexpr std::size_t kStatusMembershipsMax = 8;
/// Status of the module. Its size is bounded, however many clients and groups there are.
struct Status {
  std::uint64_t connections{};
  std::uint64_t memory_bytes{};  ///< of waiting events, each counted once
  std::uint64_t disk_bytes{};
  std::uint64_t input_bytes{};  ///< of unfinished records
  std::uint64_t regions{};      ///< number of regions
  std::uint64_t region_bytes{};
  std::uint64_t region_bytes_in_use{};
  std::uint64_t sessions_count{};
  /// At most kStatusSessionsMax sessions; those that are blocked, or block others, come first.
  std::vector<SessionStatus> sessions;
};

}  // namespace peal::session
