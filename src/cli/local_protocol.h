// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "cli/order_digest.h"

// What `peal send`, `peal recv` and `peal status` say to a running node on its Unix socket.
//
// Both directions are records: u32 length of what follows, u8 kind, body. Little-endian. A
// connection starts with one `hello` from each side. A record that makes no sense closes the
// connection, with the reason, and nothing else. docs/local-protocol.md gives every byte.

namespace peal::cli {

inline constexpr std::uint32_t kLocalVersion = 2;
inline constexpr std::size_t kRecordHeaderBytes = 5;
/// The greatest body of a request other than `send`.
inline constexpr std::uint32_t kSmallBodyMax = 64;
/// The greatest body that a client takes from a node.
inline constexpr std::uint32_t kReplyBodyMax = 1'100'000'000;

enum class RecordKind : std::uint8_t {
  // client to node
  hello = 1,      ///< u32 version
  send = 2,       ///< u8 service (2 agreed, 3 safe), payload
  subscribe = 3,  ///< empty; answered by the current view, then everything that is delivered
  status = 4,     ///< empty; answered by status_reply
  // node to client
  welcome = 65,       ///< see Welcome
  ordered = 66,       ///< u64: how many of this connection's messages have been delivered here
  message = 67,       ///< see MessageRecord
  view = 68,          ///< see ViewRecord
  status_reply = 69,  ///< JSON text
  closing = 70,       ///< text: why the node closes this connection
};

/// One record as it lies in a buffer; `body` points into it.
struct Record {
  RecordKind kind{};
  ByteView body;
};

/// The first record in `bytes`.
struct Framed {
  enum class State : std::uint8_t { incomplete, complete, too_long } state = State::incomplete;
  Record record;          ///< if complete
  std::size_t bytes = 0;  ///< of the whole record, as far as it is known: 0 or the length
};
/// `send_body_max` bounds the body of a `send`; `body_max` all others.
Framed next_record(ByteView bytes, std::uint64_t body_max, std::uint64_t send_body_max);

// Members and views are named as in the public API: "a.210987654321", "12@a.210987654321".

struct Welcome {
  std::uint32_t message_bytes_max{};
  std::string cluster;
  std::string node;  ///< name
};

struct MessageRecord {
  std::string_view sender;
  std::uint64_t number{};
  std::string_view view;  ///< the regular view that ordered it
  bool transitional = false;
  std::uint64_t position{};
  std::uint32_t index{};
  Service service = Service::agreed;
  ByteView payload;
};

struct ViewRecord {
  bool transitional = false;
  std::optional<bool> primary;
  std::string id;   ///< of a transitional one, the next regular view
  std::string old;  ///< the regular view before; may be empty
  std::vector<std::string> members;
  std::string reason;  ///< why the view before ended
  OrderDigest digest;  ///< of what has been delivered in this view so far
};

/// Appends one record.
void append_record(std::vector<std::byte>& out, RecordKind kind, ByteView body);
void append_hello(std::vector<std::byte>& out);
void append_send(std::vector<std::byte>& out, Service service, ByteView payload);
void append_ordered(std::vector<std::byte>& out, std::uint64_t count);
void append_welcome(std::vector<std::byte>& out, const Welcome& welcome);
void append_message(std::vector<std::byte>& out, const MessageRecord& message);
void append_view(std::vector<std::byte>& out, const ViewRecord& view);

/// The body of a record; no value if it makes no sense.
std::optional<std::uint32_t> parse_hello(ByteView body);
struct SendRequest {
  Service service{};
  ByteView payload;
};
std::optional<SendRequest> parse_send(ByteView body);
std::optional<std::uint64_t> parse_ordered(ByteView body);
std::optional<Welcome> parse_welcome(ByteView body);
std::optional<MessageRecord> parse_message(ByteView body);
std::optional<ViewRecord> parse_view(ByteView body);

}  // namespace peal::cli
