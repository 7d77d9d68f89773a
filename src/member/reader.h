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

/// One message as the application reads it; valid until the next call of Reader::next(), which
/// fills in all of it: clearing it before would take longer.
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
};

/// Takes units off the queue and messages out of units. Thread: one at a time.
class Reader {
 public:
  using Out = std::variant<std::monostate, MessageOut, std::unique_ptr<Notice>>;

  Reader(EventQueue& queue, trace::Names names, std::uint32_t message_bytes_max);

  /// The next message or notice, or nothing.
  Out next();
  /// As in EventQueue.
  bool take_room() { return queue_.take_room(); }
  /// Of the nodes that what was read is about.
  const trace::Names& names() const { return names_; }

 private:
  void open(const DeliveredUnit& unit);
  /// The next message of the current unit; false if there is none.
  bool next_message(MessageOut& out);
  void release_current();

  EventQueue& queue_;
  trace::Names names_;  ///< its own: the list of nodes may change in the other thread
  const std::uint32_t message_bytes_max_;
  const DeliveredUnit* current_ = nullptr;  ///< the queue's front
  node::Chunks chunks_;
  std::size_t position_ = 0;  ///< in chunks_
  std::uint32_t index_ = 0;
  std::map<MemberId, std::string> senders_;  ///< ids as text, as far as seen
  std::string_view sender_;                  ///< of the current unit
  std::string view_;                         ///< of what comes next, as the notices said
  bool transitional_ = false;
};

}  // namespace peal::member
