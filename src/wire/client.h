// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/fixed_vector.h"
#include "base/ids.h"
#include "wire/frames.h"

// What a client and its daemon say to each other, on a Unix socket or inside TLS.
//
// Both directions are records: u32 length of what follows, u8 kind, body. Integers are
// little-endian. A name is a u8 length and so many bytes; payloads and texts are last and take the
// rest of their record. docs/client-protocol.md gives every
// byte. Decoders are total: any bytes give a record or a reason to refuse them, and every record
// has exactly one encoding.
//
// The client speaks first, with `hello`; the daemon answers `welcome` or `closing`. Then:
//
// - What the client sends is numbered from 1 in each session, without gaps. `acked` says up to
//   which number all is settled: each message has its place in the order and every daemon of the
//   view has it, or it was refused, and `refused` came before. The client keeps what is not
//   settled. Who goes on with a session may be told of refusals that it knows already.
// - What the daemon tells in order are events (message, group_view, transitional, left, gap). They
//   are numbered from 1 in each session too, but the number is not written: the next event is the
//   one after the last. `seen` says up to which event the client has them; the daemon keeps the
//   rest.
// - A session outlives its connection for as long as was agreed in hello and welcome. A client that
//   comes back with the session's token says how many events it has, and is told how many of its
//   messages the daemon has; both go on from there.

