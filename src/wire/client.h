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

// The records that a client and its daemon exchange, over a Unix socket or TLS.
//
// In both directions a record is: u32 length of the following bytes, u8 kind, body. Integers are
// little-endian. A name is a u8 length and that many bytes. A payload or text comes last and fills
// the rest of its record. docs/client-protocol.md gives every byte. Decoders accept any bytes: they
// give a record, or a reason to refuse the bytes. Every record has exactly one encoding.
//
// The client first sends `hello`. The daemon answers with `welcome` or `closing`. Then:
//
// - The client numbers its messages from 1 in each session, without gaps. `acked` carries a number:
//   all messages up to this number are acknowledged. Either an acknowledged message was delivered,
//   and every daemon of the view has the message; or the daemon has refused the message with
//   `refused` before. The client keeps messages until they are acknowledged. After it
//   resumes a session, a client may receive refusals that it has seen before.
// - The ordered records from the daemon are events (message, group_view, transitional, left, gap).
//   Events too are numbered from 1 in each session. Their numbers are not on the wire: both sides
//   count the events. `seen` carries the number of the last event that the client has; the daemon
//   keeps later events.
// - A session outlives its connection for the time agreed in hello and welcome. A client that
//   reconnects sends the session's token and the number of the last event that it has. The daemon
//   answers with the number of the last message that it has. Both sides continue after these
//   numbers.

