// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "io/fabric/options.h"

namespace peal::io::fabric {

/// Counters of the writes to one peer.
struct WriteCounters {
  std::uint64_t writes{};  ///< given to write()
  std::uint64_t bytes{};
  std::uint64_t ok{};
  std::uint64_t denied{};
  std::uint64_t down{};
};

/// Counters of a process.
struct Counters {
  // This process as a writer.
  std::uint64_t connects{};        ///< attempts to connect
  std::uint64_t connected{};       ///< attempts that succeeded
  std::uint64_t broken{};          ///< connections to owners that ended
  std::uint64_t expired{};         ///< writes that waited too long for a connection or a region
  std::uint64_t overflows{};       ///< connections given up because the peer took nothing
  std::uint64_t refused_memory{};  ///< memory of a peer that could shrink, or has another size
  std::uint64_t rings{};           ///< bells rung: the peer was asleep
  // This process as an owner.
  std::uint64_t accepted{};
  std::uint64_t refused{};      ///< connections whose handshake failed
  std::uint64_t late{};         ///< handshakes that took too long, or had to give way
  std::uint64_t replaced{};     ///< connections of a writer that connected again
  std::uint64_t ended{};        ///< connections of writers that ended, the replaced ones included
  std::uint64_t arrived{};      ///< writes that arrived by tcp
  std::uint64_t turned_down{};  ///< of these: denied
  std::uint64_t rung{};         ///< bells that were rung here
  std::uint64_t revoked{};      ///< regions that were exposed, and taken back
  // Both.
  std::uint64_t bad_input{};  ///< connections ended because the peer broke a rule
};

/// The state of one peer, for people.
struct PeerStatus {
  NodeId node{};
  Kind kind = Kind::none;      ///< the fabric of the writes to this peer; none: no connection
  MemberId owner{};            ///< the peer's incarnation, if there is a connection
  Kind incoming = Kind::none;  ///< the fabric of the peer's writes to this process
  /// Why there is no connection or, with tcp, why it is not shm. One line with the remedy, or
  /// empty.
  std::string problem;
  WriteCounters writes;
};

}  // namespace peal::io::fabric
