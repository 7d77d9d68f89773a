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

// The client's side of a session, without a socket, a clock or a thread: bytes of a connection come
// in, bytes for it are there to be fetched, and what the application shall read waits in order.

namespace peal::client {

struct SessionOptions {
  std::string name;
  std::string secret;
  std::uint32_t keep_ms = 0;
  std::uint64_t receive_bytes_max = 1;
  bool shares = false;  ///< events may lie in memory that the daemon shares
};

/// A session, over any number of connections one after the other. Thread: one at a time.
class Session {
 public:
  enum class Phase : std::uint8_t {
    apart,     ///< there is no connection
    greeting,  ///< hello was said, the answer is not there yet
    open,
    ended,  ///< nothing more will happen
  };
  /// A record that a daemon sends may have so many bytes more than the largest message: names, and
  /// long answers.
  static constexpr std::uint64_t kRecordExtraMax = 2 * wire::kReplyTextBytesMax;
  static constexpr std::uint64_t kMessageBytesMax = 1ULL << 30;
  /// Of connections that ended, beyond what may wait to be read: more than a socket's buffers hold.
  static constexpr std::uint64_t kRestBytesMax = 8ULL << 20;

  explicit Session(SessionOptions options);

  // ---- The connection.

  /// A connection is there, and nothing was said on it. The phase is `apart`.
  void connected();
  /// Memory whose descriptor came with the first byte of the connection; before received() has that
  /// byte. Its bytes stay as long as the connection, and may change at any time.
  void share(ByteView memory) { inbox_.share(memory); }
  /// Bytes that came on it. Whatever they are: they are taken, or end the session; or the daemon
  /// gives the connection up, and the phase is `apart`.
  void received(ByteView bytes);
  /// It is gone. Ends the session if it was not to outlive a connection.
  void disconnected(const std::string& why);
  /// An event was not where it should lie. Nothing that comes is taken any more but the reason, if
  /// the daemon gives one: the connection is to be read to its end, as far as it is there, and
  /// ended.
  bool is_torn() const { return inbox_.is_torn(); }
  /// Of events in memory that were taken since the daemon was told what was seen.
  std::uint64_t taken_bytes() const { return inbox_.taken_bytes(); }
  /// There is room for what might come. Of a greeting there always is: or the session would be lost
  /// while nobody reads.
  bool wants_input() const {
    return phase_ == Phase::greeting || unread_bytes() < options_.receive_bytes_max;
  }
  /// Nothing is wanted of what might come, but all that is left of a connection that has ended: it
  /// is no more than its buffers held. False if so much of others waits already that this one has
  /// to wait, too.
  bool wants_rest() const {
    const std::uint64_t more = unread_bytes() - std::min(unread_bytes(), kRestBytesMax);
    return phase_ != Phase::ended && (more == 0 || more < options_.receive_bytes_max);
  }
  /// Appends references to bytes to write, at most `chunks_max`; valid until written().
  void gather(std::vector<ByteView>& out, std::size_t chunks_max);
  bool has_output() const;
  /// The same, but for what the client has seen, which may wait for something else to be said.
  bool has_more_than_seen() const;
  /// The first `bytes` of what gather() gave last were written.
  void written(std::size_t bytes) { outbox_.written(bytes, requests_); }
  /// Says something, if nothing else is to be said.
  void ping();
  void end(wire::ClientCode code, std::string text);

  // ---- The application.

  /// Takes a message. Errors: would_block, too_large, invalid_option (targets), closed.
  Result<std::uint64_t> send(std::span<const std::string_view> targets, ByteView payload,
                             Service service, std::uint16_t type, bool self_discard);
  /// Each returns the number of the request; take_answer() says how it came out, once. A request
  /// that nobody waits for any more is given up.
  std::uint32_t join(std::string_view group, const wire::SlowLimits& limits);
  std::uint32_t leave(std::string_view group);
  std::uint32_t ask(std::string_view what);
  std::optional<Answer> take_answer(std::uint32_t request) {
    return requests_.take_answer(request);
  }
  void give_up(std::uint32_t request) { requests_.give_up(request); }
  /// Nothing more is sent; after all that was, the daemon is told goodbye.
  void goodbye() { goodbye_ = Goodbye::wanted; }

  bool has_item() const { return inbox_.has_item(); }
  /// The next item, its body decoded into `message` if it is one. Nothing if it lay in memory and
  /// was none, which is a fault, or was gone: then is_torn().
  std::optional<Item> take(wire::MessageEvent& message);
  /// A body that take() gave is not needed any more.
  void give_back(std::vector<std::byte> body) { inbox_.give_back(std::move(body)); }

  // ---- How it is.

  Phase phase() const { return phase_; }
  /// Set once the phase is `ended`.
  const End& ending() const { return end_; }
  bool was_welcome() const { return welcomed_; }
  bool resumable() const { return welcomed_ && keep_ms_ > 0; }
  std::uint32_t keep_ms() const { return keep_ms_; }
  std::uint32_t ping_ms() const { return ping_ms_; }
  std::uint32_t message_bytes_max() const { return message_bytes_max_; }
  const std::string& name() const { return name_; }
  const std::string& node() const { return node_; }
  const std::string& cluster() const { return cluster_; }
  std::uint64_t sent() const { return outbox_.sent(); }
  std::uint64_t settled() const { return outbox_.settled(); }
  std::uint64_t unread_events() const { return inbox_.size(); }
  std::uint64_t unread_bytes() const { return inbox_.unread_bytes(); }
  /// send() would take a message of so many bytes, or say that there is no use in waiting.
  bool has_room(std::size_t payload_bytes) const;
  bool saying_goodbye() const { return goodbye_ != Goodbye::none; }

 private:
  enum class Goodbye : std::uint8_t { none, wanted, queued };
  /// Nothing may follow the goodbye: the daemon would take it for a fault.
  bool may_speak() const { return phase_ == Phase::open && goodbye_ != Goodbye::queued; }

  void handle(const wire::Record& record);
  void on_welcome(ByteView body);
  void start_session(const wire::Welcome& welcome);
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
  std::uint64_t length_max() const;

  SessionOptions options_;
  Phase phase_ = Phase::apart;
  bool welcomed_ = false;
  End end_;

  // As the daemon said.
  wire::SessionToken token_{};
  std::string name_;
  std::string node_;
  std::string cluster_;
  std::uint32_t message_bytes_max_ = 0;
  std::uint32_t keep_ms_ = 0;
  std::uint32_t ping_ms_ = 0;

  std::vector<std::byte> input_;     ///< the beginning of a record that is not complete
  std::set<std::uint64_t> refused_;  ///< told, and above what was acked: they may come again
  std::uint64_t acked_ = 0;          ///< by `acked`, not by a welcome
  Inbox inbox_;
  Outbox outbox_;
  Requests requests_;
  Goodbye goodbye_ = Goodbye::none;
};

}  // namespace peal::client
