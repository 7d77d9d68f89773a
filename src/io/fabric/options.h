// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "io/endpoint.h"
#include "seal/key.h"

namespace peal::io::fabric {

/// The setting `fabric`: which fabrics may be used.
enum class Choice : std::uint8_t {
  automatic,  ///< for each peer the first of shm, verbs and tcp by which it can be reached
  shm,
  tcp,
  verbs,
};

/// What a pair of processes uses.
enum class Kind : std::uint8_t { none, shm, tcp, verbs };
const char* kind_name(Kind kind);

/// Another node of the cluster.
struct Peer {
  NodeId node{};
  Endpoint at;         ///< where it listens for tcp and verbs; unspecified: unknown
  std::string socket;  ///< the path where it listens for shm; empty: none
};

struct Limits {
  /// Bytes of all regions that this process exposes; expose() fails above.
  std::size_t exposed_bytes_max = 1U << 30;
  /// Bytes of the regions of one peer that this process maps; more is refused.
  std::size_t mapped_bytes_max = 1U << 30;
  /// Bytes that may wait for one peer. Above, its connection is given up.
  std::size_t queue_bytes_max = 16U << 20;
  /// How long a write waits for a connection, or for the region to become known.
  Duration hold = milliseconds(50);
  /// Shortest time between two messages that wake up one sleeping owner. A message takes a system
  /// call, and longer than everything else that a writer does for a small write.
  Duration wake_gap{};
  Duration retry_first = milliseconds(10);  ///< pause after a failed attempt; doubles each time
  Duration retry_max = seconds(1);
  /// Timeout of an attempt to connect, and of unacknowledged data in the network.
  Duration patience = seconds(1);
};

struct Options {
  MemberId self{};
  std::uint64_t cluster{};
  Choice choice = Choice::automatic;
  Endpoint at;         ///< for tcp and verbs: listens there, and connects from its address
  std::string socket;  ///< for shm: the path to listen at; empty: none
  std::vector<Peer> peers;
  std::optional<seal::Keys> keys;  ///< none: nothing is sealed, and anybody is believed
  /// With keys: whether verbs may be used all the same. RDMA neither encrypts nor authenticates.
  bool verbs_in_clear = false;
  Limits limits;
};

}  // namespace peal::io::fabric
