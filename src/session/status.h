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
  std::string group;   ///< empty: messages to the private name
  std::string domain;  ///< name of the group's domain; empty: the group is of all nodes
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
  std::uint64_t sent{};         ///< number of messages received from the client
  std::uint64_t settled{};      ///< acknowledged messages of the client
  std::uint64_t events{};       ///< number of events so far, written or waiting
  std::uint64_t events_seen{};  ///< number of events seen by the client
  Duration oldest{};            ///< age of the first event that the client has not seen
  /// Why the client waits, why other clients wait for it, or why the session ends; may be empty.
  std::string waits_for;
  std::uint64_t memberships_count{};
  /// At most kStatusMembershipsMax memberships; if the session has more, memberships with waiting
  /// events are preferred.
  std::vector<MembershipStatus> memberships;
};
inline constexpr std::size_t kStatusSessionsMax = 100;
inline constexpr std::size_t kStatusMembershipsMax = 8;
/// Status of the module. Its size is bounded, however many clients and groups there are.
struct Status {
  std::string waits_for;  ///< see Sessions::groups_wait_for()
  std::uint64_t connections{};
  std::uint64_t memory_bytes{};  ///< bytes of waiting events, each event counted once
  std::uint64_t disk_bytes{};
  std::uint64_t input_bytes{};  ///< bytes of unfinished records
  std::uint64_t regions{};      ///< number of regions
  std::uint64_t region_bytes{};
  std::uint64_t region_bytes_in_use{};
  std::uint64_t sessions_count{};
  /// At most kStatusSessionsMax sessions; those with a text in `waits_for` come first.
  std::vector<SessionStatus> sessions;
};

}  // namespace peal::session
