// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/fixed_vector.h"
#include "base/ids.h"

// The header of all frames, and the frames of engines without acceptors, as structs. paxos.h has
// the frames of engines with acceptors. docs/wire.md describes every byte. All integers are
// little-endian. Decoders accept any bytes: they return a frame, or the reason to drop the packet.
// Every frame has exactly one encoding.

namespace peal::wire {

inline constexpr std::uint16_t kMagic = 0x4c50;  // "PL"
inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::size_t kHeaderBytes = 32;
/// Bytes in front of a unit in a DATA packet, the common header included.
inline constexpr std::size_t kDataHeaderBytes = kHeaderBytes + 50;
inline constexpr std::size_t kPacketBytesMax = 65'507;

inline constexpr std::size_t kMembersMax = 128;       // members of one view
inline constexpr std::size_t kProcessesMax = 256;     // entries of a set in a JOIN or PROBE
inline constexpr std::size_t kRangesMax = 64;         // request ranges in one section
inline constexpr std::size_t kSectionsMax = 16;       // request sections on one token
inline constexpr std::size_t kCommitOptionsMax = 32;  // bytes of a protocol's options in a COMMIT
inline constexpr std::size_t kRecordHeadMax = 64;     // bytes of the head of a record in a COMMIT
inline constexpr std::uint16_t kListRunMax = 2 * kMembersMax;  // two rotations of the largest ring
inline constexpr std::uint16_t kNoIndex = 0xffff;  // a ring index that stands for no member
inline constexpr std::uint32_t kNodeMax = 65'535;  // nodes have the numbers 1 to kNodeMax
/// Maximum of positions, hops, view numbers and JOIN numbers. With this maximum, adding a window
/// size, a bit index or 1 cannot overflow 64 bits.
inline constexpr std::uint64_t kCounterMax = (1ULL << 63) - 1;

enum class FrameKind : std::uint8_t {
  token = 1,
  data = 2,
  join = 3,
  commit = 4,
  probe = 5,
  hold_cancel = 6,
  epoch_notice = 7,
  trial = 8,     ///< see trial.h
  settings = 9,  ///< see settings.h
};
/// Frames of engines with acceptors have kinds of their own (paxos.h). An engine drops frames of
/// other engines as unknown_kind.
inline constexpr std::uint8_t kPaxosKindFirst = 32;
inline constexpr std::uint8_t kPaxosKindLast = 51;
inline constexpr unsigned kPaxosKinds = kPaxosKindLast - kPaxosKindFirst + 1;
constexpr bool is_paxos_kind(FrameKind kind) {
  const auto value = static_cast<std::uint8_t>(kind);
  return value >= kPaxosKindFirst && value <= kPaxosKindLast;
}

/// Frames of ToTo (toto.h).
inline constexpr std::uint8_t kTotoKindFirst = 64;
inline constexpr std::uint8_t kTotoKindLast = 67;
inline constexpr unsigned kTotoKinds = kTotoKindLast - kTotoKindFirst + 1;
constexpr bool is_toto_kind(FrameKind kind) {
  const auto value = static_cast<std::uint8_t>(kind);
  return value >= kTotoKindFirst && value <= kTotoKindLast;
}

/// Frames of RamCast (ramcast.h).
inline constexpr std::uint8_t kRamcastKindFirst = 68;
inline constexpr std::uint8_t kRamcastKindLast = 78;
inline constexpr unsigned kRamcastKinds = kRamcastKindLast - kRamcastKindFirst + 1;
constexpr bool is_ramcast_kind(FrameKind kind) {
  const auto value = static_cast<std::uint8_t>(kind);
  return value >= kRamcastKindFirst && value <= kRamcastKindLast;
}

/// Why a packet was dropped; `none` if it was not dropped.
enum class Drop : std::uint8_t {
  none,
  truncated,       ///< shorter than its header or its counts require
  trailing_bytes,  ///< bytes follow after the last field
  bad_magic,       ///< not a Peal packet
  bad_version,     ///< another protocol version
  bad_checksum,    ///< damaged in transit
  bad_length,      ///< the length field is not the packet's length
  unknown_kind,
  other_cluster,   ///< another cluster name
  other_settings,  ///< same cluster name, other cluster-wide settings
  other_list,      ///< same cluster and settings, another list of nodes
  count_too_large,
  not_sorted,     ///< a set is not sorted, or contains an element twice
  bad_value,      ///< a field is outside its range, or contradicts another field
  bad_sender,     ///< this sender may not send such a frame
  stale,          ///< an older incarnation, view, hop or number
  duplicate,      ///< received before
  own,            ///< the node's own packet came back
  foreign,        ///< from a view that the node is not in
  wrong_state,    ///< not expected in the receiver's current state
  out_of_window,  ///< a position outside the receive window
  count_,
};
std::string_view drop_name(Drop reason);

/// Whether packets carry a checksum. The checksum is absent, and its field zero, where a lower
/// layer has authenticated every byte. Both sides know from their configuration whether packets
/// carry a checksum.
enum class Checksum : std::uint8_t { present, absent };

/// The first 32 bytes of every frame: magic u16, version u8, kind u8, length u32, cluster u64,
/// sender node u32, sender epoch u64, checksum u32 (CRC-32C of the packet with this field zero).
struct Header {
  FrameKind kind{};
  /// High 32 bits: hash of the cluster name. Low 32 bits: hash of the cluster-wide settings.
  std::uint64_t cluster{};
  /// The member that transmits the packet. Another member may have originated the packet's unit.
  MemberId sender{};
  Checksum checksum = Checksum::present;  ///< not on the wire: whether the packet has a checksum
};

/// Why a packet with this value in Header::cluster is dropped by a node with another one.
constexpr Drop drop_of_cluster(std::uint64_t packets, std::uint64_t own) {
  return packets >> 32 == own >> 32 ? Drop::other_settings : Drop::other_cluster;
}

/// The kind field of a packet, unchecked: the value may be no known kind. nullopt if the packet is
/// too short.
inline std::optional<FrameKind> frame_kind_of(ByteView packet) {
  constexpr std::size_t kKindOffset = 3;  // after magic u16, version u8
  if (packet.size() <= kKindOffset) return std::nullopt;
  return static_cast<FrameKind>(packet[kKindOffset]);
}

/// The cluster field of a packet, unchecked; nullopt if the packet is too short.
std::optional<std::uint64_t> cluster_of(ByteView packet);

/// Requests position first + i for each bit i that is set in `bitmap`; bit 0 is always set.
struct RequestRange {
  Seq first{};
  std::uint64_t bitmap{};
  friend bool operator==(const RequestRange&, const RequestRange&) = default;
};

/// Retransmission requests for one view's packets. Ranges ascend and do not overlap: each range
/// starts at least 64 above the previous range's start. There may be no range.
struct RequestSection {
  ViewId view{};
  FixedVector<RequestRange, kRangesMax> ranges;
  friend bool operator==(const RequestSection&, const RequestSection&) = default;
};

struct Token {
  ViewId view{};
  std::uint64_t hop{};
  Seq seq{};  ///< highest position assigned in the view
  Seq aru{};  ///< candidate for the position up to which every member has all units; <= seq
  std::uint16_t aru_index = kNoIndex;  ///< ring index of the member that lowered aru
  std::uint32_t fcc{};                 ///< number of packets multicast in the last rotation
  /// Number of consecutive members that have completed their recovery, counted over several
  /// rotations up to a maximum.
  std::uint16_t recovery_run{};
  /// Ring index of the last member whose recovery is incomplete.
  std::uint16_t recovery_block = kNoIndex;
  std::uint32_t window{};  ///< global window chosen by the representative; 0: unused
  std::uint32_t losses{};  ///< number of positions first requested in the last rotation
  /// Number of members that sent as many packets as they were allowed, and have more to send.
  std::uint32_t limited{};
  /// Total number of units that wait at the members. While the members repair an old view: total
  /// number of packets that they miss.
  std::uint32_t backlog{};
  std::uint32_t credit{};                 ///< smallest free receive space of any member, in units
  std::uint16_t credit_index = kNoIndex;  ///< ring index of the member with the space `credit`
  std::uint64_t list{};                   ///< hash of the pending list of nodes; 0: none
  /// Number of consecutive members that have the list `list`; at most kListRunMax.
  std::uint16_t list_run{};
  std::uint16_t list_block = kNoIndex;  ///< ring index of the last member without the list `list`
  FixedVector<RequestSection, kSectionsMax> sections;  ///< all of different views
  friend bool operator==(const Token&, const Token&) = default;
};

/// A DATA packet: this header, then the bytes of the unit, which are not interpreted here.
struct Data {
  ViewId view{};  ///< the view in which the unit was ordered; unchanged by retransmission
  Seq seq{};      ///< >= 1
  std::uint64_t hop{};
  MemberId origin{};
  bool post = false;  ///< sent after the sender passed the token on
  bool retransmission = false;
  Service service = Service::agreed;  ///< agreed or safe
  friend bool operator==(const Data&, const Data&) = default;
};

struct Join {
  std::uint64_t number{};  ///< grows with every JOIN of this incarnation
  ViewId committed{};      ///< highest view whose commit stage the sender entered; may be zero
  std::uint64_t view_number_max{};
  bool leaving = false;
  std::vector<MemberId> processes;  ///< sorted
  std::vector<MemberId> failed;     ///< sorted; a subset of `processes`, without the sender
  std::vector<MemberId> heard;      ///< sorted
  std::uint64_t list{};             ///< hash of the sender's active list of nodes
  friend bool operator==(const Join&, const Join&) = default;
};

// A COMMIT carries byte strings of the view's ordering protocol: the options of the next view, and
// one record for each old view. All members agree on the options; the survivors of an old view
// agree on its record.

using CommitOptions = FixedVector<std::byte, kCommitOptionsMax>;

/// How COMMIT codecs find and check the options and the records. The functions get bytes from the
/// network, with the lengths that the format declares. The defaults describe a protocol without
/// options and records.
struct CommitFormat {
  std::size_t options_bytes = 0;
  /// A record begins with a head of fixed length, which gives the length of the tail. The head has
  /// fields first, then counts of lists; the lists are in the tail. On the wire the survivors stand
  /// between the head and the tail, and the survivors' count stands before the counts in the head.
  std::size_t head_bytes = 0;
  std::size_t counts_bytes = 0;
  Drop (*check_options)(ByteView options) = [](ByteView) { return Drop::none; };
  Drop (*check_head)(ByteView head) = [](ByteView) { return Drop::none; };
  /// Length of the tail that follows `head`; nullopt if a count in `head` is above its maximum.
  std::optional<std::size_t> (*tail_bytes)(ByteView head) =
      [](ByteView) -> std::optional<std::size_t> { return 0; };
  Drop (*check_tail)(ByteView head, ByteView tail) = [](ByteView, ByteView) { return Drop::none; };

