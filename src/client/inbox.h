// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "client/spare_buffers.h"
#include "wire/client.h"
#include "wire/shared.h"

namespace peal::client {

/// Why a session ended. The last `unsettled` messages, from number `unsettled_first` on, are not
/// acknowledged. Each of them may or may not have been ordered.
struct End {
  wire::ClientCode code{};
  std::string text;
  std::uint64_t unsettled_first = 0;  ///< 0 if all messages are acknowledged
  std::uint64_t unsettled = 0;
};

/// An item that waits for the application: a received record with a valid body, or a notice.
struct Item {
  enum class Kind : std::uint8_t { record, disconnected, reconnected, ended } kind = Kind::record;
  /// True for an event that events_seen() does not count yet.
  bool unseen = false;
  wire::RecordKind record{};
  std::vector<std::byte> body;
  wire::Shared place;        ///< if `place.bytes` > 0: the place of the record in shared memory
  std::unique_ptr<End> end;  ///< for the kinds `disconnected` (only the text) and `ended`
  /// Approximate size of the memory that the item takes.
  std::uint64_t bytes() const { return sizeof(Item) + body.size() + place.bytes; }
  bool is_place() const { return place.bytes > 0; }
};

/// The items that wait to be read, in order. Also counts the events that must be reported to the
/// daemon as seen. Events may be in memory that the daemon shares. Such events are copied when they
/// are taken or when the connection ends. `Wrong` says what is wrong with the daemon's input;
/// empty: nothing.
class Inbox {
 public:
  using Wrong = std::optional<std::string>;

  void push_record(const wire::Record& record);
  Wrong push_event(const wire::Record& record);
  /// `body` contains the place of an event in the memory that the daemon shares.
  Wrong push_shared(ByteView body);
  void push_notice(Item::Kind kind, std::unique_ptr<End> end);

  bool has_item() const { return !items_.empty(); }
  std::uint64_t size() const { return items_.size(); }
  std::uint64_t unread_bytes() const { return unread_bytes_; }
  /// Takes the first item; there must be one. A message is decoded into `message`. Returns nothing
  /// if the item's record should be in shared memory but is missing or not valid. If the record is
  /// not valid, `wrong` says why. If the record is missing, `wrong` stays empty and, if the
  /// connection is open (`open`), is_torn() becomes true. In both cases all unseen events are
  /// discarded.
  std::optional<Item> take(wire::MessageEvent& message, bool open, Wrong& wrong);
  /// Takes back the body of an item that take() returned, and reuses its buffer.
  void give_back(std::vector<std::byte> body) { spare_.give(std::move(body)); }

  /// Sets the memory that the daemon shares for this connection. Its bytes may change at any time.
  void share(ByteView memory) { memory_ = memory; }
  std::size_t shared_bytes() const { return memory_.size(); }
  /// Copies all events out of shared memory, because this memory ends with the connection. If an
  /// event is missing or not valid, discards this event and all later ones: the daemon sends them
  /// again if the session is resumed.
  void fetch_all();
  /// Call when the connection is gone, and the shared memory with it. Call fetch_all() before.
  void disconnected();
  /// True if an event was missing in shared memory: see Session::inbox().
  bool is_torn() const { return torn_; }

  std::uint64_t events_seen() const { return events_seen_; }
  /// True if there are seen events that were not yet reported to the daemon.
  bool seen_due() const { return seen_due_; }
  /// Returns the number of the last event seen, which the caller must report now. Requires
  /// seen_due().
  std::uint64_t tell_seen();
  /// Bytes of events taken from shared memory since the last report.
  std::uint64_t taken_bytes() const { return taken_bytes_; }

 private:
  void push(Item item);
  void note_seen(Item& item);
  wire::SharedRead copy(Item& item, wire::MessageEvent& message, wire::Drop& damage);
  bool fetch(Item& item, wire::MessageEvent& message, bool open, Wrong& wrong);
  void drop_events(std::size_t from);

  std::deque<Item> items_;
  std::size_t places_ = 0;  ///< number of items in items_ that are in shared memory
  SpareBuffers spare_;
  std::uint64_t unread_bytes_ = 0;
  std::uint64_t events_seen_ = 0;
  bool seen_due_ = false;
  ByteView memory_;  ///< memory shared by the daemon, in which events may be
  /// Bytes of announced events in memory_ that are not yet reported as seen.
  std::uint64_t told_bytes_ = 0;
  std::uint64_t taken_bytes_ = 0;  ///< how many of told_bytes_ were copied out of memory_
  bool torn_ = false;
};

}  // namespace peal::client