namespace peal::wire {

inline constexpr std::uint16_t kClientVersion = 1;
inline constexpr std::size_t kRecordHeaderBytes = 5;
/// Largest `length` that a daemon accepts before it has sent `welcome`.
inline constexpr std::uint32_t kHelloLengthMax = 1'024;
/// Largest `length` of a client's record without payload.
inline constexpr std::uint32_t kRequestLengthMax = 16'384;
inline constexpr std::size_t kSecretBytesMax = 256;
inline constexpr std::size_t kTextBytesMax = 4'096;
inline constexpr std::size_t kReplyTextBytesMax = 1U << 20;  ///< a reply to `ask` may be long
inline constexpr std::size_t kClientTargetsMax = 64;
inline constexpr std::size_t kClientNameMax = 128;  ///< bytes of a group or a private name
/// Blocks of shared memory, each with one event, begin at multiples of kSharedAlign: see
/// wire/shared.h.
inline constexpr std::uint32_t kSharedAlign = 64;
/// Maximum size of one record in shared memory in bytes, header included.
inline constexpr std::uint32_t kSharedRecordMax = (1U << 20) - 8;
/// Maximum total bytes of the records in shared memory that the daemon has announced to one client
/// and that the client has not yet acknowledged with `seen`.
inline constexpr std::uint32_t kSharedUnseenMax = 2U << 20;

enum class RecordKind : std::uint8_t {
  // From the client.
  hello = 1,
  join = 2,
  leave = 3,
  send = 4,
  seen = 5,
  goodbye = 6,  ///< the daemon acknowledges all earlier messages, then sends `closing`
  ask = 7,
  ping = 8,
  mapped = 9,  ///< the client has mapped the memory whose descriptor came with the welcome
  // From the daemon; the first five are events.
  message = 64,
  group_view = 65,
  transitional = 66,
  left = 67,
  gap = 68,
  shared = 69,  ///< stands for an event in shared memory: wire/shared.h
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

/// What the daemon does when a group member does not read its events fast enough.
enum class SlowPolicy : std::uint8_t {
  normal,  ///< the policy of the daemon's configuration
  block,   ///< all senders to the group wait for the member
  spill,   ///< excess events go to the daemon's disk and are delivered later, in order
  drop,    ///< excess messages are omitted, and a gap event replaces them
  evict,   ///< the daemon ends the session
};

/// Why the daemon refuses a request or ends a session.
enum class ClientCode : std::uint8_t {
  ok,
  bad_record,     ///< not a valid record, or a record that is not allowed now
  bad_version,    ///< the daemon has another version of the protocol
  bad_name,       ///< not a valid name of a group, client or target
  bad_secret,     ///< the daemon does not know the secret that identifies the client
  not_permitted,  ///< no rule of the daemon permits the request
  name_in_use,    ///< another client of this daemon has the name
  session_lost,   ///< the daemon does not know the session token, or no longer knows it
  member_already,
  no_member,
  too_large,   ///< the message is longer than the limit
  too_many,    ///< too many sessions, groups or targets
  over_quota,  ///< more bytes per second than the client may send
  slow,        ///< the client did not read its events fast enough
  silent,      ///< the client sent nothing for too long
  replaced,    ///< another connection resumed the session
  goodbye,     ///< the client sent goodbye
  evicted,     ///< an administrator ended the session
  shutdown,    ///< the daemon stops
  dropped,     ///< too many messages waited for views of groups, for all clients of the daemon
};
inline constexpr ClientCode kLastClientCode = ClientCode::dropped;
inline constexpr std::uint8_t kClientCodes = static_cast<std::uint8_t>(kLastClientCode) + 1;
/// The name of a code, such as "not_permitted", for logs and programs.
std::string_view client_code_name(ClientCode code);

/// Identifies a session, and is secret: its client sends the token to resume the session. All zero:
/// no session.
using SessionToken = std::array<std::byte, 16>;

// ---- from the client ----

struct Hello {
  std::uint16_t version = kClientVersion;
  std::string_view name;        ///< requested name; empty: the daemon chooses a name
  SessionToken session{};       ///< the session to resume
  std::uint64_t events_seen{};  ///< number of that session's last event that the client has
  std::uint32_t keep_ms{};      ///< how long the session may outlive a connection; 0: not at all
  bool shares = false;          ///< the client can read events from shared memory
  std::string_view secret;      ///< identifies a client that has no certificate
};

/// The limits of one membership; 0: the value of the daemon's configuration.
struct SlowLimits {
  SlowPolicy policy = SlowPolicy::normal;
  std::uint64_t memory_bytes{};  ///< limit of the events that wait in memory
  std::uint64_t disk_bytes{};    ///< limit of the events that wait on disk; `spill` only
  std::uint32_t age_ms{};        ///< limit of the age of the first unwritten event
};

struct JoinRequest {
  std::uint32_t request{};  ///< chosen by the client; the reply repeats it
  std::string_view group;
  SlowLimits limits;
};

struct LeaveRequest {
  std::uint32_t request{};
  std::string_view group;
};

struct SendRequest {
  std::uint64_t number{};  ///< the number of the previous message plus 1
  Service service = Service::agreed;
  std::uint16_t type{};  ///< for the application's own use
  /// The sender does not get the message.
  bool self_discard = false;
  FixedVector<std::string_view, kClientTargetsMax> targets;  ///< in any order; 1 to 64
  ByteView payload;
};

/// A query or command to the daemon: "status", "reload", … The daemon answers with a reply.
struct AskRequest {
  std::uint32_t request{};
  std::string_view what;  ///< 1 to kClientNameMax bytes
};

// ---- from the daemon ----

struct Welcome {
  std::uint16_t version = kClientVersion;
  SessionToken session{};
  bool resumed = false;   ///< the session named in the hello continues
  std::string_view name;  ///< the client's private name, "#NAME#NODE"
  std::string_view node;  ///< the daemon's node name
  std::string_view cluster;
  std::uint32_t message_bytes_max{};
  /// Maximum number of unacknowledged messages that the client may have sent.
  std::uint32_t unsettled_messages_max{};
  /// Maximum total payload bytes of unacknowledged messages.
  std::uint64_t unsettled_bytes_max{};
  /// The client's messages up to this number are acknowledged.
  std::uint64_t acked{};
  /// Number of the last message that the daemon has; the client continues with the next message.
  std::uint64_t received{};
  std::uint64_t events_next{};  ///< number of the next event
  std::uint32_t keep_ms{};      ///< how long the session may outlive a connection, as granted
  std::uint32_t ping_ms{};      ///< longest time between two records from the client; 0: no limit
  /// Bytes of shared memory for events; the memory's descriptor comes with this record. 0: no
  /// shared memory.
  std::uint32_t shared_bytes{};
};

/// A place in the order. The places of one client's events ascend by (view, position, index).
/// Messages without a place (order::Traits::causal) are no part of that order. They have position 0
/// and index 0.
struct Place {
  ViewId view{};
  std::uint64_t position{};
  std::uint32_t index{};
  constexpr bool has_position() const { return position != 0; }
  friend constexpr auto operator<=>(const Place&, const Place&) = default;
};

struct MessageEvent {
  Place place;
  /// Only for a message without a place; otherwise 0, and not in the record. It counts the messages
  /// of the sender's daemon. With `place.view` and `sender`, it identifies the message.
  std::uint64_t number{};
  Service service = Service::agreed;
  std::uint16_t type{};
  std::string_view sender;                                   ///< private name
  FixedVector<std::string_view, kClientTargetsMax> targets;  ///< sorted
  ByteView payload;
};

/// Why the members of a group changed.
enum class ViewCause : std::uint8_t { join, leave, disconnect, network };

struct GroupMember {
  std::string_view name;  ///< private name
  std::uint32_t set{};    ///< members with the same number came to this view together
};

struct GroupViewEvent {
  std::string_view group;
  ViewId view{};  ///< (view, index) identifies this state of the group at all members
  std::uint64_t index{};
  ViewCause cause{};
  ClientCode reason{};       ///< for a disconnect: goodbye, slow, silent, …; otherwise ok
  std::string_view changed;  ///< the client that joined, left or disconnected; empty for `network`
  std::uint32_t own_set{};   ///< `set` of the receiving client
  std::vector<GroupMember> members;
};

/// `transitional`: until the group's next view, the guarantees hold only among the members that
/// will have the receiver's `set` in that view. `left`: this is the client's last event of the
/// group.
struct GroupEvent {
  std::string_view group;
};

/// Why messages are missing.
enum class GapReason : std::uint8_t {
  slow,  ///< the daemon omitted the messages because the client was slow
  /// The messages were ordered in a view without the client's daemon, so their number is not known.
  away,
};

/// Messages of a group are missing at this place of the order. If the reason is `away`, the fields
/// from `messages` to `last` are zero. `first` and `last` are places of missing messages that have
/// one. If none of the missing messages has a place, both have position 0.
struct GapEvent {
  std::string_view group;    ///< empty: messages to the private name
  std::uint64_t messages{};  ///< number of missing messages
  std::uint64_t bytes{};
  Place first;
  Place last;
  GapReason reason{};
};

/// Stands for an event whose record lies in shared memory.
struct Shared {
  /// From the start of the memory to the generation in front of the record.
  std::uint32_t offset{};
  std::uint32_t bytes{};  ///< size of the record, header included
  /// Identifies the record: if the memory has another generation, the block was freed or reused.
  std::uint64_t generation{};
};

struct Acked {
  std::uint64_t number{};
};

struct Refused {
  std::uint64_t number{};
  ClientCode code{};
  std::string_view text;  ///< for people: what is wrong, which value, what to do
};

struct Reply {
  std::uint32_t request{};
  ClientCode code{};
  std::string_view text;  ///< the answer; or the reason of a refusal, for people
};

/// A membership has used at least half of one of its limits.
struct Warning {
  std::string_view group;  ///< empty: messages to the private name
  SlowPolicy policy{};
  std::uint64_t bytes{};
  std::uint64_t bytes_max{};
  std::uint32_t age_ms{};
  std::uint32_t age_max_ms{};  ///< 0: no limit
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

/// The first record in a buffer.
struct Framed {
  enum class State : std::uint8_t {
    incomplete,
    complete,
    bad_length,  ///< the length is 0 or above the maximum; the following bytes cannot be parsed
  };
  State state = State::incomplete;
  Record record;          ///< set if complete; its kind may be unknown
  std::size_t bytes = 0;  ///< size of the whole record, header included; 0: not yet known
};
/// `length_max` bounds the length field, which counts the kind and the body.
Framed next_record(ByteView bytes, std::uint64_t length_max);

// Each function decodes the body of a record of one kind. Strings and payloads in `out` point into
// `body`. If the result is not Drop::none, `out` is unspecified. Reasons: truncated,
// trailing_bytes, count_too_large, not_sorted, bad_value. For Hello and Welcome also bad_version;
// out.version is then valid. Decoders check the length of a name but not its characters.
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
[[nodiscard]] Drop decode(ByteView body, Acked& out);  ///< also for `seen`, `ping` and `pong`
[[nodiscard]] Drop decode(ByteView body, Refused& out);
[[nodiscard]] Drop decode(ByteView body, Reply& out);
[[nodiscard]] Drop decode(ByteView body, Warning& out);
[[nodiscard]] Drop decode(ByteView body, Closing& out);

// Each function appends one record, header included. `record` must be such that decode() accepts
// the result. A text that is too long is cut at a character boundary.
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
/// Appends the record without its payload; the caller appends the payload.
void append_head(std::vector<std::byte>& out, const MessageEvent& record);
/// Appends a record without a body: goodbye or mapped.
void append(std::vector<std::byte>& out, RecordKind kind);

}  // namespace peal::wire
