// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/inner_names.h"
#include "client/session.h"

// Last: see client/inner_names.h.
#include "peal/events.h"

namespace peal::client {

/// Turns what came into what the application sees. Thread: one at a time.
class Reader {
 public:
  /// `item`, and the message that stands in its body if it is one: message() of before. What the
  /// event points to is valid until the next call.
  v0::ClientEvent event(Item item);
  /// Where the next message is decoded.
  wire::MessageEvent& message() { return message_; }
  /// Ends what the last event points to, and gives its memory away.
  std::vector<std::byte> release() { return std::move(item_.body); }

 private:
  v0::ClientEvent record();

  Item item_;
  wire::MessageEvent message_;
};

}  // namespace peal::client
