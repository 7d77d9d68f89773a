// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "seal/key.h"
#include "seal/primitives.h"

// The layout of sealed packets; src/seal/README.md has the tables and the reasons.

namespace peal::seal {

inline constexpr std::uint16_t kMagic = 0x5350;  // "PS"
inline constexpr std::uint8_t kVersion = 3;
/// First byte of a data packet: 0xd0 for data, plus the number of the layout. All other packets
/// begin with the first byte of kMagic.
inline constexpr std::uint8_t kDataForm = 0xd0 | 2;
inline constexpr std::size_t kSaltBytes = 16;
using Salt = std::array<std::byte, kSaltBytes>;

/// Bytes of the header of a data packet. This header names the key and the incarnation only by a
/// short tag. It has no receiver, because data is for everyone.
inline constexpr std::size_t kShortHeaderBytes = 17;
/// Bytes of the header of all other packets. This header also introduces the sender's incarnation.
inline constexpr std::size_t kLongHeaderBytes = 50;

constexpr bool introduces(Lane lane) { return lane != Lane::data; }
/// Bytes in front of the plain text.
constexpr std::size_t headroom(Lane lane) {
  return introduces(lane) ? kLongHeaderBytes : kShortHeaderBytes;
}
/// Bytes that sealing adds to a packet, so that less plain text fits one datagram.
constexpr std::size_t overhead(Lane lane) { return headroom(lane) + kTagBytes; }

inline constexpr std::size_t kLanes = 3;
/// The last counter of an incarnation in one lane: 2^48 - 1.
inline constexpr std::uint64_t kCounterMax = (1ULL << 48) - 1;

/// Why a packet was not opened; `none` if it was. Each reason is counted.
enum class Refusal : std::uint8_t {
  none,
  too_short,        ///< shorter than a header and a tag
  unknown_version,  ///< not sealed, or sealed by another version
  unknown_sender,   ///< the node is not configured
  other_receiver,   ///< sealed for another node
  unknown_key,      ///< not in this node's key file
  /// Data of an incarnation that has not introduced itself, or data under a key that is not in this
  /// node's key file.
  unknown_incarnation,
  bad_badge,  ///< introduces an incarnation that no holder of the key made
  /// The header names this node as sender: this incarnation, an earlier one or, in data, an unknown
  /// one.
  own,
  old_incarnation,  ///< the sender is older than the newest known incarnation of its node
  replayed,         ///< opened before
  too_old,          ///< so late that a replay cannot be excluded
  bad_tag,          ///< changed, or not made with the key
  count_,
};
inline constexpr std::size_t kRefusals = static_cast<std::size_t>(Refusal::count_);
std::string_view refusal_name(Refusal reason);

/// A header, decoded or to be encoded. The fields of a decoded header mean nothing until the tag of
/// the packet was checked.
struct Header {
  Lane lane{};
  NodeId from{};
  std::uint64_t counter{};
  std::uint64_t badge{};  ///< incarnation tag; in a short header, see short_badge()
  std::uint32_t mark{};   ///< configuration hash; short headers only: see Sealer::set_mark()
  // Long headers only.
  NodeId to{};  ///< 0: everyone
  KeyId key{};
  std::uint64_t epoch{};
  Salt salt{};
};
/// The part of an incarnation tag that a short header holds. It is so short that two incarnations
/// or keys may share it; the receiver then tries to open a data packet with each of them.
constexpr std::uint64_t short_badge(std::uint64_t badge) { return badge & 0xffff'ffff; }

/// `out` has headroom(header.lane) bytes.
void write_header(const Header& header, ByteSpan out);
/// Returns too_short, unknown_version or none; with none, the packet has room for a tag too.
[[nodiscard]] Refusal read_header(ByteView packet, Header& out);

/// The nonce of a packet, made of its lane and counter. No two packets under one subkey have the
/// same nonce.
Nonce nonce_of(Lane lane, std::uint64_t counter);

/// One incarnation of a node.
struct Incarnation {
  MemberId member{};
  Salt salt{};
  friend bool operator==(const Incarnation&, const Incarnation&) = default;
};

/// Derives two values for each incarnation: its tag, which only holders of the key can make, and
/// the subkey with which the incarnation encrypts. Both values depend on the key and on the
/// cluster, so clusters that share a key cannot open each other's packets.
class KeySchedule {
 public:
  KeySchedule(const Key& key, std::uint64_t cluster);
  KeyId id() const { return id_; }
  /// The incarnation tag, which is in each packet of the incarnation. Costs about as much as the
  /// GCM tag of a short packet.
  std::uint64_t badge_of(const Incarnation& incarnation);
  /// The key for packets of an incarnation. Allocates; takes some microseconds.
  Secret subkey_of(const Incarnation& incarnation) const;

 private:
  KeyId id_;
  std::uint64_t cluster_;
  Secret secret_;
  ShortMac badges_;
};

}  // namespace peal::seal
