// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "client/inbox.h"
#include "client/outbox.h"
#include "client/requests.h"
#include "wire/client.h"

// The client's side of a session, without a socket, a clock or a thread. The caller passes in the
// bytes that a connection received, and fetches the bytes that are to be written. The caller takes
// the items for the application in order.

namespace peal::client {

struct SessionOptions {
  std::string name;
  std::string secret;
  std::uint32_t keep_ms = 0;
  std::uint64_t receive_bytes_max = 1;
  bool shares = false;  ///< the client can read events from memory that the daemon shares
};

/// The terms of the session, from the daemon's welcome.
struct Terms {
  bool welcomed = false;  ///< false: the fields below are not known yet
  wire::SessionToken token{};
  std::string name;
  std::string node;
  std::string cluster;
  std::uint32_t message_bytes_max = 0;
  std::uint32_t keep_ms = 0;
  std::uint32_t ping_ms = 0;

  /// True if the session can continue on another connection.
  bool resumable() const { return welcomed && keep_ms > 0; }
};

/// A session. It uses any number of connections, one after the other. Thread: one at a time.
class Session {
 public:
  enum class Phase : std::uint8_t {
    apart,     ///< there is no connection
    greeting,  ///< hello is queued, and the daemon has not answered it
    open,
    ended,  ///< the session is over: no more input or output
  };
  /// How many bytes a record from the daemon may have in addition to Terms::message_bytes_max. The
  /// additional bytes are for names and for long answers.
  static constexpr std::uint64_t kRecordExtraMax = 2 * wire::kReplyTextBytesMax;
  static constexpr std::uint64_t kMessageBytesMax = 1ULL << 30;
  /// Limit of the unread bytes that may wait in addition to receive_bytes_max. These bytes come
  /// from the buffers of ended connections; the limit is larger than the buffers of one connection.
  static constexpr std::uint64_t kRestBytesMax = 8ULL << 20;

  explicit Session(SessionOptions options);

  // ---- The connection.

  /// Call when a new connection is open, and before any byte is written to it. The phase must be
  /// `apart`.
  void connected();
  /// Sets the memory whose descriptor came with the connection's first byte; call share() before
  /// you pass this byte to received(). The memory must exist as long as the connection. Its bytes
  /// may change at any time.
  void share(ByteView memory) { inbox_.share(memory); }
  /// Handles bytes from the connection. Invalid bytes end the session. If the daemon ends only the
  /// connection, the phase becomes `apart`.
  void received(ByteView bytes);
  /// Call when the connection is gone. Ends the session if the session cannot be resumed.
  void disconnected(const std::string& why);
  /// True if there is space for more input. During the greeting this is always true: otherwise the
  /// session would be lost while the application does not read.
  bool wants_input() const {
    return phase_ == Phase::greeting || inbox_.unread_bytes() < options_.receive_bytes_max;
  }
  /// True if there is space for the remaining input of an ended connection, which is at most the
  /// size of the connection's buffers. False if too much input of earlier ended connections waits.
  bool wants_rest() const {
    const std::uint64_t unread = inbox_.unread_bytes();
    const std::uint64_t more = unread - std::min(unread, kRestBytesMax);
    return phase_ != Phase::ended && (more == 0 || more < options_.receive_bytes_max);
  }
  /// Appends to `out` at most `chunks_max` references to the bytes that are to be written next. The
  /// references are valid until written().
  void gather(std::vector<ByteView>& out, std::size_t chunks_max);
  bool has_output() const;
  /// True if there is output other than a report of seen events. A report of seen events may wait
  /// for other output.
  bool has_more_than_seen() const;
  /// Call when the first `bytes` bytes of the last gather() were written.
  void written(std::size_t bytes) { outbox_.written(bytes, requests_); }
  /// Queues a ping, unless there is other output.
  void ping();
  void end(wire::ClientCode code, std::string text);

  // ---- The application.

  /// Queues a message and returns its number. Errors: would_block, too_large, invalid_option
  /// (targets), closed.
  Result<std::uint64_t, Errc> send(std::span<const std::string_view> targets, ByteView payload,
                                   Service service, std::uint16_t type, bool self_discard);
  /// join(), leave() and ask() return the number of a request. take_answer() returns the answer to
  /// the request, once. give_up() forgets a request whose answer the application no longer waits
  /// for.
  std::uint32_t join(std::string_view group, const wire::SlowLimits& limits);
  std::uint32_t leave(std::string_view group);
  std::uint32_t ask(std::string_view what);
  std::optional<Answer> take_answer(std::uint32_t request) {
    return requests_.take_answer(request);
  }
  void give_up(std::uint32_t request) { requests_.give_up(request); }
  /// Refuses new messages from now on. After all queued messages, the session says goodbye to the
  /// daemon.
  void goodbye() { goodbye_ = Goodbye::wanted; }

  /// Takes the next item of the inbox; a message is decoded into `message`. Returns nothing if the
  /// item is an event in shared memory that is invalid or missing. An invalid event ends the
  /// session; a missing event makes the inbox torn.
  std::optional<Item> take(wire::MessageEvent& message);
  /// Takes back the body of an item that take() returned, and reuses its buffer.
  void give_back(std::vector<std::byte> body) { inbox_.give_back(std::move(body)); }

  // ---- The status.

  Phase phase() const { return phase_; }
  /// Valid once the phase is `ended`.
  const End& ending() const { return end_; }
  const Terms& terms() const { return terms_; }
  /// The items that wait for the application. Once the inbox is torn, the session ignores all
  /// further input except the daemon's reason for closing. The caller then reads the remaining
  /// input of the connection, and ends the connection.
  const Inbox& inbox() const { return inbox_; }
  /// The messages that were sent, and how many of them were acknowledged.
  const Outbox& outbox() const { return outbox_; }
  /// True if send() would not return would_block for a message of this size.
  bool has_room(std::size_t payload_bytes) const;
  bool saying_goodbye() const { return goodbye_ != Goodbye::none; }

 private:
  enum class Goodbye : std::uint8_t { none, wanted, queued };
  /// True if records may be queued. The daemon treats every record after the goodbye as a fault.
  bool may_speak() const { return phase_ == Phase::open && goodbye_ != Goodbye::queued; }

  void handle(const wire::Record& record);
  void on_welcome(ByteView body);
  bool resume_session(const wire::Welcome& welcome);
  void on_acked(ByteView body);
  void on_refused(ByteView body);
  void on_reply(ByteView body);
  void on_closing(ByteView body);
  void fault(const std::string& what);
  void check(const Inbox::Wrong& wrong) {
    if (wrong) fault(*wrong);
  }
  std::uint32_t request(wire::RecordKind kind, std::uint32_t id, std::vector<std::byte> record);

  SessionOptions options_;
  Phase phase_ = Phase::apart;
  End end_;
  Terms terms_;

  std::vector<std::byte> input_;  ///< the beginning of a record that is not yet complete
  /// Numbers of refused messages, as far as they are above acked_. The daemon may repeat the
  /// refusals.
  std::set<std::uint64_t> refused_;
  /// The number in the last `acked` record; the numbers in welcomes are not stored here.
  std::uint64_t acked_ = 0;
  Inbox inbox_;
  Outbox outbox_;
  Requests requests_;
  Goodbye goodbye_ = Goodbye::none;
};

}  // namespace peal::client
