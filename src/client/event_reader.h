// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/session.h"
#include "peal/events.h"

namespace peal::client {

/// Converts items into the application's events. Thread: one at a time.
class EventReader {
 public:
  /// Converts `item`. If `item` is a message, message() must hold the decoded message already. The
  /// data that the event points to are valid until the next call of event() or release().
  v0::ClientEvent event(Item item);
  /// The object into which the caller must decode the next message.
  wire::MessageEvent& message() { return message_; }
  /// Invalidates the last event, and returns its buffer for reuse.
  std::vector<std::byte> release() { return std::move(item_.body); }

 private:
  v0::ClientEvent record();

  Item item_;
  wire::MessageEvent message_;
};

}  // namespace peal::client
