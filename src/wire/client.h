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
// In both directions a record is: u32 length of what follows, u8 kind, body. Integers are
// little-endian. A name is a u8 length and that many bytes. A payload or text comes last and fills
// the rest of its record. docs/client-protocol.md gives every byte. Decoders are total: any bytes
// give a record or a reason to refuse them. Every record has exactly one encoding.
//
// The client speaks first, with `hello`; the daemon answers `welcome` or `closing`. Then:
//
// - The client numbers its messages from 1 in each session, without gaps. `acked` carries a number:
//   all messages up to it are acknowledged. An acknowledged message either has its place in the
//   order and every daemon of the view has it, or the daemon has sent `refused` for it before. The
//   client keeps messages until they are acknowledged. After it resumes a session, a client may
//   receive refusals that it has seen before.
// - The ordered records from the daemon are events (message, group_view, transitional, left, gap).
//   They too are numbered from 1 in each session, but the number is not on the wire: each event has
//   the next number. `seen` carries the number of the last event that the client has; the daemon
//   keeps later events.
// - A session outlives its connection for the time agreed in hello and welcome. A client that
//   reconnects sends the session's token and the number of events it has. The daemon answers with
//   the number of messages it has, and both sides continue from there.

namespace peal::wire {

inline constexpr std::uint16_t kClientVersion = 1;
inline constexpr std::size_t kRecordHeaderBytes = 5;
/// Largest `length` that a daemon accepts before it has sent `welcome`.
inline constexpr std::uint32_t kHelloLengthMax = 1'024;
/// Largest `length` of a client's record, payload not counted.
inline constexpr std::uint32_t kRequestLengthMax = 16'384;
inline constexpr std::size_t kSecretBytesMax = 256;
inline constexpr std::size_t kTextBytesMax = 4'096;
inline constexpr std::size_t kReplyTextBytesMax = 1U << 20;  ///< a reply to `ask` may be long
inline constexpr std::size_t kClientTargetsMax = 64;
inline constexpr std::size_t kClientNameMax = 128;  ///< bytes of a group or a private name
/// Blocks of shared memory, each with one event, begin at multiples of this: see wire/shared.h.
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
  normal,  ///< as the daemon's configuration says
  block,   ///< all senders to the group wait for the member
  spill,   ///< excess events go to the daemon's disk and are delivered later, in order
  drop,    ///< excess messages are omitted, and a gap event says so
  evict,   ///< the daemon ends the session
};

/// Why the daemon refuses a request or ends a session.
enum class ClientCode : std::uint8_t {
  ok,
  bad_record,     ///< not a record, or a record that is not allowed now
  bad_version,    ///< the daemon speaks another version of the protocol
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
  slow,        ///< the client did not read its events fast enough (policies evict, spill, block)
  silent,      ///< the client sent nothing for too long
  replaced,    ///< another connection resumed the session
  goodbye,     ///< the client said goodbye
  evicted,     ///< an administrator ended the session
  shutdown,    ///< the daemon stops
};
inline constexpr std::uint8_t kClientCodes = 19;
/// The name of a code, such as "not_permitted", for logs and programs.
std::string_view client_code_name(ClientCode code);

/// Identifies a session; whoever presents it may resume the session. All zero: no session.
using SessionToken = std::array<std::byte, 16>;

// ---- from the client ----

struct Hello {
  std::uint16_t version = kClientVersion;
  std::string_view name;        ///< requested; empty: the daemon chooses one
  SessionToken session{};       ///< the session to resume
  std::uint64_t events_seen{};  ///< number of the last event that the client has of that session
  std::uint32_t keep_ms{};      ///< how long the session may outlive a connection; 0: not at all
  bool shares = false;          ///< the client can read events from shared memory
  std::string_view secret;      ///< identifies a client that has no certificate
};

