// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace peal::io {

/// All counters of the streams between nodes. A packet for several nodes counts once for each,
/// except in `sealed`.
struct PeerStreamCounters {
  /// Packets whose first byte the kernel took, and all bytes that the kernel took.
  std::uint64_t packets_out{}, bytes_out{};
  std::uint64_t packets_in{}, bytes_in{};  ///< packets handed to the node; all bytes read
  std::uint64_t sealed{};  ///< frames made of packets; one data frame serves all peers
  std::uint64_t write_calls{}, read_calls{};
  std::uint64_t connects{};   ///< attempts to connect
  std::uint64_t connected{};  ///< successful attempts
  std::uint64_t accepted{};
  std::uint64_t broken{};  ///< open outgoing connections that ended, for any reason

  std::uint64_t close_unknown_source{};  ///< incoming: the address belongs to no configured node
  std::uint64_t close_bad_length{};      ///< incoming: sent a length that no packet can have
  std::uint64_t close_forged{};          ///< incoming: sent a packet that no holder of the key made
  std::uint64_t close_replaced{};        ///< incoming: replaced by a newer one, or no place left
  std::uint64_t close_ended{};           ///< incoming: ended by the peer or the network

  std::uint64_t drop_queue_full{};     ///< outgoing: the queue for the peer was full
  std::uint64_t drop_not_connected{};  ///< outgoing: there is no stream to the peer
  std::uint64_t drop_broken{};         ///< outgoing: queued for a stream that broke
  std::uint64_t drop_too_big{};        ///< outgoing: larger than a packet may be
  std::uint64_t drop_no_room{};        ///< outgoing: slow peers hold too many queued bytes
  std::uint64_t drop_refused{};        ///< incoming: not opened, for a reason other than forgery
  std::uint64_t drop_wrong_lane{};     ///< incoming: sealed for a lane that uses datagrams
  std::uint64_t drop_fault{};          ///< dropped by injected faults, in both directions
  std::uint64_t pool_exhausted{};      ///< times that reading stopped because no slab was free
};

struct PeerStreamCounterField {
  std::string_view name;
  std::uint64_t PeerStreamCounters::*value;
};
/// All counters with their names, in the order of PeerStreamCounters.
std::span<const PeerStreamCounterField> peer_stream_counter_fields();

}  // namespace peal::io
