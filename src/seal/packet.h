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

// What a sealed packet looks like; src/seal/README.md has the table and the reasons.

namespace peal::seal {

inline constexpr std::uint16_t kMagic = 0x5350;  // "PS"
inline constexpr std::uint8_t kVersion = 3;
/// First byte of a data packet: what it is, and the layout. The first of all others is that of
/// kMagic.
inline constexpr std::uint8_t kDataForm = 0xd0 | 2;
inline constexpr std::size_t kSaltBytes = 16;
using Salt = std::array<std::byte, kSaltBytes>;

/// Of a data packet, which names its key and its sender's incarnation by half a badge alone, and is
/// for everyone.
inline constexpr std::size_t kShortHeaderBytes = 17;
/// Of all others, which also introduce the incarnation.
inline constexpr std::size_t kLongHeaderBytes = 50;

constexpr bool introduces(Lane lane) { return lane != Lane::data; }
/// Bytes in front of the plain text.
constexpr std::size_t headroom(Lane lane) {
  return introduces(lane) ? kLongHeaderBytes : kShortHeaderBytes;
}
/// Bytes that sealing adds: by so many the longest packet of a lane gets shorter.
constexpr std::size_t overhead(Lane lane) { return headroom(lane) + kTagBytes; }

inline constexpr std::size_t kLanes = 3;
/// The last packet of an incarnation in one lane; 2^48 - 1.
inline constexpr std::uint64_t kCounterMax = (1ULL << 48) - 1;

/// Why a packet was not opened; `none` if it was. Each is counted.
enum class Refusal : std::uint8_t {
  none,
  too_short,            ///< not even a header and a tag
  unknown_version,      ///< not sealed at all, or by another version
  unknown_sender,       ///< of no configured node
  other_receiver,       ///< sealed for another node
  unknown_key,          ///< not in our key file
  unknown_incarnation,  ///< data of an incarnation that has not introduced itself yet, or under a
                        ///< key that is not in our key file
  bad_badge,            ///< introduces an incarnation that nobody with the key made
  own,                  ///< our own packet came back, of this life or of one before
  old_incarnation,      ///< of an incarnation before the newest that we know of that node
  replayed,             ///< opened before
  too_old,              ///< so late that nobody can tell whether it was opened before
  bad_tag,              ///< changed, or not made with the key
  count_,
};
inline constexpr std::size_t kRefusals = static_cast<std::size_t>(Refusal::count_);
std::string_view refusal_name(Refusal reason);

/// A header, as it stands in a packet or goes there. Its fields mean nothing until the tag was
/// checked.
struct Header {
  Lane lane{};
  NodeId from{};
  std::uint64_t counter{};
  std::uint64_t badge{};  ///< of a short header: see short_badge()
  std::uint32_t mark{};   ///< short headers only: see Sealer::set_mark()
  // Long headers only.
  NodeId to{};  ///< 0: everyone
  KeyId key{};
  std::uint64_t epoch{};
  Salt salt{};
};
/// What a short header has room for. So little that two incarnations or keys may share it: a data
/// packet is then tried with each.
constexpr std::uint64_t short_badge(std::uint64_t badge) { return badge & 0xffff'ffff; }

/// `out` is of headroom(header.lane) bytes.
void write_header(const Header& header, ByteSpan out);
/// too_short, unknown_version or none; then the packet has room for a tag, too.
[[nodiscard]] Refusal read_header(ByteView packet, Header& out);

/// Never the same twice under one subkey: a lane and its counter.
Nonce nonce_of(Lane lane, std::uint64_t counter);

/// One incarnation of a node.
struct Incarnation {
  MemberId member{};
  Salt salt{};
  friend bool operator==(const Incarnation&, const Incarnation&) = default;
};

/// What follows from a key for a cluster: which incarnations somebody with the key made, and what
/// each of them encrypts with. Clusters that share a key cannot open each other's packets.
class KeySchedule {
 public:
  KeySchedule(const Key& key, std::uint64_t cluster);
  KeyId id() const { return id_; }
  /// Stands in each packet of an incarnation. Costs about as much as the tag of a short packet.
  std::uint64_t badge_of(const Incarnation& incarnation);
  /// For the packets of an incarnation. Allocates; some microseconds.
  Secret subkey_of(const Incarnation& incarnation) const;

 private:
  KeyId id_;
  std::uint64_t cluster_;
  Secret secret_;
  ShortMac badges_;
};

}  // namespace peal::seal
