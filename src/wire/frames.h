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

// The frames that nodes with views exchange, as checked structs. docs/wire.md gives every byte.
// All integers are little-endian. Decoders are total: any bytes give a frame or a reason to drop
// them, and every frame has exactly one encoding.

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
inline constexpr std::uint16_t kListRunMax = 2 * kMembersMax;  // two rotations
inline constexpr std::uint16_t kNoIndex = 0xffff;  // "no member" where a ring index stands
inline constexpr std::uint32_t kNodeMax = 65'535;  // nodes are 1 to this
/// Every position, hop, view number and JOIN number is at most this, so that adding a window, a bit
/// index or 1 to one of them cannot wrap.
inline constexpr std::uint64_t kCounterMax = (1ULL << 63) - 1;

enum class FrameKind : std::uint8_t {
  token = 1,
  data = 2,
  join = 3,
  commit = 4,
  probe = 5,
  hold_cancel = 6,
  epoch_notice = 7,
  trial = 8,  ///< see trial.h
};
/// The frames of engines on quorums have kinds of their own (paxos.h). What is not for an engine is
/// of an unknown kind to it.
inline constexpr std::uint8_t kPaxosKindFirst = 32;
inline constexpr std::uint8_t kPaxosKindLast = 51;
inline constexpr unsigned kPaxosKinds = kPaxosKindLast - kPaxosKindFirst + 1;
constexpr bool is_paxos_kind(FrameKind kind) {
  const auto value = static_cast<std::uint8_t>(kind);
  return value >= kPaxosKindFirst && value <= kPaxosKindLast;
}

/// Why a packet was dropped. `none` means that it was not.
enum class Drop : std::uint8_t {
  none,
  truncated,       ///< shorter than its header or its counts say
  trailing_bytes,  ///< longer than its content
  bad_magic,       ///< not a packet of ours
  bad_version,     ///< another protocol version
  bad_checksum,    ///< damaged on the way
  bad_length,      ///< the length field is not the packet's length
  unknown_kind,
  other_cluster,   ///< another cluster name
  other_settings,  ///< same cluster name, other cluster-wide settings
  other_list,      ///< same cluster and settings, another list of nodes
  count_too_large,
  not_sorted,     ///< a set that is not sorted, or holds an element twice
  bad_value,      ///< a field outside its range, or against another field
  bad_sender,     ///< not from whom such a frame must come
  stale,          ///< an older incarnation, view, hop or number
  duplicate,      ///< seen before
  own,            ///< our own packet came back
  foreign,        ///< of a view that is not ours
  wrong_state,    ///< not expected in this state
  out_of_window,  ///< a position that we cannot store
  count_,
};
std::string_view drop_name(Drop reason);

/// Whether packets carry a checksum: absent where something below has authenticated every byte, and
/// the field is then zero. Said to both sides, and never guessed from a packet.
enum class Checksum : std::uint8_t { present, absent };

/// The first 32 bytes of every frame: magic u16, version u8, kind u8, length u32, cluster u64,
/// sender node u32, sender epoch u64, checksum u32 (CRC-32C of the packet with this field zero).
struct Header {
  FrameKind kind{};
  std::uint64_t cluster{};  ///< high 32 bits: hash of the cluster name; low 32: of the settings
  MemberId sender{};        ///< the transmitter, not the originator
  Checksum checksum = Checksum::present;  ///< not on the wire: how the packet is made
};

/// What a packet says of its cluster, without a look at the rest; nothing if it is too short.
std::optional<std::uint64_t> cluster_of(ByteView packet);

/// Requests for `first + i` for every bit i that is set; bit 0 is always set.
struct RequestRange {
  Seq first{};
  std::uint64_t bitmap{};
  friend bool operator==(const RequestRange&, const RequestRange&) = default;
};

/// Retransmission requests for one view's packets; ranges ascend and do not overlap (each starts
/// at least 64 above the one before). There may be none.
struct RequestSection {
  ViewId view{};
  FixedVector<RequestRange, kRangesMax> ranges;
  friend bool operator==(const RequestSection&, const RequestSection&) = default;
};

struct Token {
  ViewId view{};
  std::uint64_t hop{};
  Seq seq{};                                ///< highest position assigned in the view
  Seq aru{};                                ///< candidate for "everyone has all up to here"; <= seq
  std::uint16_t aru_index = kNoIndex;       ///< who lowered it
  std::uint32_t fcc{};                      ///< packets multicast during the last rotation
  std::uint16_t recovery_run{};             ///< consecutive complete members, saturating
  std::uint16_t recovery_block = kNoIndex;  ///< the last incomplete member
  std::uint32_t window{};                 ///< global window chosen by the representative; 0 unused
  std::uint32_t losses{};                 ///< first-time requests of the last rotation
  std::uint32_t limited{};                ///< members that used up their allowance
  std::uint32_t backlog{};                ///< units waiting at all members
  std::uint32_t credit{};                 ///< least free receive room, in units
  std::uint16_t credit_index = kNoIndex;  ///< whose it is
  std::uint64_t list{};                   ///< the list of nodes to go over to; 0: none
  std::uint16_t list_run{};               ///< consecutive members that have it, saturating
  std::uint16_t list_block = kNoIndex;    ///< the last member that did not
  FixedVector<RequestSection, kSectionsMax> sections;  ///< of distinct views
  friend bool operator==(const Token&, const Token&) = default;
};

/// A DATA packet: this header, then the unit (opaque here).
struct Data {
  ViewId view{};  ///< the view in which it was ordered; unchanged by retransmission
  Seq seq{};      ///< >= 1
  std::uint64_t hop{};
  MemberId origin{};
  bool post = false;  ///< sent after the token
  bool retransmission = false;
  Service service = Service::agreed;  ///< agreed or safe
  friend bool operator==(const Data&, const Data&) = default;
};

