// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"

// What the two processes of a queue pair tell each other in `offer` and `join` (records.h).
// Integers are little-endian.
//
// | offset | bytes | field of an end                          |
// | 0      | 4     | number of the queue pair, 24 bits        |
// | 4      | 4     | first packet number that it sends, 24 bits |
// | 8      | 2     | local identifier of InfiniBand; RoCE: 0  |
// | 10     | 1     | largest packet: 1 to 5 for 256 to 4,096 bytes |
// | 11     | 1     | 1 InfiniBand, 2 RoCE                     |
//
// An offer has the address of the region (8 bytes) and of the bell (8), the keys of both (4 and 4),
// and the owner's end.

namespace peal::io::fabric {

inline constexpr std::size_t kVerbsEndBytes = 12;
inline constexpr std::size_t kVerbsOfferBytes = 24 + kVerbsEndBytes;

/// One end of a connected queue pair. With RoCE, its address is that of the connection's peer.
struct VerbsEnd {
  enum class Link : std::uint8_t { infiniband = 1, roce };
  std::uint32_t pair{};
  std::uint32_t first_packet{};
  std::uint16_t lid{};
  std::uint8_t mtu{};
  Link link = Link::roce;
  friend bool operator==(const VerbsEnd&, const VerbsEnd&) = default;
};

/// A region that the owner has exposed, and where the writer counts its writes (bell.h).
struct VerbsOffer {
  std::uint64_t address{};
  std::uint64_t bell_address{};
  std::uint32_t key{};
  std::uint32_t bell_key{};
  VerbsEnd end;
  friend bool operator==(const VerbsOffer&, const VerbsOffer&) = default;
};

/// `out` has kVerbsEndBytes.
void encode_end(const VerbsEnd& end, ByteSpan out);
/// Nothing if the bytes make no sense.
std::optional<VerbsEnd> decode_end(ByteView bytes);
/// `out` has kVerbsOfferBytes.
void encode_offer(const VerbsOffer& offer, ByteSpan out);
std::optional<VerbsOffer> decode_offer(ByteView bytes);

}  // namespace peal::io::fabric