/// The limits of one membership; 0 means the value of the daemon's configuration.
struct SlowLimits {
  SlowPolicy policy = SlowPolicy::normal;
  std::uint64_t memory_bytes{};  ///< of events that wait for the client in memory
  std::uint64_t disk_bytes{};    ///< of events that wait on disk; `spill` only
  std::uint32_t age_ms{};        ///< age of the oldest waiting event
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
  std::uint64_t number{};  ///< one more than that of the previous message
  Service service = Service::agreed;
  std::uint16_t type{};                                      ///< for the application's own use
  bool self_discard = false;                                 ///< the sender does not get the
                                                             ///< message
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
  std::uint32_t unsettled_messages_max{};  ///< maximum number of messages that the client may have
                                           ///< sent without an acknowledgement
  std::uint64_t unsettled_bytes_max{};     ///< maximum total bytes of these messages' payloads
  std::uint64_t acked{};                   ///< the client's messages up to this number are
                                           ///< acknowledged
  std::uint64_t received{};     ///< number of the last message that the daemon has; the client
                                ///< continues with the next
  std::uint64_t events_next{};  ///< number of the next event
  std::uint32_t keep_ms{};      ///< how long the session may outlive a connection, as granted
  std::uint32_t ping_ms{};      ///< longest time between two records from the client; 0: no limit
  /// Bytes of shared memory for events; the memory's descriptor comes with this record. 0: no
  /// shared memory.
  std::uint32_t shared_bytes{};
};

/// A place in the order. The places of one client's events ascend by (view, position, index).
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

/// Why the members of a group changed.
enum class ViewCause : std::uint8_t { join, leave, disconnect, network };

struct GroupMember {
  std::string_view name;  ///< private name
  std::uint32_t set{};    ///< members with equal numbers came to this view together
};

struct GroupViewEvent {
  std::string_view group;
  ViewId view{};  ///< (view, index) names this state of the group, equally at all members
  std::uint64_t index{};
  ViewCause cause{};
  ClientCode reason{};       ///< for a disconnect: goodbye, slow, silent, …; else ok
  std::string_view changed;  ///< the client that joined, left or disconnected; empty for `network`
  std::uint32_t own_set{};   ///< `set` of the receiving client
  std::vector<GroupMember> members;
};

/// `transitional`: until the group's next view, guarantees hold only among the members that have
/// the receiver's `set` in that next view. `left`: the last event that the client gets for that
/// group.
struct GroupEvent {
  std::string_view group;
};

/// Why messages are missing.
enum class GapReason : std::uint8_t {
  slow,  ///< the daemon omitted them because the client did not keep up
  away,  ///< ordered in a view without this client's daemon, which cannot know how many
};

/// Messages of a group are missing at this place of the order.
struct GapEvent {
  std::string_view group;    ///< empty: messages to the private name
  std::uint64_t messages{};  ///< this and the following fields are 0 if the reason is `away`
  std::uint64_t bytes{};
  Place first;
  Place last;
  GapReason reason{};
};

/// Stands for an event whose record lies in shared memory.
struct Shared {
  std::uint32_t offset{};      ///< from the start of the memory to the generation that precedes the
                               ///< record
  std::uint32_t bytes{};       ///< of the record, header included
  std::uint64_t generation{};  ///< identifies the record; if the memory has another generation, the
                               ///< block was freed or reused
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
  std::string_view text;  ///< the answer, or for a person the reason of the refusal
};

/// Half of a limit of a membership is used up.
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

/// The first record in some bytes.
struct Framed {
  enum class State : std::uint8_t {
    incomplete,
    complete,
    bad_length,  ///< the length is 0 or above the maximum; the following bytes cannot be parsed
  };
  State state = State::incomplete;
  Record record;          ///< if complete; its kind may be unknown
  std::size_t bytes = 0;  ///< of the whole record, header included; 0 if not yet known
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
/// Appends all of the record but its payload; the caller appends the payload.
void append_head(std::vector<std::byte>& out, const MessageEvent& record);
/// For a kind without a body: goodbye, mapped.
void append(std::vector<std::byte>& out, RecordKind kind);

}  // namespace peal::wire