struct Join {
  std::uint64_t number{};  ///< grows with every JOIN of this incarnation
  ViewId committed{};      ///< highest view the sender ever entered Commit for; may be zero
  std::uint64_t view_number_max{};
  bool leaving = false;
  std::vector<MemberId> processes;  ///< sorted
  std::vector<MemberId> failed;     ///< sorted; a subset of `processes`, without the sender
  std::vector<MemberId> heard;      ///< sorted
  std::uint64_t list{};             ///< the list of nodes that the sender goes by
  friend bool operator==(const Join&, const Join&) = default;
};

// A COMMIT carries two parts of the protocol that orders in the view, as bytes of its own: options
// of the next view, which all members settle together, and a record in each old view, which its
// survivors do.

using CommitOptions = FixedVector<std::byte, kCommitOptionsMax>;

/// How these bytes are found and checked. The functions get bytes from the network, as long as the
/// format says. The defaults are those of a protocol without any bytes.
struct CommitFormat {
  std::size_t options_bytes = 0;
  /// A record begins with a head of fixed length, which says how long the tail is. In an old view
  /// the fields come first, then the counts, then the lists, so that the survivors stand between
  /// the head and the tail, and their count before the last `counts_bytes` of the head.
  std::size_t head_bytes = 0;
  std::size_t counts_bytes = 0;
  Drop (*check_options)(ByteView options) = [](ByteView) { return Drop::none; };
  Drop (*check_head)(ByteView head) = [](ByteView) { return Drop::none; };
  /// Nothing if a count in the head is above its maximum.
  std::optional<std::size_t> (*tail_bytes)(ByteView head) =
      [](ByteView) -> std::optional<std::size_t> { return 0; };
  Drop (*check_tail)(ByteView head, ByteView tail) = [](ByteView, ByteView) { return Drop::none; };

  constexpr bool is_sound() const {
    return options_bytes <= kCommitOptionsMax && head_bytes <= kRecordHeadMax &&
           counts_bytes <= head_bytes;
  }
};

/// What the survivors of one old view hold, folded together on the commit token.
struct OldView {
  ViewId view{};
  std::vector<MemberId> survivors;  ///< members of the new view that come from it; sorted, at least
                                    ///< one; nobody comes from two old views
  std::vector<std::byte> record;    ///< of the protocol: head and tail of its CommitFormat
  friend bool operator==(const OldView&, const OldView&) = default;
};

struct Commit {
  ViewId view{};
  std::vector<MemberId> members;   ///< sorted, 1 to kMembersMax
  std::uint32_t hops{};            ///< 0 to 2n
  CommitOptions options;           ///< of the protocol, as long as its CommitFormat says
  std::vector<OldView> old_views;  ///< distinct views
  std::uint64_t list{};            ///< the list of nodes that all members go by
  friend bool operator==(const Commit&, const Commit&) = default;
};

struct ProbeFrame {
  ViewId view{};
  std::vector<MemberId> heard;  ///< sorted
  std::uint64_t list{};         ///< as in a JOIN
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

// Decoding. `decode_header` checks magic, version, kind, length and checksum of a whole packet; the
// others decode a packet whose header has been checked, and check everything that the struct's
// comments say. Each returns Drop::none and fills `out`, or the reason; `out` is then unspecified.
// Decoders of Token and Data do not allocate.
[[nodiscard]] Drop decode_header(ByteView packet, Header& out,
                                 Checksum expected = Checksum::present);
[[nodiscard]] Drop decode_token(ByteView packet, Token& out);
[[nodiscard]] Drop decode_data(ByteView packet, Data& out);  ///< unit: packet from kDataHeaderBytes
[[nodiscard]] Drop decode_join(ByteView packet, Join& out);
[[nodiscard]] Drop decode_commit(ByteView packet, const CommitFormat& format, Commit& out);
[[nodiscard]] Drop decode_probe(ByteView packet, ProbeFrame& out);
[[nodiscard]] Drop decode_hold_cancel(ByteView packet, HoldCancel& out);
[[nodiscard]] Drop decode_epoch_notice(ByteView packet, EpochNotice& out);

// Encoding writes a whole packet, header and checksum included, and returns its bytes; 0 if `out`
// is too small, a list longer than its maximum, or a part of a COMMIT not as long as its format
// says; in these cases nothing may be sent. The kind is
// the frame's, whatever `header` says. Encoders do not check the rules of the structs: who breaks
// one sends a packet that everybody drops.
[[nodiscard]] std::size_t encode_token(const Header& header, const Token& in, ByteSpan out);
[[nodiscard]] std::size_t encode_join(const Header& header, const Join& in, ByteSpan out);
[[nodiscard]] std::size_t encode_commit(const Header& header, const Commit& in,
                                        const CommitFormat& format, ByteSpan out);
[[nodiscard]] std::size_t encode_probe(const Header& header, const ProbeFrame& in, ByteSpan out);
[[nodiscard]] std::size_t encode_hold_cancel(const Header& header, const HoldCancel& in,
                                             ByteSpan out);
[[nodiscard]] std::size_t encode_epoch_notice(const Header& header, const EpochNotice& in,
                                              ByteSpan out);
/// Writes the kDataHeaderBytes in front of a unit that already stands in `packet` behind them.
void encode_data_in_place(const Header& header, const Data& in, ByteSpan packet);
/// Writes the kHeaderBytes with which a DATA packet of `packet_bytes` without a checksum begins.
/// The packet may be longer than a decoder accepts.
void write_data_header(const Header& header, std::uint32_t packet_bytes, ByteSpan out);

}  // namespace peal::wire
