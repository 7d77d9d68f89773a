// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "member/event_queue.h"
#include "node/node.h"
#include "order/engine.h"
#include "runtime/runtime.h"

namespace peal::member {

/// Puts a node's deliveries on the queue to the application: units with their messages, and notices
/// between them. Thread: the loop's.
class Deliveries {
 public:
  explicit Deliveries(EventQueue& queue) : queue_(queue) {}
  /// Sets the node that delivers. Call it once, before anything is delivered.
  void attach(const runtime::Runtime& runtime) { runtime_ = &runtime; }

  /// Call begin_unit() when a unit was delivered, and begin_early_unit() when a unit was announced
  /// by optimistic delivery. Then call add() for each message of the unit.
  void begin_unit(const order::Delivery& delivery);
  void begin_early_unit(const order::Delivery& early);
  void add(const node::Message& message);
  /// Puts the newest unit on the queue, if messages were added to it.
  void push_unit();
  /// Puts a notice on the queue, after everything that was delivered before.
  void push(Notice notice);
  void push_view(const order::View& view);
  void push_warning(const std::string& text);

  /// The newest regular view and its members; no members before the first view.
  const ViewId& view() const { return view_; }
  const std::vector<MemberId>& members() const { return members_; }
  /// Number of the last own message delivered.
  std::uint64_t own_delivered() const { return own_delivered_; }
  /// The number of units queued as copies because buffers were scarce.
  std::uint64_t copied_units() const { return copied_units_; }

 private:
  void begin(const order::Delivery& delivery);

  EventQueue& queue_;
  const runtime::Runtime* runtime_ = nullptr;
  DeliveredUnit unit_;
  bool unit_has_messages_ = false;
  std::uint64_t copied_units_ = 0;
  std::uint64_t own_delivered_ = 0;
  ViewId view_{};
  /// The newest view is transitional: deliveries belong to the end of `view_`.
  bool transitional_ = false;
  std::vector<MemberId> members_;
};

}  // namespace peal::member
