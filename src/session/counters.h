// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace peal::session {

/// Totals over all clients.
struct Counters {
  std::uint64_t connections = 0;        ///< accepted so far
  std::uint64_t sessions = 0;           ///< begun so far
  std::uint64_t resumed = 0;            ///< sessions resumed on another connection
  std::uint64_t turned_away = 0;        ///< connections refused before they had a session
  std::uint64_t bad_records = 0;        ///< connections closed for a malformed record
  std::uint64_t messages = 0;           ///< messages of clients, submitted to the node
  std::uint64_t refused = 0;            ///< messages of clients, refused
  std::uint64_t settled = 0;            ///< acknowledged messages of clients
  std::uint64_t markers = 0;            ///< safe messages sent to acknowledge clients' messages
  std::uint64_t events = 0;             ///< events queued for clients so far
  std::uint64_t shared = 0;             ///< events put into a region
  std::uint64_t shared_no_room = 0;     ///< events for which the region had no room
  std::uint64_t left_out = 0;           ///< messages dropped; a gap replaces them
  std::uint64_t gaps_away = 0;          ///< gaps queued because daemons were in different views
  std::uint64_t spilled_bytes = 0;      ///< bytes of events written to disk
  std::uint64_t read_back_bytes = 0;    ///< bytes of events read back from disk
  std::uint64_t evicted = 0;            ///< sessions ended because the client was slow
  std::uint64_t silent = 0;             ///< connections and sessions ended with code `silent`
  std::uint64_t warnings = 0;           ///< slow-client warnings
  std::uint64_t memory_bytes_peak = 0;  ///< most memory of waiting events, each counted once
};

}  // namespace peal::session
