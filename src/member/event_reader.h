// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/bytes.h"
#include "base/ids.h"
#include "member/event_queue.h"
#include "node/unit.h"
#include "trace/names.h"

namespace peal::member {

/// One message as the application reads it; valid until the next call of EventReader::next().
/// Fields have no initial values, because next() sets all fields, and clearing them first would
/// take time.
struct MessageOut {
  MessageOut() {}
  std::string_view sender;
  bool own;
  std::uint64_t number;
  Service service;
  ByteView payload;
  std::string_view view;
  Seq seq;
  std::uint32_t index;
  bool transitional;
  bool early;
  bool as_guessed;
  DomainSet domains;
};

/// Takes units from the queue, and messages from the units. Thread: one at a time.
class EventReader {
 public:
  using Out = std::variant<std::monostate, MessageOut, std::unique_ptr<Notice>>;

  EventReader(EventQueue& queue, trace::Names names, std::uint32_t message_bytes_max);

  /// The next message or notice, or nothing.
  Out next();
  /// See EventQueue::take_room().
  bool take_room() { return queue_.take_room(); }
  /// Names of the nodes that appear in events read so far.
  const trace::Names& names() const { return names_; }

 private:
  void open(const DeliveredUnit& unit);
  /// Sets `out` to the next message of the current unit. Returns false if the unit has no further
  /// message.
  bool next_message(MessageOut& out);
  void release_current();

  EventQueue& queue_;
  trace::Names names_;  ///< a copy: the list of nodes may change in the loop's thread
  const std::uint32_t message_bytes_max_;
  /// The unit at the front of the queue, while it is being read; otherwise null.
  const DeliveredUnit* current_ = nullptr;
  node::Chunks chunks_;
  std::size_t position_ = 0;  ///< index in chunks_
  std::uint32_t index_ = 0;
  std::map<MemberId, std::string> senders_;  ///< texts of the ids that were needed so far
  std::string_view sender_;                  ///< text of the sender of the current unit
  std::string view_;                         ///< the view of the next messages, from the notices
  bool transitional_ = false;
};

}  // namespace peal::member
