// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "wire/client.h"
#include "wire/shared.h"

// The client's side of a session, without a socket, a clock or a thread: bytes of a connection come
// in, bytes for it are there to be fetched, and what the application shall read waits in order.

namespace peal::client {

/// Why a session ended. `unsettled` messages, from the number `unsettled_first` on, may have got
/// their place or not.
struct End {
  wire::ClientCode code{};
  std::string text;
  std::uint64_t unsettled_first = 0;  ///< 0 if there are none
  std::uint64_t unsettled = 0;
};

/// What waits for the application: a record as it came, whose body can be decoded, or a notice.
struct Item {
  enum class Kind : std::uint8_t { record, disconnected, reconnected, ended } kind = Kind::record;
  /// An event that the daemon does not know to have come.
  bool unseen = false;
  wire::RecordKind record{};
  std::vector<std::byte> body;
  wire::Shared place;  ///< `bytes` above 0: the record lies there, and is copied when it is taken
  std::unique_ptr<End> end;  ///< of notices; `disconnected` has a text only
  /// What it costs to keep it, about.
  std::uint64_t bytes() const { return sizeof(Item) + body.size() + place.bytes; }
  bool is_place() const { return place.bytes > 0; }
};

/// Buffers of records that nobody needs any more, for those to come: then messages of a steady
/// stream allocate nothing. As many as come and go at once in such a stream, and small ones.
class SpareBuffers {
 public:
  std::vector<std::byte> take() {
    if (spare_.empty()) return {};
    std::vector<std::byte> buffer = std::move(spare_.back());
    spare_.pop_back();
    bytes_ -= buffer.capacity();
    buffer.clear();
    return buffer;
  }
  void give(std::vector<std::byte> buffer) {
    const std::size_t bytes = buffer.capacity();
    if (bytes == 0 || bytes > kBytesMax || bytes_ + bytes > kBytesMaxAll) return;
    bytes_ += bytes;
    spare_.push_back(std::move(buffer));
  }

 private:
  static constexpr std::size_t kBytesMax = 4'096;        ///< of one
  static constexpr std::size_t kBytesMaxAll = 1U << 21;  ///< of all
  std::vector<std::vector<std::byte>> spare_;
  std::size_t bytes_ = 0;
};

struct SessionOptions {
  std::string name;
  std::string secret;
  std::uint32_t keep_ms = 0;
  std::uint64_t receive_bytes_max = 1;
  bool shares = false;  ///< events may lie in memory that the daemon shares
};

/// How one join, leave or question came out.
struct Answer {
  wire::ClientCode code{};
  std::string text;
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
  void share(ByteView memory) { memory_ = memory; }
  /// Bytes that came on it. Whatever they are: they are taken, or end the session; or the daemon
  /// gives the connection up, and the phase is `apart`.
  void received(ByteView bytes);
  /// It is gone. Ends the session if it was not to outlive a connection.
  void disconnected(const std::string& why);
  /// An event was not where it should lie. Nothing that comes is taken any more but the reason, if
  /// the daemon gives one: the connection is to be read to its end, as far as it is there, and
  /// ended.
  bool is_torn() const { return torn_; }
  /// Of events in memory that were taken since the daemon was told what was seen.
  std::uint64_t taken_bytes() const { return taken_bytes_; }
  /// There is room for what might come. Of a greeting there always is: or the session would be lost
  /// while nobody reads.
  bool wants_input() const {
    return phase_ == Phase::greeting || unread_bytes_ < options_.receive_bytes_max;
  }
  /// Nothing is wanted of what might come, but all that is left of a connection that has ended: it
  /// is no more than its buffers held. False if so much of others waits already that this one has
  /// to wait, too.
  bool wants_rest() const {
    const std::uint64_t more = unread_bytes_ - std::min(unread_bytes_, kRestBytesMax);
    return phase_ != Phase::ended && (more == 0 || more < options_.receive_bytes_max);
  }
  /// Appends references to bytes to write, at most `chunks_max`; valid until written().
  void gather(std::vector<ByteView>& out, std::size_t chunks_max);
  bool has_output() const;
  /// The same, but for what the client has seen, which may wait for something else to be said.
  bool has_more_than_seen() const;
  /// The first `bytes` of what gather() gave last were written.
  void written(std::size_t bytes);
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
  std::optional<Answer> take_answer(std::uint32_t request);
  void give_up(std::uint32_t request) { requests_.erase(request); }
  /// Nothing more is sent; after all that was, the daemon is told goodbye.
  void goodbye() { goodbye_ = Goodbye::wanted; }

