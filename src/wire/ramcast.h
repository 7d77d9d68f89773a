// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/fixed_vector.h"
#include "base/ids.h"
#include "wire/ramcast_memory.h"

// The frames of RamCast (src/order/ramcast), as checked structs; docs/wire.md gives every byte.
// These are the packets of rare occasions: connections between processes, changes of the leader,
// and repair. Everything else goes through memory (ramcast_memory.h). The rules of frames.h apply
// to decoders and encoders.

namespace peal::wire {

enum class RamcastKind : std::uint8_t {
  hello = kRamcastKindFirst,        ///< asks for a connection, and exposes memory to the receiver
  takeover,                         ///< a candidate asks a member for its memory and its state
  state,                            ///< the answer, in parts
  nack,                             ///< the answer of a member that has promised a higher round
  relay,                            ///< a message, by a node that has it
  pull,                             ///< asks for a message
  query,                            ///< asks what the receiver knows of a message
  answer,                           ///< the key of a message
  backlog_request,                  ///< an excluded member asks for what its last view owes to it
  backlog,                          ///< a delivery that it lacks
  backlog_view = kRamcastKindLast,  ///< a view that it lacks
};
constexpr FrameKind frame_kind(RamcastKind kind) { return static_cast<FrameKind>(kind); }

/// The sender has exposed to the receiver all regions that the receiver may write to.
struct MemoryHello {
  /// The receiver's incarnation to which the memory is exposed. None: the sender has not heard of
  /// the receiver yet.
  MemberId heard{};
  /// Between domains: number of a message, for which the connection is needed. It concerns both
  /// nodes, whoever sent it. 0: sender and receiver are nodes of one domain.
  std::uint64_t message{};
  bool answer = false;  ///< the sender knows that the receiver has exposed its memory
  friend bool operator==(const MemoryHello&, const MemoryHello&) = default;
};

/// The nodes of a domain that count, and those that are in its view.
struct DomainView {
  ViewId id{};  ///< its number is the key of the view; 0 before the first view
  /// The incarnations that count for quorums: one for each node of the domain that ever started,
  /// sorted, at most kDomainNodesMax.
  FixedVector<MemberId, kDomainNodesMax> roster;
  std::uint16_t members{};  ///< bit i: the i-th of `roster` is in the view
  Seq follows{};            ///< number of the view before this one; 0 for the first
  /// For each of `roster`: number of the last view before this one that it was in; 0 if there is
  /// none.
  FixedVector<Seq, kDomainNodesMax> last_in;
  friend bool operator==(const DomainView&, const DomainView&) = default;
};
inline constexpr std::size_t kDomainViewBytesMax = 20 + 2 + 2 + 8 + 20 * kDomainNodesMax;

/// As part of a log entry; its size is below kDomainViewBytesMax.
[[nodiscard]] std::size_t encode_domain_view(const DomainView& in, ByteSpan out);
[[nodiscard]] Drop decode_domain_view(ByteView bytes, DomainView& out);

struct Takeover {
  Round round{};
  std::uint32_t seed{};  ///< of the checksums of the round's log entries
  /// The order has not begun: the receiver joins this view's roster, or refuses.
  bool bootstrap = false;
  /// Expose a new region O, although the round is promised already: the receiver lags too far.
  std::uint64_t grant{};  ///< number of the grant that is asked for, from 1
  DomainView view;        ///< the latest view that the candidate knows
  friend bool operator==(const Takeover&, const Takeover&) = default;
};

/// What a member knows of a message that not all members of its domain have delivered.
struct StateRecord {
  MemberId sender{};
  MessageHead head;
  Seq stamp{};        ///< the domain's timestamp in the member's synchronized round, or 0
  Seq key{};          ///< or 0
  bool body = false;  ///< the member has the unit
  friend bool operator==(const StateRecord&, const StateRecord&) = default;
};

struct MemberState {
  Round round{};          ///< of the TAKEOVER
  std::uint64_t grant{};  ///< of the TAKEOVER; also the epoch of the region O
  Round synchronized{};   ///< the round whose base the member has completely; none before the first
  std::uint64_t clock{};
  Seq delivered{};          ///< largest key that the member has delivered
  DomainView view;          ///< the latest view that the member has delivered
  DomainView proposed;      ///< a later one that it has in its synchronized round; else number 0
  std::uint16_t part{};     ///< from 0
  std::uint16_t parts = 1;  ///< 1 to kStatePartsMax
  std::vector<StateRecord> records;  ///< at most kStateRecordsMax
  friend bool operator==(const MemberState&, const MemberState&) = default;
};
inline constexpr std::uint16_t kStatePartsMax = 65'000;
inline constexpr std::size_t kStateRecordsMax = 512;
/// Bytes of a record for so many domains.
constexpr std::size_t state_record_bytes(std::size_t domains) { return 48 + 8 * domains; }
inline constexpr std::size_t kStateFixedBytesMax =
    kHeaderBytes + 20 + 8 + 20 + 8 + 8 + 2 * kDomainViewBytesMax + 2 + 2 + 2;

struct Nack {
  Round round{};  ///< of the TAKEOVER
  /// The round is not above this one, or begins an order whose number is not higher; none if the
  /// roster is the reason, or if the sender has another order.
  Round promised{};
  friend bool operator==(const Nack&, const Nack&) = default;
};

/// RELAY: this header, then the unit.
struct MessageRelay {
  MemberId sender{};  ///< of the message
  MessageHead head;
  friend bool operator==(const MessageRelay&, const MessageRelay&) = default;
};
constexpr std::size_t relay_header_bytes(std::size_t domains) {
  return kHeaderBytes + 36 + 8 * domains;
}
inline constexpr std::size_t kMessageRelayBytesMax = relay_header_bytes(kDomainsMax);

/// PULL, QUERY and ANSWER.
struct AboutMessage {
  MessageId message{};
  Seq key{};  ///< ANSWER: the message's key, at least 1. PULL and QUERY: 0
  /// ANSWER: the round of the receiver's domain in which the key was found, or a later one; none if
  /// the sender does not know it. PULL and QUERY: none.
  Round round{};
  friend bool operator==(const AboutMessage&, const AboutMessage&) = default;
};

/// BACKLOG: this header, then the unit, unless the sender lacks it. The receiver, a member of the
/// domain that was excluded, has delivered everything up to the key `before`, and delivers this
/// message next.
struct Backlog {
  Seq before{};
  Seq key{};  ///< of the message; above `before`
  MessageRelay message;
  friend bool operator==(const Backlog&, const Backlog&) = default;
};
constexpr std::size_t backlog_header_bytes(std::size_t domains) {
  return relay_header_bytes(domains) + 16;
}
inline constexpr std::size_t kBacklogBytesMax = backlog_header_bytes(kDomainsMax);

struct BacklogRequest {
  Seq delivered{};  ///< the largest key that the sender has delivered
  friend bool operator==(const BacklogRequest&, const BacklogRequest&) = default;
};

/// As BACKLOG, with a view. Its number is above `before`.
struct BacklogView {
  Seq before{};
  DomainView view;
  friend bool operator==(const BacklogView&, const BacklogView&) = default;
};

[[nodiscard]] Drop decode_memory_hello(ByteView packet, MemoryHello& out);
[[nodiscard]] Drop decode_takeover(ByteView packet, Takeover& out);
[[nodiscard]] Drop decode_member_state(ByteView packet, MemberState& out);
[[nodiscard]] Drop decode_nack(ByteView packet, Nack& out);
[[nodiscard]] Drop decode_message_relay(ByteView packet, MessageRelay& out);  ///< then the unit
[[nodiscard]] Drop decode_about_message(ByteView packet, AboutMessage& out);
[[nodiscard]] Drop decode_backlog_request(ByteView packet, BacklogRequest& out);
[[nodiscard]] Drop decode_backlog(ByteView packet, Backlog& out);  ///< then the unit
[[nodiscard]] Drop decode_backlog_view(ByteView packet, BacklogView& out);

[[nodiscard]] std::size_t encode_memory_hello(const Header& header, const MemoryHello& in,
                                              ByteSpan out);
[[nodiscard]] std::size_t encode_takeover(const Header& header, const Takeover& in, ByteSpan out);
[[nodiscard]] std::size_t encode_member_state(const Header& header, const MemberState& in,
                                              ByteSpan out);
[[nodiscard]] std::size_t encode_nack(const Header& header, const Nack& in, ByteSpan out);
/// Writes the header of a RELAY into the first relay_header_bytes() of `packet`; the unit follows
/// them already.
void encode_message_relay_in_place(const Header& header, const MessageRelay& in, ByteSpan packet);
/// `kind`: pull, query or answer.
[[nodiscard]] std::size_t encode_about_message(const Header& header, RamcastKind kind,
                                               const AboutMessage& in, ByteSpan out);
[[nodiscard]] std::size_t encode_backlog_request(const Header& header, const BacklogRequest& in,
                                                 ByteSpan out);
/// Writes the header of a BACKLOG in front of the unit, as encode_message_relay_in_place() does.
void encode_backlog_in_place(const Header& header, const Backlog& in, ByteSpan packet);
[[nodiscard]] std::size_t encode_backlog_view(const Header& header, const BacklogView& in,
                                              ByteSpan out);

}  // namespace peal::wire
