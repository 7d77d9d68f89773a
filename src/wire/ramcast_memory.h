// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/fixed_vector.h"
#include "base/ids.h"
#include "wire/paxos.h"

// The records that RamCast (src/order/ramcast) writes into the memory of other processes;
// docs/wire.md gives every byte. All integers are little-endian. A reader copies a record once and
// then decodes the copy, which may be a torn record, an older record of the same place, or any
// bytes. Each record begins with the CRC-32C of all its other bytes; no value of the checksum has a
// meaning of its own. Decoders accept any bytes, and do not allocate.

namespace peal::wire {

inline constexpr unsigned kDomainsMax = 15;         // domains of a cluster have numbers from 1 on
inline constexpr std::size_t kDomainNodesMax = 15;  // nodes of one domain

/// A set of domains: bit i for domain i. Bit 0 is never set.
using DomainBits = std::uint16_t;

/// A message's place among the messages that its sender sends to one domain, from 1, for each of
/// its domains in ascending order.
using MessageIndexes = FixedVector<std::uint64_t, kDomainsMax>;

/// Identifies a message. `number` counts all messages of the sender's incarnation, from 1.
struct MessageId {
  MemberId sender{};
  std::uint64_t number{};
  friend constexpr auto operator<=>(const MessageId&, const MessageId&) = default;
};

/// What all copies of a message say of it, whichever way they travel.
struct MessageHead {
  std::uint64_t number{};             ///< see MessageId
  DomainBits to{};                    ///< at least one domain
  MessageIndexes indexes;             ///< one for each domain of `to`
  Service service = Service::agreed;  ///< agreed or safe
  /// The message comes behind this key: the largest one that its sender delivered or was told.
  Seq after{};
  friend bool operator==(const MessageHead&, const MessageHead&) = default;
};

/// Number of domains in the set.
unsigned count_of(DomainBits domains);
/// The message's index in `domain`, which must be in `head.to`.
std::uint64_t index_in(const MessageHead& head, unsigned domain);

// A slot of M: a message in the sender's region of a server.

struct Slot {
  MessageHead head;
  /// All messages of the sender below this number are released by all their domains.
  std::uint64_t stable{};
  friend bool operator==(const Slot&, const Slot&) = default;
};
inline constexpr std::size_t kSlotFixedBytes = 48;
/// Bytes in front of the unit.
constexpr std::size_t slot_header_bytes(std::size_t domains) {
  return kSlotFixedBytes + 8 * domains;
}
inline constexpr std::size_t kSlotHeaderBytesMax = slot_header_bytes(kDomainsMax);

/// Writes a slot for a server of `domain`. Returns its size; 0 if `out` is too small.
[[nodiscard]] std::size_t encode_slot(const Slot& in, unsigned domain, ByteView unit, ByteSpan out);
/// The index of a slot or a cell, or the number of a log entry, from its first 16 bytes, unchecked;
/// 0 if nothing was written there. Writers never change it in parts.
std::uint64_t peek_number(ByteView begin);
/// The size of the slot that begins with the bytes `begin`, which are at least kSlotFixedBytes. 0
/// if the slot does not seem to have the message with this index. The bytes are not checked
/// further.
std::size_t peek_slot(ByteView begin, std::uint64_t index);
/// Decodes a whole slot, which must have the message with this index in `domain`. Reasons: stale
/// (an earlier message), out_of_window (a later one), bad_checksum (torn or damaged), and the usual
/// ones for a record that breaks a rule. The unit begins at slot_header_bytes() of the indexes.
[[nodiscard]] Drop decode_slot(ByteView slot, std::uint64_t index, unsigned domain, Slot& out);

// An entry of O: the leader's log in the region of a member of its domain.

enum class LogKind : std::uint8_t {
  pad = 1,      ///< fills the end of the region; the entry behind it is at the region's begin
  base,         ///< a message that the leader's round begins with
  base_view,    ///< a view that the leader's round begins with
  base_sender,  ///< where a sender's messages continue behind the base
  base_end,     ///< the base is complete
  active,       ///< the base is held by a quorum: members may deliver
  proposal,     ///< the domain's timestamp of a message
  view,         ///< a new view of the domain, with its key
  commit,       ///< entries of messages to this domain alone, and views, have their keys
};

struct LogEntry {
  LogKind kind = LogKind::pad;
  /// Number of the entry in its round, from 1. All members' copies of an entry have one number. A
  /// pad has the number of the entry behind it.
  std::uint64_t number{};
  Round round{};
  MemberId sender{};  ///< base, proposal: of the message. base_sender: the sender
  MessageHead head;   ///< base, proposal: of the message
  /// base, proposal: the domain's timestamp as a key, or 0 (base only). view, base_view: the view's
  /// key. base_end: the leader's clock. base_sender: what is past of the sender's messages, and the
  /// base does not name, has no key above this one.
  Seq stamp{};
  /// base: the key, if the leader knows it, else 0. base_view: 0 if the view is committed, else the
  /// number of the entry with which it commits. base_end: number of the entry that
  /// follows the base. base_sender: the sender's messages below this index in the domain are
  /// delivered, or are part of the base. commit: all entries up to this number.
  Seq key{};
  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};
/// Entries begin at multiples of this, and their sizes are multiples of it.
inline constexpr std::size_t kLogAlign = 8;
inline constexpr std::size_t kLogFixedBytes = 96;
constexpr std::size_t log_entry_bytes(std::size_t domains, std::size_t unit) {
  return (kLogFixedBytes + 8 * domains + unit + kLogAlign - 1) / kLogAlign * kLogAlign;
}

/// Writes an entry. `unit`: the message's unit, or empty if the entry does not contain it; for a
/// view, its record (ramcast.h); for base_end, the view that the base begins in. `seed`: equal for
/// all entries of a round; bytes of a unit are then no entry, whoever chose them.
[[nodiscard]] std::size_t encode_log_entry(const LogEntry& in, ByteView unit, std::uint32_t seed,
                                           ByteSpan out);
/// Writes a pad of `bytes` bytes, a multiple of kLogAlign and at least kLogFixedBytes.
void encode_log_pad(std::uint64_t number, const Round& round, std::uint32_t seed, ByteSpan out);
/// What an entry names, for observers: unchecked bytes, of which there are at least kLogFixedBytes.
struct NamedEntry {
  std::size_t bytes{};  ///< the size of the entry; 0 if no entry begins like this
  LogKind kind = LogKind::pad;
  MessageId message{};  ///< base, proposal. base_sender: only the sender
  Seq key{};            ///< see LogEntry
};
NamedEntry peek_log_names(ByteView begin);
/// The size of the entry that begins with the bytes `begin`, which are at least 16. 0 if it does
/// not seem to have this number.
std::size_t peek_log_entry(ByteView begin, std::uint64_t number);
/// Decodes a whole entry, which must have this number and round. Reasons as for decode_slot(), and
/// foreign (another round). `unit` refers to bytes of `entry`.
[[nodiscard]] Drop decode_log_entry(ByteView entry, std::uint64_t number, const Round& round,
                                    std::uint32_t seed, LogEntry& out, ByteView& unit);

// A cell of a server's table at another server: what the writer says of one message. X and A of the
// specification in one.

struct Cell {
  std::uint64_t index{};         ///< of the message, in the domain of the cell's owner
  std::uint64_t sender_epoch{};  ///< the incarnation of the message's sender
  std::uint64_t number{};        ///< of the message; see MessageId
  /// The writer's domain has the timestamp `stamp` for the message, in this round. No round: the
  /// writer does not know a timestamp of its current round.
  Round round{};
  Seq stamp{};
  /// The writer acknowledges the timestamps of all domains with this digest; they give the key
  /// `key`.
  bool acknowledged = false;
  /// The message has the key `key`.
  bool committed = false;
  std::uint64_t digest{};  ///< 0 without acknowledgement
  Seq key{};               ///< 0 if neither acknowledged nor committed
  /// Only of a leader that acknowledges: its last log entry, and its clock. All later proposals of
  /// its round are above the clock. 0 for others.
  std::uint64_t mark_entry{};
  std::uint64_t mark_clock{};
  friend bool operator==(const Cell&, const Cell&) = default;
};
inline constexpr std::size_t kCellBytes = 96;

void encode_cell(const Cell& in, ByteSpan out);
/// The message of a cell or a slot, for observers: unchecked bytes. A slot does not tell its
/// sender's incarnation (0); a cell that was never written has number 0.
struct NamedMessage {
  std::uint64_t sender_epoch{};
  std::uint64_t number{};
};
NamedMessage peek_cell_message(ByteView cell);
NamedMessage peek_slot_message(ByteView slot);
/// The checksum field: it shows whether the cell has changed since an earlier look.
std::uint32_t peek_cell(ByteView cell);
/// Whether a cell that begins with these kCellFrontBytes seems to be of the message with this
/// index.
inline constexpr std::size_t kCellFrontBytes = 16;
bool is_cell_of(ByteView front, std::uint64_t index);
/// Decodes a cell of the message with this index, number and sender. Reasons: stale (an earlier
/// message), out_of_window (a later one), foreign (of another incarnation), bad_checksum,
/// bad_value.
[[nodiscard]] Drop decode_cell(ByteView cell, std::uint64_t index, const MessageId& message,
                               Cell& out);

// The cell of C: a server's state, for the other servers of its domain.

struct Control {
  std::uint64_t beat{};   ///< grows with each write of the cell
  Round promised{};       ///< none: the server has promised nothing yet
  std::uint64_t entry{};  ///< last log entry that the server has processed, in round `promised`
  std::uint64_t bytes{};  ///< bytes of its region O that it has processed, since the last grant
  std::uint64_t grant{};  ///< number of that grant
  Seq delivered{};        ///< largest key that the server has delivered
  /// All members of the view with the key `released_in` have delivered what is up to this key; at
  /// most `delivered`.
  Seq released{};
  Seq released_in{};
  std::uint64_t mark_entry{};  ///< of a leader: see Cell
  std::uint64_t mark_clock{};
  std::uint16_t missing{};  ///< bit i: the i-th node of the domain is not heard
  bool active = false;      ///< the server may deliver
  bool full = false;        ///< the server's application takes nothing now
  bool outside = false;     ///< the server is in no view, and owes nothing to an earlier one
  /// The server can keep no more messages that members may lack: it does not read on in its log.
  bool waits = false;
  friend bool operator==(const Control&, const Control&) = default;
};
inline constexpr std::size_t kControlBytes = 112;

void encode_control(const Control& in, ByteSpan out);
/// The field `beat`, unchecked.
std::uint64_t peek_beat(ByteView cell);
[[nodiscard]] Drop decode_control(ByteView cell, Control& out);

// H: what a server tells a sender. A header, and a reply for each of the sender's slots.

struct SenderRelease {
  std::uint64_t index{};  ///< the sender's messages to the domain up to this index are released
  Seq delivered{};        ///< largest key that the server has delivered
  friend bool operator==(const SenderRelease&, const SenderRelease&) = default;
};
inline constexpr std::size_t kReleaseBytes = 24;
struct SenderReply {
  std::uint64_t number{};  ///< of the sender's message
  Seq key{};               ///< its key, at least 1
  friend bool operator==(const SenderReply&, const SenderReply&) = default;
};
inline constexpr std::size_t kReplyBytes = 24;

void encode_release(const SenderRelease& in, ByteSpan out);
[[nodiscard]] Drop decode_release(ByteView cell, SenderRelease& out);
void encode_reply(const SenderReply& in, ByteSpan out);
/// The field `number`, unchecked.
std::uint64_t peek_reply(ByteView cell);
/// Reasons: stale, out_of_window (another message's reply), bad_checksum, bad_value.
[[nodiscard]] Drop decode_reply(ByteView cell, std::uint64_t number, SenderReply& out);

}  // namespace peal::wire