  bool has_item() const { return !items_.empty(); }
  /// The next item, its body decoded into `message` if it is one. Nothing if it lay in memory and
  /// was none, which is a fault, or was gone: then is_torn().
  std::optional<Item> take(wire::MessageEvent& message);
  /// A body that take() gave is not needed any more.
  void give_back(std::vector<std::byte> body) { spare_bodies_.give(std::move(body)); }

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
  std::uint64_t sent() const { return settled_ + unsettled_.size(); }
  std::uint64_t settled() const { return settled_; }
  std::uint64_t unread_events() const { return items_.size(); }
  std::uint64_t unread_bytes() const { return unread_bytes_; }
  /// send() would take a message of so many bytes, or say that there is no use in waiting.
  bool has_room(std::size_t payload_bytes) const;
  bool saying_goodbye() const { return goodbye_ != Goodbye::none; }

 private:
  enum class Goodbye : std::uint8_t { none, wanted, queued };
  struct Message {
    std::vector<std::byte> record;
    std::size_t payload_bytes = 0;
  };
  struct Request {
    wire::RecordKind kind{};
    std::vector<std::byte> record;
    bool written = false;   ///< whole: the daemon may have it
    bool repeated = false;  ///< after an earlier connection took it whole
    std::optional<Answer> answer;
  };

  /// Nothing may follow the goodbye: the daemon would take it for a fault.
  bool may_speak() const { return phase_ == Phase::open && goodbye_ != Goodbye::queued; }

  /// Something to write that is no message.
  struct Control {
    std::vector<std::byte> record;
    std::uint32_t request = 0;  ///< its number, if it is one
  };

  std::vector<std::byte>& say() { return control_.emplace_back().record; }
  bool fits(std::size_t payload_bytes) const;
  void handle(const wire::Record& record);
  void on_welcome(ByteView body);
  void start_session(const wire::Welcome& welcome);
  bool resume_session(const wire::Welcome& welcome);
  void on_event(const wire::Record& record);
  void on_shared(ByteView body);
  void note_seen(Item& item);
  wire::SharedRead copy(Item& item, wire::MessageEvent& message, wire::Drop& damage);
  bool fetch(Item& item, wire::MessageEvent& message);
  void fetch_all();
  void drop_events(std::size_t from);
  void on_acked(ByteView body);
  void on_refused(ByteView body);
  void on_reply(ByteView body);
  void on_closing(ByteView body);
  void push_record(const wire::Record& record);
  void push(Item item);
  void fault(const std::string& what);
  void settle(std::uint64_t number);
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
  std::uint32_t unsettled_messages_max_ = 0;
  std::uint64_t unsettled_bytes_max_ = 0;
  std::uint32_t keep_ms_ = 0;
  std::uint32_t ping_ms_ = 0;

  // In.
  std::vector<std::byte> input_;  ///< the beginning of a record that is not complete
  std::deque<Item> items_;
  std::size_t places_ = 0;  ///< of these, those that lie in memory
  SpareBuffers spare_bodies_;
  std::uint64_t unread_bytes_ = 0;
  std::uint64_t events_seen_ = 0;
  bool seen_due_ = false;
  std::set<std::uint64_t> refused_;  ///< told, and above what was acked: they may come again
  std::uint64_t acked_ = 0;          ///< by `acked`, not by a welcome
  ByteView memory_;                  ///< in which events may lie
  std::uint64_t told_bytes_ = 0;     ///< of events there that `seen` was not said of
  std::uint64_t taken_bytes_ = 0;    ///< of these, those that were copied
  bool torn_ = false;

  // Out. Messages settled_ + 1, settled_ + 2, …
  std::deque<Message> unsettled_;
  SpareBuffers spare_records_;
  std::uint64_t settled_ = 0;
  std::uint64_t unsettled_bytes_ = 0;  ///< payloads
  std::size_t out_ = 0;                ///< of unsettled_, that the connection has taken whole
  std::size_t partial_ = 0;            ///< bytes of the next chunk that it has taken
  bool partial_is_message_ = false;    ///< else it is of control_
  std::deque<Control> control_;
  std::vector<bool> gathered_;  ///< chunk by chunk: is it a message?
  std::vector<std::size_t> gathered_bytes_;
  std::map<std::uint32_t, Request> requests_;
  std::uint32_t last_request_ = 0;
  Goodbye goodbye_ = Goodbye::none;
};

}  // namespace peal::client
