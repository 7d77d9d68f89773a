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

/// What came and waits to be read, in order; and which events the daemon has to be told were seen.
/// Events may lie in memory that the daemon shares: they are copied once they are taken, or when
/// the connection ends. Where something is wrong with what the daemon gave, the answer says what.
class Inbox {
 public:
  using Wrong = std::optional<std::string>;

  void push_record(const wire::Record& record);
  Wrong push_event(const wire::Record& record);
  /// The place of an event in the memory that the daemon shares.
  Wrong push_shared(ByteView body);
  void push_notice(Item::Kind kind, std::unique_ptr<End> end);

  bool has_item() const { return !items_.empty(); }
  std::uint64_t size() const { return items_.size(); }
  std::uint64_t unread_bytes() const { return unread_bytes_; }
  /// There is an item. Its body is decoded into `message` if it is one. Nothing if it lay in memory
  /// and was gone, or was none, which `wrong` says: no event behind it is told either. `open`: the
  /// connection is; what is gone then tears it.
  std::optional<Item> take(wire::MessageEvent& message, bool open, Wrong& wrong);
  /// A body that take() gave is not needed any more.
  void give_back(std::vector<std::byte> body) { spare_.give(std::move(body)); }

  /// Memory that came with a connection; its bytes may change at any time.
  void share(ByteView memory) { memory_ = memory; }
  std::size_t shared_bytes() const { return memory_.size(); }
  /// The memory goes with the connection: copies what lies there. What is not there any more comes
  /// again if the session is resumed.
  void fetch_all();
  /// The connection is gone, and nothing lies in its memory.
  void disconnected();
  /// An event was not where it should lie: see Session::is_torn().
  bool is_torn() const { return torn_; }

  std::uint64_t events_seen() const { return events_seen_; }
  /// The daemon is to be told of events that were seen.
  bool seen_due() const { return seen_due_; }
  /// It is told now: the number of the last one. Call it if seen_due().
  std::uint64_t tell_seen();
  /// Of events in memory that were taken since the daemon was told what was seen.
  std::uint64_t taken_bytes() const { return taken_bytes_; }

 private:
  void push(Item item);
  void note_seen(Item& item);
  wire::SharedRead copy(Item& item, wire::MessageEvent& message, wire::Drop& damage);
  bool fetch(Item& item, wire::MessageEvent& message, bool open, Wrong& wrong);
  void drop_events(std::size_t from);

  std::deque<Item> items_;
  std::size_t places_ = 0;  ///< of these, those that lie in memory
  SpareBuffers spare_;
  std::uint64_t unread_bytes_ = 0;
  std::uint64_t events_seen_ = 0;
  bool seen_due_ = false;
  ByteView memory_;                ///< in which events may lie
  std::uint64_t told_bytes_ = 0;   ///< of events there that `seen` was not said of
  std::uint64_t taken_bytes_ = 0;  ///< of these, those that were copied
  bool torn_ = false;
};

}  // namespace peal::client