  constexpr bool is_sound() const {
    return options_bytes <= kCommitOptionsMax && head_bytes <= kRecordHeadMax &&
           counts_bytes <= head_bytes;
  }
};

/// The combined state of the survivors of one old view, merged on the commit token.
struct OldView {
  ViewId view{};
  /// Members of the new view that come from this old view: sorted, at least one. No member comes
  /// from two old views.
  std::vector<MemberId> survivors;
  /// The ordering protocol's record: a head and a tail, as its CommitFormat declares.
  std::vector<std::byte> record;
  friend bool operator==(const OldView&, const OldView&) = default;
};

struct Commit {
  ViewId view{};
  std::vector<MemberId> members;  ///< sorted, 1 to kMembersMax
  std::uint32_t hops{};           ///< 0 to twice the number of members
  CommitOptions options;          ///< of the ordering protocol, whose CommitFormat gives the length
  std::vector<OldView> old_views;  ///< of different views
  std::uint64_t list{};            ///< hash of the active list of nodes, equal at all members
  friend bool operator==(const Commit&, const Commit&) = default;
};

struct ProbeFrame {
  ViewId view{};
  std::vector<MemberId> heard;  ///< sorted
  std::uint64_t list{};         ///< hash of the sender's active list of nodes
  friend bool operator==(const ProbeFrame&, const ProbeFrame&) = default;
};

struct HoldCancel {
  ViewId view{};
  friend bool operator==(const HoldCancel&, const HoldCancel&) = default;
};

struct EpochNotice {
  MemberId newest{};
  friend bool operator==(const EpochNotice&, const EpochNotice&) = default;
};

// Decoding. `decode_header` checks magic, version, kind, length and checksum of a whole packet. The
// other functions decode a packet whose header has been checked, and check the rules in the
// struct's comments. Each returns Drop::none and fills `out`, or returns the reason and leaves
// `out` unspecified. Decoders of Token and Data do not allocate. The unit of a DATA packet begins
// at byte kDataHeaderBytes.
[[nodiscard]] Drop decode_header(ByteView packet, Header& out,
                                 Checksum expected = Checksum::present);
[[nodiscard]] Drop decode_token(ByteView packet, Token& out);
[[nodiscard]] Drop decode_data(ByteView packet, Data& out);
[[nodiscard]] Drop decode_join(ByteView packet, Join& out);
[[nodiscard]] Drop decode_commit(ByteView packet, const CommitFormat& format, Commit& out);
[[nodiscard]] Drop decode_probe(ByteView packet, ProbeFrame& out);
[[nodiscard]] Drop decode_hold_cancel(ByteView packet, HoldCancel& out);
[[nodiscard]] Drop decode_epoch_notice(ByteView packet, EpochNotice& out);

// Encoding. Each function writes a whole packet, header and checksum included, and returns its size
// in bytes. It returns 0 if `out` is too small, a list is longer than its maximum, or the options
// or a record of a COMMIT do not have the length that `format` gives; the caller must then send
// nothing. The function writes its own kind and ignores the kind in `header`. Encoders do not check
// the rules of the structs; receivers drop a packet that breaks a rule.
[[nodiscard]] std::size_t encode_token(const Header& header, const Token& in, ByteSpan out);
[[nodiscard]] std::size_t encode_join(const Header& header, const Join& in, ByteSpan out);
[[nodiscard]] std::size_t encode_commit(const Header& header, const Commit& in,
                                        const CommitFormat& format, ByteSpan out);
[[nodiscard]] std::size_t encode_probe(const Header& header, const ProbeFrame& in, ByteSpan out);
[[nodiscard]] std::size_t encode_hold_cancel(const Header& header, const HoldCancel& in,
                                             ByteSpan out);
[[nodiscard]] std::size_t encode_epoch_notice(const Header& header, const EpochNotice& in,
                                              ByteSpan out);
/// Writes the header into the first kDataHeaderBytes of `packet`; the unit is already behind the
/// header.
void encode_data_in_place(const Header& header, const Data& in, ByteSpan packet);
/// Writes the first kHeaderBytes of a DATA packet to `out`. The packet has no
/// checksum and is `packet_bytes` bytes long, which may be more than a decoder accepts.
void write_data_header(const Header& header, std::uint32_t packet_bytes, ByteSpan out);

}  // namespace peal::wire
