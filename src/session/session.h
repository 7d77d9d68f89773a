// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "session/event_queue.h"
#include "session/link.h"
#include "session/rules.h"
#include "session/settlement.h"

namespace peal::session {

struct SharedRegion;

/// The state of one client, kept for as long as the client may reconnect.
struct Session {
  Session(Spool& spool, SpoolId spool_id, ChunkPool& chunks) : events(spool, spool_id, chunks) {}
  bool waits() const { return events.pushed() > events.released(); }
  bool is_ending() const { return ending != wire::ClientCode::ok; }

  std::uint32_t id{};  ///< the client's number in group::Groups
  std::string name;
  std::string private_name;
  Person person;
  ClientRule rule;
  std::optional<std::size_t> rule_index;  ///< in Options::clients; std::nullopt: no rule fits
  wire::SessionToken token{};
  Duration keep{};        ///< how long the session survives its connection
  Link* link = nullptr;   ///< null: not connected
  Instant detached_at{};  ///< when the connection was lost

  EventQueue events;
  SharedRegion* shared = nullptr;                            ///< the region for the client's events
  std::map<std::string, std::uint32_t, std::less<>> groups;  ///< slot in `events` for each group
  std::vector<std::uint32_t> block_slots;                    ///< slots with policy `block`
  std::uint64_t block_bytes_least = 0;                       ///< lowest memory limit in block_slots
  std::set<std::uint32_t> gaps;                              ///< slots that currently drop messages
  std::set<std::uint32_t> warned;  ///< slots whose limit the client was warned of
  Account account;                 ///< the messages that the client sent
  std::int64_t quota_bytes = 0;    ///< bytes that the client may send now; negative: a debt
  Instant quota_at{};
  Instant next_ask{};  ///< see Requests::may_ask()

  bool leaving = false;  ///< the client said goodbye
  /// Why the session ends at the next work(); `ok`: it does not end.
  wire::ClientCode ending = wire::ClientCode::ok;
  std::string ending_text;
};

/// The duration in whole milliseconds, as in records; clamped to a u32.
inline std::uint32_t milliseconds_of(Duration duration) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(duration.ns / 1'000'000, 0, std::int64_t{0xffffffff}));
}

}  // namespace peal::session
