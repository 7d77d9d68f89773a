// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "base/bytes.h"
#include "base/time.h"
#include "daemon/order_digest.h"
#include "daemon/owner.h"

namespace peal::daemon {

/// One regular view that this node installed.
struct ViewHistory {
  ViewNotice view;
  OrderDigest digest;          ///< digest of clients' messages up to the next regular view
  std::uint64_t unplaced = 0;  ///< messages without a position; they are not in the digest
  Instant installed{};
  Duration gap{};  ///< from the transitional view before this view to this view; 0: no such view
};

/// The views and messages that one node has delivered, for the node's status.
class DeliveryHistory {
 public:
  static constexpr std::size_t kViewsMax = 64;  ///< kept views; older ones are dropped

  /// Call when a client's message was delivered; `sender` and `number` identify the message. `seq`
  /// is 0 if the message has no position. `bytes` is the message's length as ordered, including the
  /// names of its groups. The digest omits the
  /// content, because the digest serves to compare the order of messages, and because hashing the
  /// content would cost more than everything else.
  void on_message(std::string_view sender, std::uint64_t number, Seq seq, std::size_t bytes);
  void on_view(Instant now, const ViewNotice& view);

  /// True while the node is in the transitional view after its newest regular view.
  bool transitional() const { return transitional_; }
  const std::deque<ViewHistory>& views() const { return views_; }
  std::uint64_t messages() const { return messages_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::deque<ViewHistory> views_;  ///< oldest first
  bool transitional_ = false;
  Instant left_{};  ///< when the transitional view was installed
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace peal::daemon
