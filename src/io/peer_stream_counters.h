// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace peal::io {

/// Everything that is counted of streams between nodes. A packet for several nodes counts for each.
struct PeerStreamCounters {
  std::uint64_t packets_out{}, bytes_out{};  ///< taken by the kernel: packets begun, and bytes
  std::uint64_t packets_in{}, bytes_in{};    ///< packets handed over, and bytes read
  std::uint64_t sealed{};                    ///< packets made ready: once for all whom they go to
  std::uint64_t write_calls{}, read_calls{};
  std::uint64_t connects{};   ///< attempts
  std::uint64_t connected{};  ///< of these, successful ones
  std::uint64_t accepted{};
  std::uint64_t broken{};  ///< outgoing connections that ended, by whomever

  std::uint64_t close_unknown_source{};  ///< incoming: from no configured node's address
  std::uint64_t close_bad_length{};      ///< incoming: a length that no packet has
  std::uint64_t close_forged{};          ///< incoming: a packet that nobody with the key made
  std::uint64_t close_replaced{};        ///< incoming: gave way to a newer one
  std::uint64_t close_ended{};           ///< incoming: ended by the other side, or the network

  std::uint64_t drop_queue_full{};     ///< outgoing: the peer did not take them in time
  std::uint64_t drop_not_connected{};  ///< outgoing: there is no stream to the peer
  std::uint64_t drop_broken{};         ///< outgoing: queued for a stream that broke
  std::uint64_t drop_too_big{};        ///< outgoing: larger than a packet may be
  std::uint64_t drop_no_room{};        ///< outgoing: too much waits for slow peers
  std::uint64_t drop_refused{};        ///< incoming: not opened, and not for being forged
  std::uint64_t drop_wrong_lane{};     ///< incoming: sealed for a lane of datagrams
  std::uint64_t drop_fault{};          ///< injected, both ways
  std::uint64_t pool_exhausted{};      ///< times that reading stopped for want of a slab
};

struct PeerStreamCounterField {
  std::string_view name;
  std::uint64_t PeerStreamCounters::*value;
};
/// Every counter with its name, in the order above.
std::span<const PeerStreamCounterField> peer_stream_counter_fields();

}  // namespace peal::io
