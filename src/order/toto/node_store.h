// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "order/toto/total_order.h"
#include "wire/toto.h"

namespace peal::order::toto {

/// The packets of one view's nodes: for each origin those in a window that moves forward. Allocates
/// only in begin().
class NodeStore {
 public:
  /// A view with `members` members begins. Numbers begin after `first`. `capacity`: nodes of one
  /// origin that are stored at a time; a power of two.
  void begin(std::size_t members, std::uint32_t capacity, Seq first);

  std::uint32_t capacity() const { return capacity_; }
  bool in_window(NodeRef node) const {
    return node.seq > discarded_[node.origin] && node.seq - discarded_[node.origin] <= capacity_;
  }
  bool holds(NodeRef node) const { return in_window(node) && slot(node).packet; }
  /// The packet of a held node, with its header.
  const BufferRef& packet(NodeRef node) const { return slot(node).packet; }
  wire::NodeKind kind(NodeRef node) const { return slot(node).kind; }
  /// The unit of a held node; empty if it is a control node.
  BufferRef unit(NodeRef node) const;

  /// Stores a node that is in the window.
  void put(const wire::Node& node, const BufferRef& packet);
  void erase(NodeRef node) { slot(node) = {}; }
  /// The window of `origin` moves on: its nodes up to `last` are not needed any more.
  void discard(Index origin, Seq last);
  /// The nodes of `origin` up to this number are discarded.
  Seq discarded(Index origin) const { return discarded_[origin]; }

 private:
  struct Slot {
    BufferRef packet;
    wire::NodeKind kind = wire::NodeKind::control;
    std::uint16_t header_bytes = 0;
  };

  std::size_t place_of(NodeRef node) const {
    return std::size_t{node.origin} * capacity_ + (node.seq & (capacity_ - 1));
  }
  Slot& slot(NodeRef node) { return slots_[place_of(node)]; }
  const Slot& slot(NodeRef node) const { return slots_[place_of(node)]; }

  std::uint32_t capacity_ = 1;
  std::vector<Slot> slots_;
  std::vector<Seq> discarded_;  // by origin
};

}  // namespace peal::order::toto