namespace peal::wire {

inline constexpr std::uint16_t kClientVersion = 1;
inline constexpr std::size_t kRecordHeaderBytes = 5;
/// Longest `length` that a daemon takes from a client that is not welcome yet.
inline constexpr std::uint32_t kHelloLengthMax = 1'024;
/// Longest `length` of a record of a client, but for what its payload has.
inline constexpr std::uint32_t kRequestLengthMax = 16'384;
inline constexpr std::size_t kSecretBytesMax = 256;
inline constexpr std::size_t kTextBytesMax = 4'096;
inline constexpr std::size_t kReplyTextBytesMax = 1U << 20;  ///< an answer may be long
inline constexpr std::size_t kClientTargetsMax = 64;
inline constexpr std::size_t kClientNameMax = 128;  ///< bytes of a group or a private name
/// Where an event may lie in shared memory: a multiple of this.
inline constexpr std::uint32_t kSharedAlign = 64;
/// Of one record there, header included.
inline constexpr std::uint32_t kSharedRecordMax = (1U << 20) - 8;
/// Of the records there that a client was told of and has not said to have seen, in sum.
inline constexpr std::uint32_t kSharedUnseenMax = 2U << 20;

enum class RecordKind : std::uint8_t {
  // Of the client.
  hello = 1,
  join = 2,
  leave = 3,
  send = 4,
  seen = 5,
  goodbye = 6,  ///< everything sent before is settled first; then the daemon says `closing`
  ask = 7,
  ping = 8,
  mapped = 9,  ///< the memory whose descriptor came with the welcome can be read
  // Of the daemon; the first five are events.
  message = 64,
  group_view = 65,
  transitional = 66,
  left = 67,
  gap = 68,
  shared = 69,  ///< stands for an event, which lies in memory: wire/shared.h
  welcome = 80,
  acked = 81,
  refused = 82,
  reply = 83,
  warning = 84,
  closing = 85,
  pong = 86,
};
constexpr bool is_event(RecordKind kind) {
  return kind >= RecordKind::message && kind <= RecordKind::gap;
}

/// What happens to a member of a group that does not take what it is sent.
enum class SlowPolicy : std::uint8_t {
  normal,  ///< what the daemon's configuration says
  block,   ///< everybody who sends waits for it
  spill,   ///< what is too much goes to the daemon's disk, and comes back in order
  drop,    ///< what is too much is left out, and a gap says so
  evict,   ///< the session ends
};

/// Why a wish was not fulfilled, or a session ends.
enum class ClientCode : std::uint8_t {
  ok,
  bad_record,     ///< bytes that are no record, or one that is not due now
  bad_version,    ///< the daemon speaks another version
  bad_name,       ///< no name of a group, a client or a target
  bad_secret,     ///< the token that identifies the client is not known
  not_permitted,  ///< no rule allows it
  name_in_use,    ///< another client of this daemon has the name
  session_lost,   ///< the token of the session is not known (any more)
  member_already,
  no_member,
  too_large,   ///< the message is longer than any may be
  too_many,    ///< sessions, groups or targets
  over_quota,  ///< more bytes per second than the client may send
  slow,        ///< the client did not take what it was sent (policies evict, spill, block)
  silent,      ///< nothing was heard of the client for too long
  replaced,    ///< the session goes on through another connection
  goodbye,     ///< the client said so
  evicted,     ///< an administrator ended the session
  shutdown,    ///< the daemon stops
};
inline constexpr std::uint8_t kClientCodes = 19;
/// "slow", "not_permitted": for logs and programs.
std::string_view client_code_name(ClientCode code);

/// Names a session, and proves that whoever has it may go on with it. All zero: none.
using SessionToken = std::array<std::byte, 16>;

// ---- of the client ----

struct Hello {
  std::uint16_t version = kClientVersion;
  std::string_view name;        ///< wished for; empty: the daemon makes one
  SessionToken session{};       ///< to go on with
  std::uint64_t events_seen{};  ///< of that session
  std::uint32_t keep_ms{};      ///< how long the session may outlive a connection; 0: not at all
  bool shares = false;          ///< takes memory in which to read events, if there is any
  std::string_view secret;      ///< identifies the client where a certificate does not
};

/// The limits of one membership; 0 stands for what the daemon's configuration says.
struct SlowLimits {
  SlowPolicy policy = SlowPolicy::normal;
  std::uint64_t memory_bytes{};  ///< that wait for the client in memory
  std::uint64_t disk_bytes{};    ///< and on disk; `spill` only
  std::uint32_t age_ms{};        ///< of the oldest that waits
};

struct JoinRequest {
  std::uint32_t request{};  ///< chosen by the client; the reply has the same
  std::string_view group;
  SlowLimits limits;
};

struct LeaveRequest {
  std::uint32_t request{};
  std::string_view group;
};

struct SendRequest {
  std::uint64_t number{};  ///< one more than that of the message before
  Service service = Service::agreed;
  std::uint16_t type{};                                      ///< the application's own
  bool self_discard = false;                                 ///< not to its sender
  FixedVector<std::string_view, kClientTargetsMax> targets;  ///< in any order; 1 to 64
  ByteView payload;
};

/// A question or command to the daemon: "status", "reload", … Answered by a reply with a text.
struct AskRequest {
  std::uint32_t request{};
  std::string_view what;  ///< a name
};

// ---- of the daemon ----

struct Welcome {
  std::uint16_t version = kClientVersion;
  SessionToken session{};
  bool resumed = false;   ///< the session of the hello goes on
  std::string_view name;  ///< the client's private name, "#NAME#NODE"
  std::string_view node;  ///< the daemon's
  std::string_view cluster;
  std::uint32_t message_bytes_max{};
  std::uint32_t unsettled_messages_max{};  ///< that the client may have sent and not seen acked
  std::uint64_t unsettled_bytes_max{};     ///< their payloads
  std::uint64_t acked{};                   ///< as in `acked`
  std::uint64_t received{};     ///< the last message that the daemon has: go on with the next
  std::uint64_t events_next{};  ///< number of the event that comes next
  std::uint32_t keep_ms{};      ///< as granted
  std::uint32_t ping_ms{};      ///< say something this often; 0: not needed on this connection
  /// Bytes of memory in which events may lie; its descriptor comes with this record. 0: none.
  std::uint32_t shared_bytes{};
};

/// A place in the order: ascending in (view, position, index) in what one client is told.
struct Place {
  ViewId view{};
  std::uint64_t position{};
  std::uint32_t index{};
  friend constexpr auto operator<=>(const Place&, const Place&) = default;
};

struct MessageEvent {
  Place place;
  Service service = Service::agreed;
  std::uint16_t type{};
  std::string_view sender;                                   ///< private name
  FixedVector<std::string_view, kClientTargetsMax> targets;  ///< sorted
  ByteView payload;
};

/// Why a group has other members than before.
enum class ViewCause : std::uint8_t { join, leave, disconnect, network };

struct GroupMember {
  std::string_view name;  ///< private name
  std::uint32_t set{};    ///< members with the same number came to this view together
};

struct GroupViewEvent {
  std::string_view group;
  ViewId view{};  ///< with `index`, names this state of the group: equal at all members
  std::uint64_t index{};
  ViewCause cause{};
  ClientCode reason{};       ///< of a disconnect: goodbye, slow, silent, …; else ok
  std::string_view changed;  ///< who joined, left or disconnected; empty for `network`
  std::uint32_t own_set{};   ///< the set of whoever is told
  std::vector<GroupMember> members;
};

/// `transitional`: until the next view of the group, promises hold among the receiver's next set.
/// `left`: the last event of that group.
struct GroupEvent {
  std::string_view group;
};

/// Why messages are missing.
enum class GapReason : std::uint8_t {
  slow,  ///< they were left out, since the client did not keep up
  away,  ///< they were ordered where its daemon was not: how many, nobody here knows
};

/// Messages of a group that are missing at this place.
struct GapEvent {
  std::string_view group;    ///< empty: messages to the private name
  std::uint64_t messages{};  ///< this and the rest: 0 if the reason is `away`
  std::uint64_t bytes{};
  Place first;
  Place last;
  GapReason reason{};
};

/// An event that lies in memory: as the record that would stand here else.
struct Shared {
  std::uint32_t offset{};      ///< of its generation, which stands before it; from the beginning
  std::uint32_t bytes{};       ///< of the record, header included
  std::uint64_t generation{};  ///< of those bytes; another one: they are something else by now
};

struct Acked {
  std::uint64_t number{};
};

struct Refused {
  std::uint64_t number{};
  ClientCode code{};
  std::string_view text;  ///< for a person: what, which value, what to do
};

struct Reply {
  std::uint32_t request{};
  ClientCode code{};
  std::string_view text;  ///< the answer, or for a person why not
};

/// A limit of a membership comes near: half of it is used up.
struct Warning {
  std::string_view group;  ///< empty: messages to the private name
  SlowPolicy policy{};
  std::uint64_t bytes{};
  std::uint64_t bytes_max{};
  std::uint32_t age_ms{};
  std::uint32_t age_max_ms{};  ///< 0: none
};

struct Closing {
  ClientCode code{};
  std::string_view text;
};

// ---- records in a stream ----

/// One record as it lies in a buffer.
struct Record {
  RecordKind kind{};
  ByteView body;
};

/// The first record in some bytes.
struct Framed {
  enum class State : std::uint8_t {
    incomplete,
    complete,
    bad_length,  ///< 0, or more than allowed: what follows cannot be read either
  };
  State state = State::incomplete;
  Record record;          ///< if complete; its kind may be an unknown one
  std::size_t bytes = 0;  ///< of the whole record, header included; 0 if not known yet
};
/// `length_max` bounds the length field, which counts the kind and the body.
Framed next_record(ByteView bytes, std::uint64_t length_max);

// Each decodes the body of a record of its kind; strings, payloads and views point into `body`. If
// the result is not Drop::none, `out` is unspecified. Reasons: truncated, trailing_bytes,
// count_too_large, not_sorted, bad_value, and bad_version of hello and welcome, whose `version`
// holds it then. That a name is a legal one is not checked here but for its length.
[[nodiscard]] Drop decode(ByteView body, Hello& out);
[[nodiscard]] Drop decode(ByteView body, JoinRequest& out);
[[nodiscard]] Drop decode(ByteView body, LeaveRequest& out);
[[nodiscard]] Drop decode(ByteView body, SendRequest& out);
[[nodiscard]] Drop decode(ByteView body, AskRequest& out);
[[nodiscard]] Drop decode(ByteView body, Welcome& out);
[[nodiscard]] Drop decode(ByteView body, MessageEvent& out);
[[nodiscard]] Drop decode(ByteView body, GroupViewEvent& out);
[[nodiscard]] Drop decode(ByteView body, GroupEvent& out);
[[nodiscard]] Drop decode(ByteView body, GapEvent& out);
[[nodiscard]] Drop decode(ByteView body, Shared& out);
[[nodiscard]] Drop decode(ByteView body, Acked& out);  ///< also of `seen`, `ping` and `pong`
[[nodiscard]] Drop decode(ByteView body, Refused& out);
[[nodiscard]] Drop decode(ByteView body, Reply& out);
[[nodiscard]] Drop decode(ByteView body, Warning& out);
[[nodiscard]] Drop decode(ByteView body, Closing& out);

// Each appends one record, header included; decode() must accept its body. Texts are cut to their
// largest length, at the end of a character.
void append(std::vector<std::byte>& out, const Hello& record);
void append(std::vector<std::byte>& out, const JoinRequest& record);
void append(std::vector<std::byte>& out, const LeaveRequest& record);
void append(std::vector<std::byte>& out, const SendRequest& record);
void append(std::vector<std::byte>& out, const AskRequest& record);
void append(std::vector<std::byte>& out, const Welcome& record);
void append(std::vector<std::byte>& out, const MessageEvent& record);
void append(std::vector<std::byte>& out, const GroupViewEvent& record);
void append(std::vector<std::byte>& out, RecordKind kind, const GroupEvent& record);
void append(std::vector<std::byte>& out, const GapEvent& record);
void append(std::vector<std::byte>& out, const Shared& record);
void append(std::vector<std::byte>& out, RecordKind kind, const Acked& record);
void append(std::vector<std::byte>& out, const Refused& record);
void append(std::vector<std::byte>& out, const Reply& record);
void append(std::vector<std::byte>& out, const Warning& record);
void append(std::vector<std::byte>& out, const Closing& record);
/// All of the record but its payload, which is to follow.
void append_head(std::vector<std::byte>& out, const MessageEvent& record);
/// Of a kind without a body: goodbye, mapped.
void append(std::vector<std::byte>& out, RecordKind kind);

}  // namespace peal::wire
