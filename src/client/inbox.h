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

/// Why a session ended. `unsettled` messages, from number `unsettled_first` on, are not
/// acknowledged: each may or may not have been ordered.
struct End {
  wire::ClientCode code{};
  std::string text;
  std::uint64_t unsettled_first = 0;  ///< 0 if there are none
  std::uint64_t unsettled = 0;
};

/// What waits for the application: a record as received, with a valid body, or a notice.
struct Item {
  enum class Kind : std::uint8_t { record, disconnected, reconnected, ended } kind = Kind::record;
  /// True for an event that events_seen() does not count yet.
  bool unseen = false;
  wire::RecordKind record{};
  std::vector<std::byte> body;
  wire::Shared place;        ///< if `place.bytes` > 0: the record is still in shared memory
  std::unique_ptr<End> end;  ///< of `disconnected` (only the text) and of `ended`
  /// About how much memory the item takes.
  std::uint64_t bytes() const { return sizeof(Item) + body.size() + place.bytes; }
  bool is_place() const { return place.bytes > 0; }
};

/// The items that wait to be read, in order; and which events must be reported to the daemon as
/// seen. Events may be in memory that the daemon shares: they are copied when they are taken or
/// when the connection ends. `Wrong` says what is wrong with the daemon's input, or is empty.
class Inbox {
 public:
  using Wrong = std::optional<std::string>;

  void push_record(const wire::Record& record);
  Wrong push_event(const wire::Record& record);
  /// `body` gives an event's place in the memory that the daemon shares.
  Wrong push_shared(ByteView body);
  void push_notice(Item::Kind kind, std::unique_ptr<End> end);

  bool has_item() const { return !items_.empty(); }
  std::uint64_t size() const { return items_.size(); }
  std::uint64_t unread_bytes() const { return unread_bytes_; }
  /// Takes the first item; there must be one. A message is decoded into `message`. Returns nothing
  /// if the item's record should be in shared memory but is missing or not valid. If it is not
  /// valid, `wrong` says why; if it is missing, `wrong` stays empty. In both cases all unseen
  /// events are discarded. `open`: true if the connection is open; a missing record then sets
  /// is_torn().
  std::optional<Item> take(wire::MessageEvent& message, bool open, Wrong& wrong);
  /// Takes back a body that take() returned, and reuses its buffer.
  void give_back(std::vector<std::byte> body) { spare_.give(std::move(body)); }

  /// Sets the memory that the daemon shares for this connection; its bytes may change at any time.
  void share(ByteView memory) { memory_ = memory; }
  std::size_t shared_bytes() const { return memory_.size(); }
  /// Copies all events out of shared memory, which ends with the connection. Discards the first
  /// event that is missing or not valid, and all events after it: the daemon sends them again if
  /// the session is resumed.
  void fetch_all();
  /// Call when the connection, and with it the shared memory, is gone; call fetch_all() before.
  void disconnected();
  /// True if an event was missing from shared memory: see Session::inbox().
  bool is_torn() const { return torn_; }

  std::uint64_t events_seen() const { return events_seen_; }
  /// True if some events were seen and not yet reported to the daemon.
  bool seen_due() const { return seen_due_; }
  /// Returns the number of the last event seen, which the caller now reports. Requires seen_due().
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
  std::size_t places_ = 0;  ///< how many of items_ are in shared memory
  SpareBuffers spare_;
  std::uint64_t unread_bytes_ = 0;
  std::uint64_t events_seen_ = 0;
  bool seen_due_ = false;
  ByteView memory_;                ///< shared with the daemon; events may be there
  std::uint64_t told_bytes_ = 0;   ///< bytes of announced events in memory_ that are not reported
                                   ///< as seen
  std::uint64_t taken_bytes_ = 0;  ///< how many of told_bytes_ were copied
  bool torn_ = false;
};

}  // namespace peal::client
